"""Settings from YAML files, environment variables and other programs, as typed models."""
