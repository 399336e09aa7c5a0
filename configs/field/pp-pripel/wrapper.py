"""pp-pripel 0.0.5: its query for the variants of a log; a data set is a list of traces, whose letters are the events."""

import types
from collections import Counter

from stand_ins import load_submodules_only, stand_in_for

stand_in_for("pm4py", "dateutil")
load_submodules_only("pp_pripel")
from pp_pripel import trace_variant_query as query  # noqa: E402


class Trace(list):
    """As pm4py's."""

    def __init__(self, events=()):
        super().__init__(events)
        self.attributes = {}


query.event_log = types.SimpleNamespace(EventLog=list, Trace=Trace, Event=dict)
query.tzutc = lambda: None


def variants(data, epsilon, longest, least):
    log = [Trace({"concept:name": event} for event in trace) for trace in data]
    private = query.privatize_tracevariants(log, epsilon, least, longest)
    return dict(Counter("".join(event["concept:name"] for event in trace) for trace in private))
