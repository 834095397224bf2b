"""When seasons start."""

from datetime import datetime, timedelta


def next_start(start: datetime, interval: timedelta, after: datetime) -> datetime:
    """Return the first of the times ``start``, ``start + interval``, … that lies after ``after``."""
    return start + max(0, (after - start) // interval + 1) * interval
