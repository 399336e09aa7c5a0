"""``python -m auditor``, and the command `auditor`."""

import os
import signal
from types import FrameType


def main() -> None:
    """Run the command line. An interrupt before and after the command ends the program in one line, too."""
    leave = os._exit  # the command line replaces it

    def end(number: int, frame: FrameType | None) -> None:
        os.write(2, b"auditor: interrupted\n")
        leave(128 + number)

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end)
    from auditor.cli import command  # it takes a while

    command()


if __name__ == "__main__":
    main()
