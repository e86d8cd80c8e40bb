"""The host: one application, what it offers, and how calls run in it."""
