"""How an audit is carried out, for every kind of audit: settings that were checked. They are declared in ``auditor.defaults``."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, get_args

from auditor.auditing.sizes import largest_bound
from auditor.blackbox.sampling import Execution
from auditor.defaults import FEWEST, MOST, PLANTED, SAMPLES, EventKind, MethodName, ObserveKind, Prove, SettingsKeywords
from auditor.errors import InvalidInputError, did_you_mean
from auditor.events.selection import VALUES


@dataclass(frozen=True, slots=True)
class Settings:
    """How an audit is carried out.

    ``samples`` counts the outputs of the last round's bound, both sides together; ``outputs`` those of all parts of all rounds, if
    they are planned together. ``search`` counts those of all searches; by default they are a share of the bounds'. ``seconds``
    ends the audit early. ``sharpen`` goes on to the last round if the claim is refuted before. ``events`` are what events may look
    at. ``shrink`` looks for the smallest pair that still breaks the claim, after a violation. ``prove`` tries a proof as well, or
    "only" a proof; "briefly" is for a few seconds, and what is not proved then is not reported. ``planted`` faults are looked for
    after a pass.
    ``observe`` is what outputs hold in addition to the value. ``seed`` is the root of all randomness.
    """

    samples: int = SAMPLES
    method: MethodName = "fixed"
    search: int | None = None
    seconds: float | None = None
    events: tuple[EventKind, ...] = (VALUES,)
    shrink: bool = True
    prove: Prove = False
    seed: int = 0
    execution: Execution = field(default_factory=Execution)
    outputs: int | None = None
    planted: int = PLANTED
    observe: tuple[ObserveKind, ...] = ()
    sharpen: bool = False

    def __post_init__(self) -> None:
        if self.method not in get_args(MethodName):
            raise InvalidInputError(f'method is "{self.method}"; {did_you_mean(self.method, get_args(MethodName))}')
        if self.prove not in (True, False, "only", "briefly"):
            raise InvalidInputError(f'prove is {self.prove!r}; it must be true, false, "only" or "briefly"')
        if not self.events or not {*self.events} <= {*get_args(EventKind)}:
            raise InvalidInputError(f"events are {list(self.events)}; they must be values, bits, or both")
        for kind in self.observe:
            if kind not in get_args(ObserveKind):
                raise InvalidInputError(f'observe has "{kind}"; {did_you_mean(str(kind), get_args(ObserveKind))}')
        _require_integer("samples", self.samples, FEWEST, MOST)
        if self.outputs is not None:
            _require_integer("outputs", self.outputs, FEWEST, MOST)
        if self.search is not None:
            _require_integer("search", self.search, 0, MOST)
        _require_integer("seed", self.seed, 0)
        _require_integer("planted", self.planted, 0)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Settings":
        """Return the settings given by keywords, including the settings of the execution.

        Raises InvalidInputError for unknown keywords and for values out of range.
        """
        for name in given:
            if name not in SettingsKeywords.__annotations__:
                raise InvalidInputError(
                    f'there is no setting "{name}"; {did_you_mean(name, SettingsKeywords.__annotations__)}'
                )
        of_execution = {setting.name for setting in fields(Execution)} & set(given)
        chosen = {name: value for name, value in given.items() if name not in of_execution}
        for name in {"events", "observe"} & chosen.keys():
            chosen[name] = tuple(chosen[name])
        if "samples" in chosen and chosen.get("outputs") is not None:
            raise InvalidInputError(
                "samples and outputs are both given; give one. `samples` counts the outputs of the last bound. `outputs` counts "
                "those of all rounds, their searches and selections as well"
            )
        settings = cls(**chosen, execution=Execution(**{name: given[name] for name in of_execution}))
        if settings.outputs is None:
            return settings
        samples = largest_bound(settings.outputs, settings.search)
        if samples < FEWEST:
            raise InvalidInputError(
                f"outputs is {settings.outputs}; earlier rounds, search and selection leave {samples} of them for the bound, which "
                f"needs at least {FEWEST}"
            )
        return replace(settings, samples=samples)


def _require_integer(name: str, value: object, least: int, most: int | None = None) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidInputError(f"{name} is {value!r}; it must be an integer of at least {least}")
    if most is not None and value > most:
        raise InvalidInputError(f"{name} is {value:,}; at most {most:,} outputs can be counted")
