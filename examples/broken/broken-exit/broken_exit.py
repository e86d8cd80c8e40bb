"""A plugin that takes itself for a program."""

import sys

sys.exit("usage: broken-exit FILE")
