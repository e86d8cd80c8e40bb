"""The traces of past searches: kept, written as files, compared, and asked why."""
