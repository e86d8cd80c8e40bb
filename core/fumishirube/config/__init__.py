"""The settings room: what the file, the environment and other programs say, in typed form."""
