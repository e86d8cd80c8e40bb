"""Faces: the ways in which clients and people reach the tools."""
