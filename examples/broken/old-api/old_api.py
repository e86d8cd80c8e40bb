"""A plugin for another version of the API: it must never be imported."""

raise AssertionError("old-api was imported")
