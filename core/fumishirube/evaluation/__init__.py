"""Measuring: cases with known answers, what a configuration makes of them, and what that proves."""
