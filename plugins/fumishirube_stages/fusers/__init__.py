"""Fusers: split a query into runs; fold their rankings into one."""
