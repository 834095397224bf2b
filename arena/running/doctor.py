"""Checks of an arena from this host: settings, versions, database, broker, referees, clocks, leases, queue.

Each check is a function that returns findings. Nothing is created or changed, not even a missing database.
"""

import asyncio
import os
import platform
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from importlib import metadata
from pathlib import Path

from kombu.connection import Connection
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from sqlalchemy import make_url
from sqlalchemy.exc import OperationalError
from sqlmodel import col, func, select

from arena.actors import Actor, Role
from arena.errors import ArenaError
from arena.host.files import open_to_others
from arena.host.presence import found_in, is_running
from arena.host.settings import PREFIX, Settings, load_settings
from arena.running.findings import UNWRITABLE, Check, Finding, advice_on, fail, ok, reason, run_all, warn
from arena.running.hosts import aware, check_clocks, check_processes
from arena.store.models import (
    STUCK,
    UNWEIGHED,
    League,
    Match,
    MatchState,
    Round,
    Tournament,
    TournamentState,
)
from arena.store.schema import MIGRATE, Problem, find_problem, fingerprint
from arena.store.storage import Storage
from referee.errors import RefereeError, TokenRefused
from referee.net.client import referee_status
from referee.net.failures import why_failed
from referee.processes import descriptors
from referee.protocol.version import PROTOCOL_VERSION
from referee.reading.names import is_number

PACKAGE = "bigtwo-arena"

CHECK_SECONDS = 10.0
"""Maximum duration of a check."""

READ_SECONDS = 2.0
"""How long a SQLite database is read in search of damage; that of a million matches takes longer."""

DISK_LOW, DISK_FULL = 2 << 30, 200 << 20
"""Free bytes below which the disk of the data folder is low, and below which it is full."""

ENOUGH_DESCRIPTORS = 16_384
"""With fewer descriptors than this, a large arena runs out of them."""

PATIENCE = timedelta(days=1)
"""How long rounds may wait for what their cards were worth."""


OTHER_ARENA = (
    f"another arena's referee may listen there: name this one's with {PREFIX}REFEREES, or set {PREFIX}LISTEN "
    f"as for `arena up`; if it is this one's, {PREFIX}WORKER_TOKEN must be the same here and there"
)
"""The advice for a referee that refuses the workers' token."""


def examine(
    overrides: dict[str, object], clock: Callable[[], datetime], seconds: float = CHECK_SECONDS
) -> list[Finding]:
    """Run all checks at once, for at most ``seconds``, and return their findings.

    ``overrides`` take precedence over the settings, as in ``load_settings``.
    """
    try:
        settings = load_settings(overrides)
    except ArenaError as error:
        wrong = fail("settings", str(error), "correct it; everything else depends on it")
        return [wrong, *_python(), *_packages()]
    return _examine(settings, clock, seconds)


def findings(settings: Settings, actor: Actor, clock: Callable[[], datetime]) -> list[Finding]:
    """Return all findings of the arena with these settings. Raise NotAllowed."""
    actor.require(Role.OPERATOR, "examine the arena")
    return _examine(settings, clock, CHECK_SECONDS)


def _examine(settings: Settings, clock: Callable[[], datetime], seconds: float) -> list[Finding]:
    checks: dict[str, Check] = {
        "settings": lambda: [ok("settings", f"data folder {settings.data}"), *_tls(settings)],
        "python": _python,
        "packages": _packages,
        "descriptors": lambda: [descriptors_for(descriptors.permitted())],
        "protocol": lambda: [ok("protocol", f"referee.v1, version {PROTOCOL_VERSION}")],
        "data folder": lambda: _folder(settings),
        "database": lambda: _database(settings, clock),
        "broker": lambda: _broker(settings, clock),
    } | {
        f"referee {address}": lambda address=address: _referee(settings, address)  # type: ignore[misc]
        for address in settings.referees
    }
    return run_all(checks | _certificates(settings, clock), seconds)


