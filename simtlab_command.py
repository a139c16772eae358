"""The command `simtlab`.

It stands outside `sim`, which takes half a second to import: an interrupt meanwhile ends the process without a traceback.
"""

import os
import signal
from types import FrameType

INTERRUPTED = 130


def main() -> None:
    """Run the command line."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else whoever started this wants interrupts ignored
        signal.signal(signal.SIGINT, _end)
    from sim import cli

    cli.main()


def _end(number: int, frame: FrameType | None) -> None:
    """End the process: nothing has begun that must be undone, and an exception within an import may come out as another one."""
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
