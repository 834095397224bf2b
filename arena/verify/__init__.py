"""Verifying a tournament from its export alone, on any machine: no database, no broker, no network."""

from arena.verify.checking import Report, check_export, check_links

__all__ = ["Report", "check_export", "check_links"]