def _certificates(settings: Settings, clock: Callable[[], datetime]) -> dict[str, Check]:
    if not (settings.encrypted or settings.web_certificate):
        return {}
    from arena.running.certificates import certificate_checks  # and cryptography, which little else needs

    return certificate_checks(settings, clock())


def _tls(settings: Settings) -> list[Finding]:
    settings.server_tls()
    settings.check_web_tls()
    without = settings.client_tls() is None
    if exposed := settings.exposed():
        return [warn("TLS", exposed, "set ARENA_TLS_CERTIFICATE and ARENA_TLS_KEY")]
    if without:
        return [ok("TLS", "none")]
    return [ok("TLS", f"the files are in order{_to_trust(settings)}")]


def _to_trust(settings: Settings) -> str:
    """Return whose certificate bots have to trust, as a referee presents it: its chain may end too soon."""
    if settings.tls_certificate is None:
        return ""
    from cryptography import x509  # which nothing else here needs

    *_, last = x509.load_pem_x509_certificates(settings.tls_certificate.read_bytes())
    return f"; bots have to trust {last.issuer.rfc4514_string()}"


def _python() -> list[Finding]:
    version = platform.python_version()
    needed = SpecifierSet(metadata.metadata(PACKAGE)["Requires-Python"])
    if not needed.contains(version, prereleases=True):
        return [fail("python", version, f"the arena needs {needed}")]
    return [ok("python", version)]


def descriptors_for(permitted: int) -> Finding:
    """Return the finding about how many descriptors a process that is started here may use."""
    limit = f"{permitted} for each process"
    if permitted >= ENOUGH_DESCRIPTORS:
        return ok("descriptors", limit)
    bots = descriptors.room(permitted)
    advice = "set LimitNOFILE=65536 in the unit, or raise the hard limit (ulimit -Hn)"
    return warn("descriptors", f"{limit}: a referee started here has room for {bots} connections", advice)


def _packages() -> list[Finding]:
    """Compare what the arena requires with what is installed."""
    try:
        required = [Requirement(package) for package in metadata.requires(PACKAGE) or ()]
        own = metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return [fail("packages", f"{PACKAGE} is not installed", "install it in this environment")]
    wrong = []
    for package in required:
        if package.marker is not None and not package.marker.evaluate({"extra": ""}):
            continue
        try:
            version = metadata.version(package.name)
        except metadata.PackageNotFoundError:
            wrong.append(f"{package.name} is missing")
            continue
        if not package.specifier.contains(version, prereleases=True):
            wrong.append(f"{package.name} is {version}, but {package.specifier} is needed")
    if wrong:
        return [fail("packages", "; ".join(wrong), "install the requirements again")]
    return [ok("packages", f"{PACKAGE} {own}, and all that it needs")]


def _folder(settings: Settings) -> list[Finding]:
    if not settings.data.is_dir():
        return [warn("data folder", f"{settings.data} does not exist yet", "`arena up` creates it")]
    try:
        tempfile.TemporaryFile(dir=settings.data).close()
    except OSError as error:
        advice = UNWRITABLE.get(error.errno or 0, "correct its permissions")
        return [fail("data folder", f"cannot write in {settings.data}: {error.strerror}", advice)]
    free = shutil.disk_usage(settings.data).free
    return [_private(settings.data), disk(settings.data, free), _lock(settings)]


def _private(folder: Path) -> Finding:
    if open_to_others(folder):
        return warn("data folder", f"other users have access to {folder}", f"chmod 0700 {folder}")
    return ok("data folder", f"{folder} is private")


def disk(folder: Path, free: int) -> Finding:
    """Return the finding for this number of free bytes on the disk of a folder."""
    space = f"{free / (1 << 30):.1f} GiB free in {folder}"
    if free < DISK_FULL:
        return fail("disk", space, "make room: results cannot be stored on a full disk")
    return warn("disk", space, "make room soon") if free < DISK_LOW else ok("disk", space)


