"""Verifying a tournament from its export alone, on any machine: no database, no broker, no network."""

from arena.trust.verify.botlogs import compare, read_log, sessions_in
from arena.trust.verify.checking import check_export
from arena.trust.verify.report import Report, check_links, unproven

__all__ = ["Report", "check_export", "check_links", "compare", "read_log", "sessions_in", "unproven"]
