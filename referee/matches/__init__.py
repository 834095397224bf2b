"""Matches at their tables: seats, clocks, faults, connections, spectators. Still without I/O."""
