"""``python -m shirube`` is the command ``shirube``."""

import sys

from shirube.cli import main

if __name__ == "__main__":
    sys.exit(main())
