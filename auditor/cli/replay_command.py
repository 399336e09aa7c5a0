"""`auditor replay`: audit recorded outputs again."""

import argparse
import contextlib

from auditor.cli.common import make_folder
from auditor.cli.replay_check import check_report
from auditor.cli.report_runs import RUNS, audit_and_report
from auditor.config.recordings import find_recordings
from auditor.errors import InvalidInputError


def replay(options: argparse.Namespace) -> int:
    """Run recorded configurations again."""
    if options.check is not None:
        return check_report(options.check, options.recording, runs_code=options.run_code)
    replays = find_recordings(options.recording, runs_code=options.run_code)
    with contextlib.ExitStack() as opened:
        for replay in replays:
            opened.enter_context(contextlib.closing(replay))
        for replay in replays:
            folder = options.out / replay.name
            if (folder / RUNS).exists():
                raise InvalidInputError(
                    f"{folder} holds the reports of runs, and a replay is no run; name another folder by --out"
                )
            make_folder(folder)
        return audit_and_report(replays, options, [], {})[0]
