"""``arena demo``: a whole arena with sample bots, from its start to its end."""

import fcntl
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from arena.bots import versions
from arena.cli.context import actor_at_terminal, settings_of
from arena.cli.leaderboard import show_leaderboards
from arena.cli.local import free_address, start_arena, watch_over
from arena.cli.results import show_crosstable
from arena.cli.standings import legend, show_standings
from arena.cli.watch import follow
from arena.core.specs import TournamentSpec
from arena.errors import SettingsError, StateError
from arena.host.files import make_private
from arena.host.processes import Supervisor
from arena.host.settings import TLS_FILES, Settings, load_settings
from arena.play.messages import wake
from arena.queries import highlights, leaderboards, scoreboard
from arena.queries.highlights import find_deals
from arena.results.strength.pools import are_fitted
from arena.store.models import HighlightKind, utc_now
from arena.store.storage import Storage, migrate_storage, open_storage
from arena.tournaments import creation, lifecycle, overview
from arena.tournaments.referees import asker
from arena.trust.exports.write import export_lines
from arena.trust.keys import register_arena_key
from arena.trust.verify import check_export
from arena.web.pages.links import deal_url
from referee.cli.output import console, say
from referee.processes.closed import outlast_readers
from referee.processes.interrupts import unwound_on_signals
from referee.samples import SAMPLE_BOTS

MARK = ".arena-demo"
"""A file that marks a demo's folder, in which the next demo may delete what a demo makes."""

ABOUT = "`arena demo` made this folder, and deletes what it made here when it runs again.\n"
"""The contents of that file."""

MADE = {
    *("arena.db", "arena.db-wal", "arena.db-shm", "arena.db-journal"),
    *("begun-attempts.db", "begun-attempts.db-wal", "begun-attempts.db-shm", "begun-attempts.db-journal"),
    *("arena-key", "broker", "logs", "referee-keys", "worker-token"),
}
"""The files that a demo makes in its folder."""

BOTS = {
    "ann/greedy": "greedy.py",
    "bob/random": "random_bot.py",
    "cy/keeper": "keeper.py",
    "dee/lowest": "lowest.py",
    "eve/pairs-first": "pairs_first.py",
    "fay/random": "random_bot.py",
    "gus/greedy": "greedy.py",
    "hal/lowest": "lowest.py",
}
"""The bots that take part: name and sample bot."""

SESSIONS, DEALS, SWISS_ROUNDS = 8, 6, 5

FIT_SECONDS, LOOK_SECONDS = 30.0, 0.1
"""How long the leaderboard waits for the worker to fit the last strengths, and how often it looks."""

TOURNAMENTS = (
    ("round-robin", "round-robin", "chinese", None),
    ("autumn", "swiss", "chinese", SWISS_ROUNDS),
    ("hong-kong", "round-robin", "hong-kong", None),
)
"""Name, format, ruleset, rounds."""


def demo(
    ctx: typer.Context,
    web: Annotated[
        bool | None,
        typer.Option(help="Serve the web pages, at the end until Ctrl-C; in a terminal this is the default."),
    ] = None,
) -> None:
    """Run a whole arena here for a minute or two: eight bots, three tournaments, standings and ratings."""
    outlast_readers()
    serving = sys.stdout.isatty() if web is None else web
    with unwound_on_signals(), demo_folder(settings_of(ctx).data / "demo") as folder:
        settings = demo_settings(folder, serving)
        migrate_storage(settings)
        with (
            open_storage(settings) as storage,
            Supervisor(settings.logs, settings.environment()) as supervisor,
        ):
            register_arena_key(storage, settings, utc_now())
            _start(supervisor, settings, storage)
            for name, format, ruleset, rounds in TOURNAMENTS:
                spec = TournamentSpec(
                    name=name,
                    format=format,
                    ruleset=ruleset,
                    entrants=tuple(BOTS),
                    rounds=rounds,
                    sessions=SESSIONS,
                    deals=DEALS,
                )
                _play(supervisor, settings, storage, spec)
            say("")
            _wait_for_strengths(supervisor, storage)
            show_leaderboards(leaderboards.leaderboard(storage).leaderboard)
            _verify(storage)
            if serving:
                _serve(supervisor, settings, storage)
            say("stopping everything …")
        _say_what_next(folder)


