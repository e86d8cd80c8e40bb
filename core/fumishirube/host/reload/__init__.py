"""Taking in what changes while tools are served, without ending a session."""
