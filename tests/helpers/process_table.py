"""The processes of this machine that are alive, on any system."""

from collections.abc import Iterator

import psutil


def processes() -> Iterator[tuple[int, int, str]]:
    """Yield number, parent and command line of each process that is alive and that this user may look at."""
    for process in psutil.process_iter(["pid", "ppid", "status", "cmdline"]):
        listed = process.info
        if listed["status"] != psutil.STATUS_ZOMBIE and listed["cmdline"]:
            yield listed["pid"], listed["ppid"], " ".join(listed["cmdline"])
