"""The commands about searches."""