@contextmanager
def demo_folder(folder: Path) -> Iterator[Path]:
    """Make a fresh folder in place of an earlier demo's, and lock it until the end of the block.

    What an earlier demo made there is deleted, and named; nothing else ever is. Raise SettingsError if the
    folder is something else or holds anything else, cannot be written, or a demo is running in it.
    """
    mark = folder / MARK
    if folder.is_symlink() or (folder.exists() and not mark.is_file() and any(folder.iterdir())):
        raise SettingsError(
            "data", f"{folder} is not the folder of a demo, so it is left alone; choose another --data"
        )
    with ExitStack() as stack:
        try:
            make_private(folder)
            marked = stack.enter_context(mark.open("a"))
            fcntl.flock(marked, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not mark.stat().st_size:
                mark.write_text(ABOUT)
            _empty(folder)
        except BlockingIOError:
            raise SettingsError("data", f"another demo is running in {folder}") from None
        except OSError as error:
            raise SettingsError("data", f"cannot write in {folder}: {error.strerror}") from None
        yield folder


def _empty(folder: Path) -> None:
    """Delete what an earlier demo made. Raise SettingsError, and leave all of it, if there is more."""
    left = sorted(path.name for path in folder.iterdir() if path.name != MARK)
    others = [name for name in left if name not in MADE]
    if others:
        text = f"{folder} holds what no demo made ({', '.join(others)}), so nothing in it is deleted"
        raise SettingsError("data", f"{text}; move that away, or choose another --data")
    if left:
        say(f"Deleting what an earlier demo made in {folder}: {', '.join(left)}")
    for path in map(folder.joinpath, left):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def demo_settings(folder: Path, serving: bool) -> Settings:
    """Return settings that keep everything in the demo's folder and on free ports, whatever else is set."""
    listen = free_address()
    return load_settings(
        {
            "data": folder,
            "database_url": "",
            "broker_url": "",
            "listen": listen,
            "referees": listen,
            "local_referees": 1,
            "web_listen": free_address() if serving else "",
            "web_url": "",
            "beat_seconds": 1,
            **dict.fromkeys(TLS_FILES),
        }
    )


def _start(supervisor: Supervisor, settings: Settings, storage: Storage) -> None:
    say(f"An arena in {settings.data}: referee, worker and beat, a process each …")
    start_arena(supervisor, settings)
    if settings.web_listen:
        say(f"Watch it: {settings.web_url}/")
    say(f"Registering {len(BOTS)} bots and starting each as a process of its own …")
    for bot, file in BOTS.items():
        registered = versions.register_version(storage, actor_at_terminal(), bot, utc_now())
        environment = {"ARENA_TOKEN": registered.token, "ARENA_REFEREE": settings.listen}
        name = registered.bot.replace("/", "-")
        environment["ARENA_BOT_LOG"] = str(settings.logs / f"{name}.sessions")
        supervisor.start(name, [sys.executable, str(SAMPLE_BOTS / file)], environment, trusted=False)
        say(f"  {registered.bot}  {file}  (process {supervisor.pid(name)})")


def _play(supervisor: Supervisor, settings: Settings, storage: Storage, spec: TournamentSpec) -> None:
    creation.create(storage, actor_at_terminal(), spec, utc_now())
    status = lifecycle.start(storage, actor_at_terminal(), spec.name, utc_now(), asker(settings))
    say(
        "",
        f"Tournament {spec.name}: {spec.format}, {status.ruleset}",
        f"commitment: {status.commitment}",
    )
    wake(settings, status.id)
    status = follow(storage, spec.name, console(), tick=supervisor.check)
    if not status.ended:
        raise StateError(f"{spec.name} has failed: {status.problem}; logs in {settings.logs}")
    show_standings(scoreboard.scoreboard(storage, spec.name))
    say(legend(*scoreboard.criteria_of(spec.format)))
    show_crosstable(scoreboard.crosstable(storage, spec.name))


def _wait_for_strengths(supervisor: Supervisor, storage: Storage) -> None:
    """Wait, but not for ever, until the worker has fitted the strengths to the last round."""
    deadline = time.monotonic() + FIT_SECONDS
    while not are_fitted(storage) and time.monotonic() < deadline:
        supervisor.check()
        time.sleep(LOOK_SECONDS)


def _verify(storage: Storage) -> None:
    for name, *_ in TOURNAMENTS:
        report = check_export(line.encode() for line in export_lines(storage, name))
        if report.problem is not None:
            raise StateError(f"{name}: {report.problem}")
        seed = overview.status(storage, name).seed
        say(f"{name}: the seed {seed} is revealed, and all {report.deals} deals follow from it")


def _serve(supervisor: Supervisor, settings: Settings, storage: Storage) -> None:
    """Serve the pages until Ctrl-C."""
    say("", f"Look at it: {settings.web_url}/")
    for deal in find_deals(storage, highlights.HighlightQuery(HighlightKind.LONGEST), 1).deals:
        where = deal_url(deal.tournament, deal.round, deal.table, deal.session, deal.deal)
        say(f"The longest deal: {settings.web_url}{where}")
    say("Ctrl-C ends the demo.")
    with suppress(KeyboardInterrupt):
        watch_over(supervisor, lambda: False)


def _say_what_next(folder: Path) -> None:
    started_as = Path(sys.argv[0])
    arena = str(started_as) if started_as.name == "arena" else f"{sys.executable} -m arena"
    here = f"{arena} --data {os.path.relpath(folder)}"
    say(
        "",
        "All stopped. What to try next:",
        f"  {here} match show autumn 1 1 --session 2 --deal 3    # a deal, trick by trick",
        f"  {here} export autumn --output autumn.jsonl    # all of it …",
        f"  {arena} verify autumn.jsonl    # … checked again from that file alone",
        f"  {here} web    # its pages, in a browser",
        f"  {arena} rules list    # all rulesets",
        f"  {arena} up    # an arena of your own: README.md goes on from there",
    )
