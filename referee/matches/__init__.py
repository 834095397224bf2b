"""Matches at their tables: seats, clocks, faults, connections, spectators. No I/O here either."""
