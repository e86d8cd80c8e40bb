"""A plugin whose dependency is not installed."""

raise ImportError("the quarry is closed")
