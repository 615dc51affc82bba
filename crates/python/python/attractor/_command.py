"""The `attractor` command, from the wheel."""

import signal
import sys

from . import _native


def main() -> int:
    """Runs the command with the arguments of the process."""
    # Signals are the command's own business.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(["attractor", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
