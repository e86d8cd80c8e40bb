"""``python -m fumishirube`` runs the command ``fumishirube``."""

import sys

from fumishirube.faces.cli import main

if __name__ == "__main__":
    sys.exit(main())