def _lock(settings: Settings) -> Finding:
    """Check whether `arena up` runs in the folder, and serves the addresses that are configured here."""
    try:
        if not is_running(settings.data):
            return ok("lock", "`arena up` does not run in this folder now")
    except FileNotFoundError:
        return ok("lock", "`arena up` has never run in this folder")
    served = found_in(settings.data, ()).get("referees", "")
    if served in ("", ",".join(settings.referees)):
        return ok("lock", "`arena up` runs in this folder")
    advice = f"unset {PREFIX}REFEREES and {PREFIX}LISTEN here, and leave them out of the settings file"
    return warn("lock", f"`arena up` runs in this folder, and its referees are at {served}", advice)


def _database(settings: Settings, clock: Callable[[], datetime]) -> list[Finding]:
    url = make_url(settings.database_url)
    address = settings.shown()["database_url"]
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        return [warn("database", f"{address} does not exist yet", MIGRATE)]
    with Storage(settings.database_url) as storage:
        begun = time.monotonic()
        with storage.connect() as connection:
            problem = find_problem(connection)
        answers = f"{address} answers in {(time.monotonic() - begun) * 1000:.0f} ms"
        if settings.embedded_database:
            damage = damage_of(storage)
            if damage:
                return [fail("database", f"{address} is damaged: {damage}", "restore a backup")]
            if damage is None:
                answers += f"; no damage in what was read of it in {READ_SECONDS:g} s"
        findings = [ok("database", answers)]
        findings.append(_migrations(problem))
        if problem is not None:
            return findings
        agree = [*check_clocks(storage, settings, clock), *check_processes(storage)]
        return [*findings, *agree, *_work(storage, settings, storage.now())]


def damage_of(storage: Storage, seconds: float = READ_SECONDS) -> str | None:
    """Return the damage that SQLite finds in a database; empty if there is none, None if it takes longer."""
    with storage.read() as tx:
        connection = tx.connection()
        done, driver = threading.Event(), connection.connection.driver_connection
        assert driver is not None

        def interrupt() -> None:
            """Interrupt the statement, again and again, since before it begins that has no effect."""
            while not done.wait(seconds):
                driver.interrupt()

        # A progress handler would be asked only after each table.
        alarm = threading.Thread(target=interrupt)
        alarm.start()
        try:
            damage = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
        except OperationalError as error:
            if "interrupted" not in str(error):
                raise
            return None
        finally:
            done.set()
            alarm.join()
    return "" if damage == "ok" else " ".join(str(damage).split())


def _migrations(problem: Problem | None) -> Finding:
    if problem is None:
        return ok("migrations", f"the schema is {fingerprint()}, that of this version")
    level = warn if problem.advice == MIGRATE else fail
    return level("migrations", problem.what, problem.advice)


def _work(storage: Storage, settings: Settings, now: datetime) -> list[Finding]:
    late = now - timedelta(seconds=settings.lease_seconds + 2 * settings.beat_seconds)
    running = (
        select(Match)
        .join(Tournament, col(Tournament.id) == Match.tournament_id)
        .where(Tournament.state == TournamentState.RUNNING)
    )
    stale = running.where(Match.state == MatchState.RUNNING, col(Match.lease_until) < late)
    waiting = running.where(Match.state == MatchState.WAITING, col(Match.handed_out_at) < late)
    with storage.read() as tx:
        leases = tx.exec(select(func.count()).select_from(stale.subquery())).one()
        unclaimed = tx.exec(select(func.count()).select_from(waiting.subquery())).one()
        stuck = tx.exec(select(Tournament.name, Tournament.problem).where(*STUCK)).all()
        failed = list(tx.exec(select(Tournament.name).where(Tournament.state == TournamentState.FAILED)))
        oldest = tx.exec(select(func.min(Round.finished_at)).where(UNWEIGHED)).one()
        leagues = tx.exec(select(League.name, League.problem).where(col(League.problem).is_not(None))).all()
        overdue = list(
            tx.exec(select(League.name).where(col(League.next_at) < late, col(League.problem).is_(None)))
        )
    lines = [
        warn("leases", f"{leases} matches have an expired lease", "is `arena beat` running?")
        if leases
        else ok("leases", "no expired lease is left"),
        warn(
            "matches",
            f"{unclaimed} were handed out and no worker has taken them",
            "is `arena worker` running?",
        )
        if unclaimed
        else ok("matches", "none waits for a worker"),
        warn(
            "references",
            "card values of a round that ended over a day ago are not computed yet",
            "workers compute that when no match waits: see arena rating references, and run more of them",
        )
        if oldest is not None and now - aware(oldest) > PATIENCE
        else ok("references", "no finished round has waited long for its card values"),
    ]
    lines += [
        fail("tournaments", f"{name} cannot be advanced: {why}", "the workers' logs say where it happened")
        for name, why in stuck
    ]
    lines += [
        warn("tournaments", f"{name} has failed", f"inspect, then resume with: arena tournament start {name}")
        for name in failed
    ]
    lines += [warn("leagues", f"{name}: {why}", f"arena league show {name}") for name, why in leagues]
    lines += [warn("leagues", f"{name}: a season is overdue", "is `arena beat` running?") for name in overdue]
    return lines


