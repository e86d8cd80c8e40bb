"""The engine: indexes that follow their files, and searches that run through the stages."""
