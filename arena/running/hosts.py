"""Checks of what differs between hosts: their clocks, and the versions of the processes that run there."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from sqlmodel import col, func, select

from arena.host.settings import Settings
from arena.play.matches.leases import LONGEST_WAIT
from arena.running.findings import Finding, fail, ok, warn
from arena.store.models import BotLogEntry, Match, Process
from arena.store.schema import fingerprint
from arena.store.storage import Storage
from arena.store.watch import GONE, own_version

CLOCK_SECONDS = 2.0
"""Maximum difference of two clocks; leases and schedules depend on the clocks of several hosts."""

LATEST = 200
"""How many of the latest entries of the bots' log are checked for clocks."""


def check_clocks(storage: Storage, settings: Settings, clock: Callable[[], datetime]) -> list[Finding]:
    """Compare the database's clock with those of hosts: this one, those of processes, workers, referees."""
    latest = select(BotLogEntry.referee, BotLogEntry.at).order_by(col(BotLogEntry.id).desc()).limit(LATEST)
    storage.measure_clock()
    now = storage.now()
    ahead = {"this host's": (clock() - now).total_seconds()}
    with storage.read() as tx:
        leases, waits, handed_out = tx.exec(
            select(func.max(Match.lease_until), func.max(Match.not_before), func.max(Match.handed_out_at))
        ).one()
        logged = tx.exec(latest).all()
        processes = tx.exec(select(Process).where(col(Process.seen_at) > now - GONE)).all()
    longest = {
        "a worker's": (leases, timedelta(seconds=settings.lease_seconds)),
        "that of a worker that failed": (waits, LONGEST_WAIT),
        "that of a worker that handed out": (handed_out, timedelta()),
    }
    for name, (until, wait) in longest.items():
        if until is not None:
            ahead[name] = max(0.0, (aware(until) - now - wait).total_seconds())
    for referee, at in logged:
        name = f"that of referee {referee}"
        ahead[name] = max(ahead.get(name, 0.0), (at - now).total_seconds())
    ahead |= {f"that of {process.name}": process.ahead_seconds for process in processes}
    wrong = [
        f"{name} is {abs(by):.0f} s {'ahead of' if by > 0 else 'behind'} the database's"
        for name, by in ahead.items()
        if abs(by) > CLOCK_SECONDS
    ]
    if wrong:
        advice = "synchronise the clocks of all hosts with NTP; the arena goes by the database's"
        return [fail("clocks", "; ".join(wrong), advice)]
    return [ok("clocks", "the database's, this host's and those of all processes agree")]


def check_processes(storage: Storage) -> list[Finding]:
    """Compare the versions of the processes that use the database with this one's."""
    with storage.read() as tx:
        seen = col(Process.seen_at) > storage.now() - GONE
        processes = tx.exec(select(Process).where(seen).order_by(col(Process.name))).all()
    others = [
        warn(
            "processes",
            f"{process.name} runs {process.version}, schema {process.schema_name}; here is {own_version()}",
            "run one version on all hosts",
        )
        for process in processes
        if (process.version, process.schema_name) != (own_version(), fingerprint())
    ]
    return others or [ok("processes", f"{len(processes)} use the database, all in this version")]


def aware(time_: datetime | str) -> datetime:
    """Return a time as databases give it, which may be a text, with its zone."""
    moment = datetime.fromisoformat(time_) if isinstance(time_, str) else time_
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