def _broker(settings: Settings, clock: Callable[[], datetime]) -> list[Finding]:
    address = settings.shown()["broker_url"]
    if settings.broker_folder is not None:
        return _folder_queue(settings.broker_folder, address, settings, clock())
    limit = CHECK_SECONDS / 2
    try:
        made = Connection(settings.broker_url, connect_timeout=limit)  # type: ignore[no-untyped-call]
        with made as connection:
            connection.ensure_connection(max_retries=1, interval_start=0, timeout=limit)
    except ImportError as error:
        return [fail("broker", f"{address} needs the Python package {error.name}", "install it here")]
    except Exception as error:  # each transport has errors of its own
        return [fail("broker", f"{address}: {reason(error)}", advice_on("broker", str(error)))]
    return [ok("broker", f"{address} answers")]


def _folder_queue(folder: Path, address: str, settings: Settings, now: datetime) -> list[Finding]:
    try:
        waiting = sorted(name for name in os.listdir(folder / "queue") if name.endswith(".msg"))
    except FileNotFoundError:
        return [warn("broker", f"{address} does not exist yet", "the first process creates it")]
    except OSError as error:
        advice = "let the arena's user read and write there, or name another place"
        return [fail("broker", f"cannot read {error.filename}: {error.strerror}", advice)]
    finding = ok("broker", f"{address} can be read")
    if not waiting:
        return [finding, ok("queue", "no message waits")]
    stamp = waiting[0].partition("_")[0]
    if not is_number(stamp, 20):
        return [finding, ok("queue", f"{len(waiting)} messages wait")]
    age = now.timestamp() - int(stamp) / 1e9
    text = f"{len(waiting)} messages wait, the oldest for {max(0.0, age):.0f} s"
    if age > settings.lease_seconds + 2 * settings.beat_seconds:
        return [finding, warn("queue", text, "is `arena worker` running?")]
    return [finding, ok("queue", text)]


def _referee(settings: Settings, address: str) -> list[Finding]:
    name = f"referee {address}"
    if settings.worker_token is None and not (settings.data / "worker-token").is_file():
        return [warn(name, "no worker token yet", "`arena up` creates it")]
    try:
        status = referee_status(
            address, settings.worker_secret(), tls=settings.client_tls(), timeout=CHECK_SECONDS / 2
        )
    except TokenRefused as error:
        return [fail(name, str(error).removeprefix(f"{name} "), OTHER_ARENA)]
    except RefereeError as error:
        why = asyncio.run(why_failed(address, settings.client_tls(), str(error)))
        advice = (
            f"is `arena up` or `arena referee` running there? if it is elsewhere, correct {PREFIX}REFEREES"
        )
        return [fail(name, why or str(error).removeprefix(f"{name} "), advice)]
    busy = f"{status.streams} bots connected, {status.matches} matches, {status.sessions} sessions"
    if status.draining:
        return [warn(name, f"shutting down; {busy}", "it takes no new match")]
    if why := status.not_ready:
        return [fail(name, f"takes no match: {why}; {busy}", advice_on(name, why))]
    return [ok(name, busy)]
