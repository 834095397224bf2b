"""Standings and crosstables: who stands where in a tournament, and why."""
