"""Matches: seated, played by a referee under a lease, stored, shown."""
