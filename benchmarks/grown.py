"""Databases with a history of a million matches: made for one run, or kept for the next.

They are queried in the state of a server that has been running for a while: the whole database is in memory.
"""

import mmap
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from functools import partial
from itertools import count
from pathlib import Path
from typing import TypeVar

from sqlalchemy import create_engine, text

from arena.host.settings import load_settings
from arena.results.strength.fitting import fit_due
from arena.store.database import sqlite_file
from arena.store.storage import Storage, migrate_storage, open_storage
from benchmarks.history import Place, sqlite, tidy
from benchmarks.multiples import STEP, Copier, check, make_base
from benchmarks.reading import NOW
from tests.arena import servers

BOTS = 10_000
ROUNDS = 4, 100
"""Rounds of the base: 10,000 matches among all bots, and 2,500 among a hundred of them."""

SERVER = {"shared_buffers": "5GB", "effective_cache_size": "15GB", "random_page_cost": "1.1"}
"""Settings of PostgreSQL for a machine with 20 GB, as recommended in ``docs/operations.md``."""
DRAFT = "draft"
"""Name of a database that is still being made on a server."""

LOCKED = 0x2000
"""Linux's MAP_LOCKED, which Python does not name: mapped pages stay in memory."""

Answer = TypeVar("Answer")
History = tuple[int, Storage]
"""A number of copies of the base, and the database that contains them."""


@contextmanager
def postgres(_: Path) -> Iterator[Callable[[], str]]:
    """Yield a function that returns URLs of empty databases on a PostgreSQL server."""
    numbers = count(1)
    with servers.postgres(durable=True, settings=SERVER) as server:
        yield lambda: server.create(f"size{next(numbers)}")


def make(place: Place, sizes: Sequence[int]) -> Iterator[History]:
    """Make the base, and yield its database each time it contains one of these numbers of copies."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = stack.enter_context(place(folder))()
        settings = load_settings({"data": folder, "database_url": url})
        migrate_storage(settings)
        storage = stack.enter_context(open_storage(settings))
        base = timed("base made", lambda: make_base(storage, BOTS, ROUNDS, NOW))
        copier = Copier(url, base)
        for copies in sizes:
            timed(f"{copies} copies made", partial(copier.multiply, copies))
            copier.close()
            timed("tidied", partial(tidy, url))
            timed("sample counted again", partial(check, storage, base, copies))
            timed("fitted", partial(fit_due, storage, NOW + copies * STEP))
            storage.close()
            with in_memory(url):
                yield copies, storage


def kept(folder: Path, sizes: Sequence[int]) -> Iterator[History]:
    """Yield such databases from data folders inside a folder; make those that are missing."""
    missing = [copies for copies in sizes if not (folder / str(copies)).exists()]
    for copies, storage in make(sqlite, missing) if missing else ():
        draft = folder / f"{copies}.new"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        with storage.connect() as connection, closing(sqlite3.connect(draft / "arena.db")) as copy:
            assert isinstance(connection.connection.driver_connection, sqlite3.Connection)
            connection.connection.driver_connection.backup(copy)
        draft.rename(folder / str(copies))
    for copies in sizes:
        yield from _opened(copies, {"data": folder / str(copies)})


def kept_on_server(folder: Path, sizes: Sequence[int]) -> Iterator[History]:
    """Yield such databases from a PostgreSQL server's data inside a folder; make those that are missing."""
    folder.mkdir(parents=True, exist_ok=True)
    with servers.postgres(durable=True, folder=folder / "postgres", settings=SERVER) as server:
        there = server.sql("SELECT datname FROM pg_database").split()
        missing = [copies for copies in sizes if f"size{copies}" not in there]
        if missing:
            server.run("dropdb", "--if-exists", DRAFT)
            for copies, storage in make(lambda _: nullcontext(lambda: server.create(DRAFT)), missing):
                storage.close()
                if copies != missing[-1]:
                    server.run("createdb", f"--template={DRAFT}", "--strategy=file_copy", f"size{copies}")
            server.sql(f"ALTER DATABASE {DRAFT} RENAME TO size{missing[-1]}")
        for copies in sizes:
            yield from _opened(copies, {"data": folder, "database_url": server.url(f"size{copies}")})


def _opened(copies: int, options: dict[str, object]) -> Iterator[History]:
    settings = load_settings(options)
    migrate_storage(settings)
    with in_memory(settings.database_url), open_storage(settings) as storage:
        yield copies, storage


@contextmanager
def in_memory(url: str) -> Iterator[None]:
    """Keep a database in memory, which nobody may have open yet.

    A SQLite file is locked in memory, if the user's limit for locked memory allows it: otherwise a system
    that reclaims memory which has not been used for a while would read it again, and timings would include
    whatever else the disk is doing.
    """
    file = sqlite_file(url)
    if file is not None:
        with closing(_mapped(file)):
            yield
        return
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("CREATE EXTENSION IF NOT EXISTS pg_prewarm"))
        own = "relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')"
        connection.execute(text(f"SELECT sum(pg_prewarm(oid)) FROM pg_class WHERE {own}"))
    engine.dispose()
    yield


def _mapped(file: Path) -> mmap.mmap:
    flags = mmap.MAP_SHARED | mmap.MAP_POPULATE
    with file.open("rb") as open_file:
        try:
            return mmap.mmap(open_file.fileno(), 0, flags=flags | LOCKED, prot=mmap.PROT_READ)
        except OSError:
            return mmap.mmap(open_file.fileno(), 0, flags=flags, prot=mmap.PROT_READ)


def timed(what: str, call: Callable[[], Answer]) -> Answer:
    """Call the function and return its result; print how long it took."""
    begun = time.perf_counter()
    answer = call()
    print(f"{what}: {time.perf_counter() - begun:.0f} s", flush=True)
    return answer
