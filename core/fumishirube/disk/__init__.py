"""The disk room: every path, file, lock and watch goes through here."""
