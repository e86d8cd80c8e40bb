"""A plugin that exits like a program."""

import sys

sys.exit("usage: broken-exit FILE")
