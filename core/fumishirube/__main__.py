"""The command ``fumishirube``, also as ``python -m fumishirube``."""

import gc
import sys


def main() -> int:
    """Run one command, and end the process with its exit code."""
    # A short process needs no garbage collection, least of all while it imports its modules.
    gc.disable()
    from fumishirube.faces.cli import main as command  # noqa: PLC0415 - see above

    return command()


if __name__ == "__main__":
    sys.exit(main())
