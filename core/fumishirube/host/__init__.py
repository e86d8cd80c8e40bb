"""The host: an application, its catalog, and the calls that run in it."""
