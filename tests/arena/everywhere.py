"""A successful call of every command, in an arena in which each has something to show."""

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from arena.actors import HOUSE, Actor, Role
from arena.bots import versions
from arena.bots.journal import DatabaseJournal
from arena.host.settings import Settings, load_settings
from arena.leagues import applying, membership
from arena.leagues.membership import find_league
from arena.people import accounts, invitations, tokens
from arena.results.luck.references import weigh_due
from arena.results.strength.fitting import fit_due
from arena.store.models import utc_now
from arena.store.storage import Storage, open_storage
from arena.tournaments import admission, creation, entry, lifecycle
from arena.tournaments.corrections import NewCorrection, correct
from arena.tournaments.overview import find_tournament
from arena.tournaments.referees import Answer, nobody_asked
from arena.trust.exports.write import export_lines
from arena.webhooks import hooks
from referee.cli.app import arena_group
from referee.cli.later import Later
from referee.matches.auth import Scope
from referee.matches.journal import Entry, EntryKind
from referee.matches.match import Presence
from referee.net.client import RefereeStatus
from referee.records.random_play import random_records
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset
from tests.arena.fakes import DECISION_KEY, ROOT, Clock
from tests.arena.given_keys import give_arena_key
from tests.arena.leagues import START, WEEK, LeagueWorld, winter
from tests.arena.random_play import play_randomly, play_with_faults
from tests.arena.running import SAMPLE_BOTS
from tests.arena.world import World

ENDLESS = {
    "account keys": "takes an account with an arena on the network",
    "account revoke-key": "takes an account with an arena on the network",
    "beat": "runs until it is stopped",
    "bot doctor": "takes a referee that runs",
    "bot run": "runs until it is stopped",
    "deal estimate": "takes an account with an arena on the network",
    "demo": "shows a whole arena to people, for a minute",
    "login": "takes an arena on the network",
    "logout": "takes a key for an arena on the network",
    "referee": "runs until it is stopped",
    "up": "runs until it is stopped",
    "web": "runs until it is stopped",
    "worker": "runs until it is stopped",
}
"""Commands that the tests of all commands leave out, with the reason."""

OF_ACCOUNTS = {"account keys", "account revoke-key", "deal estimate"}
"""Those of them that end by themselves."""

CALLS = {
    "account create": "ann --password-stdin",
    "account disable": "zoe --yes",
    "account enable": "yan",
    "account invitations": "",
    "account invite": "",
    "account list": "",
    "account password": "zoe --password-stdin",
    "account reset": "zoe",
    "account revoke-invitation": "1 --yes",
    "account role": "zoe organiser",
    "audit": "",
    "backup": "FOLDER/again.db",
    "bot check": f"ann/one --no-store --scenario PING-01 -- {sys.executable} {SAMPLE_BOTS}/greedy.py",
    "bot describe": "owner-0/bot-0 --language go --link https://example.org/bot-0",
    "bot faults": "",
    "bot mine": "",
    "bot new": "FOLDER/fresh",
    "bot history": "owner-0/bot-0",
    "bot show": "owner-0/bot-0",
    "bot test": "owner-0/bot-0",
    "bot versus": "owner-0/bot-0 owner-1/bot-1",
    "bot games": "owner-0/bot-0",
    "bot list": "",
    "bot log": "owner-0/bot-0 --token TOKEN",
    "bot register": "ann/one",
    "bot revoke": "owner-0/bot-0@1 --yes",
    "bot rotate": "owner-0/bot-0 --yes",
    "config": "",
    "crosstable": "owner-0/bot-0 owner-1/bot-1 owner-2/bot-2",
    "deal costs": "cup 1 1 1 1",
    "deal find": "swing",
    "deal luck": "cup 1 1 1 1",
    "doctor": "",
    "export": "cup",
    "leaderboard": "--since 2100-01-01 --limit 2",
    "league apply": "FOLDER/winter.toml",
    "league approve": "spring owner-1/bot-1",
    "league decline": "spring owner-1/bot-1 --reason late",
    "league entries": "spring",
    "league history": "winter",
    "league invite": "spring owner-1",
    "league join": "winter owner-0/bot-0",
    "league leave": "winter member-1/bot",
    "league list": "",
    "league show": "winter",
    "match list": "--bot owner-0/bot-0",
    "match seating": "4 8",
    "match show": "cup 1 1",
    "migrate": "",
    "rating baseline": "owner-0/bot-0",
    "rating export": "",
    "rating rebuild": "",
    "rating references": "",
    "restore": "FOLDER/backup.db --yes",
    "rules check": "FOLDER/house.toml",
    "bot explain": "FOLDER/deal.jsonl --seconds 0.1",
    "bot rewind": "FOLDER/deal.jsonl greedy --all --seat 0",
    "play": "FOLDER/careless.py greedy --deals 12 --ruleset chinese-2 --jobs 1",
    "compare": "FOLDER/careless.py greedy --deals 70 --ruleset chinese-2 --jobs 1",
    "rules compare": "",
    "rules legal": "",
    "rules list": "",
    "rules random": f"--ruleset chinese --deals 3 --seed {'ab' * 32}",
    "rules replay": "",
    "rules show": "hong-kong",
    "vectors export": "FOLDER/vectors",
    "token create": "viewer --scope spectator",
    "token list": "",
    "token revoke": "organiser --yes",
    "token rotate": "organiser --yes",
    "tournament approve": "asking owner-1/bot-5",
    "tournament cancel": "running --yes",
    "tournament change": "waiting --sessions 3",
    "tournament confirm": "provisional --yes",
    "tournament correct": "faults owner-1/bot-1 --points=-3 --round 1 --table 1 --reason late",
    "tournament create": "FOLDER/new.toml",
    "tournament decline": "asking owner-1/bot-5 --reason late",
    "tournament delete": "waiting --yes",
    "tournament enter": "waiting owner-1/bot-5",
    "tournament entries": "asking",
    "tournament invite": "asking owner-1",
    "tournament list": "",
    "tournament lock": "waiting",
    "tournament may-enter": "asking owner-1/bot-5",
    "tournament pairings": "cup --explain",
    "tournament pause": "running",
    "tournament resume": "paused",
    "tournament show": "cup",
    "tournament standings": "provisional --crosstable",
    "tournament soft-play": "cup",
    "tournament start": "waiting",
    "tournament stop": "running",
    "tournament watch": "cup",
    "tournament withdraw": "waiting owner-0/bot-4",
    "verify": "FOLDER/provisional.jsonl",
    "webhook add": "mine https://example.org/hook",
    "webhook deliveries": "told",
    "webhook list": "",
    "webhook remove": "told --yes",
    "webhook rotate": "told",
    "webhook test": "told",
}
"""Commands and the arguments that follow them, separated by spaces."""

INPUT = '{"ruleset": "chinese", "a": "3D", "b": "4D", "hand": "3D 4D", "to_beat": null}\n'
"""A line of standard input that every rules tool answers, if only with an error."""

FILES = {
    "new.toml": """\
name = "new"
format = "swiss"
ruleset = "house.toml"
rounds = 3
sessions = 2
entrants = ["member-0/bot", "member-1/bot", "member-2/bot", "member-3/bot", "member-4/bot"]
""",
    "careless.py": """from referee.bot import main
main(lambda turn: "3D 4D" if turn.to_beat is None else None)
""",
    "deal.jsonl": json.dumps(next(random_records(compile_ruleset(load_ruleset("chinese-2")), bytes(32), 1))),
    "house.toml": 'name = "house"\nextends = "hong-kong"\n',
    "winter.toml": """\
name = "winter"
start = 2026-01-05T18:00:00Z
interval_hours = 24
allow_same_owner = true
tournament = { format = "round-robin", ruleset = "chinese", rounds = 2, sessions = 1, deals = 1 }
divisions = [{ name = "only" }]
""",
}


def commands() -> Iterator[tuple[str, Any]]:
    """Yield all commands with their names: ``doctor``, ``bot list``, …"""
    yield from _below("", arena_group())


def _below(path: str, found: Any) -> Iterator[tuple[str, Any]]:
    command = found.real if isinstance(found, Later) else found
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
    for name, one in (inner or {}).items():
        yield from _below(f"{path} {name}".strip(), one)


def make_everything(folder: Path, empty_database: bytes) -> None:
    """Make the arena in ``folder/data``, and next to it the files that commands take."""
    settings = load_settings({"data": folder / "data"})
    (settings.prepare().data / "arena.db").write_bytes(empty_database)
    give_arena_key(settings)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    with open_storage(settings) as storage:
        token = fill(storage, settings, folder)
    (folder / "token").write_text(token)
    shutil.copy(settings.data / "arena.db", folder / "backup.db")


def fill(storage: Storage, settings: Settings, folder: Path) -> str:
    """Fill an empty arena with something of everything, and write two exports; return a bot's token."""
    world = World(storage, Clock())
    names = world.register(6)
    world.finish(world.tournament_of(names, rounds=2, format="swiss").id, play_randomly)
    world.finish(world.tournament_of(names[:4], name="faults").id, play_with_faults)
    provisional = world.tournament_of(names[:4], name="provisional", sessions=1, deals=1, confirm=True)
    world.finish(provisional.id, play_randomly)
    weigh_due(storage, world.clock, lambda: 0.0)
    late = NewCorrection(names[0], "disqualified", "late")
    correct(storage, ROOT, "provisional", late, utc_now(), DECISION_KEY)
    for name in ("cup", "provisional"):
        text = "".join(f"{line}\n" for line in export_lines(storage, name))
        (folder / f"{name}.jsonl").write_text(text)
    _make_league(world)
    fit_due(storage, world.clock())
    _make_tournaments(world, names[:5])
    hooks.add_webhook(storage, ROOT, settings, "told", "https://example.org/hook", (), utc_now())
    hooks.try_webhook(storage, ROOT, "told", utc_now())
    for name in ("yan", "zoe"):
        accounts.create_account(storage, ROOT, name, Role.AUTHOR, utc_now())
    accounts.change_account(storage, ROOT, "yan", utc_now(), disabled=True)
    invitations.invite(storage, ROOT, Role.AUTHOR, utc_now(), "owner-0")
    tokens.create_token(storage, ROOT, "organiser", Scope.ORGANISER, utc_now())
    with DatabaseJournal(storage, "127.0.0.1:8710") as journal:
        journal.add(Entry(1, EntryKind.CONNECTED, "", "connected"))
    for name in ("keeper", "greedy", "lowest"):
        versions.register_version(storage, ROOT, f"{HOUSE}/{name}", utc_now())
    return versions.rotate_version(storage, ROOT, "owner-0/bot-0", utc_now()).token


def _make_tournaments(world: World, names: list[str]) -> None:
    world.advance(world.tournament_of(names, name="running", format="continuous").id)
    waiting = world.spec(names, name="waiting", format="swiss", rounds=3)
    creation.create(world.storage, ROOT, waiting, world.clock())
    asking = world.spec(names, name="asking", format="swiss", rounds=3, entries="approved")
    creation.create(world.storage, ROOT, asking, world.clock())
    admission.invite(
        world.storage, ROOT, find_tournament, "asking", ["owner-2/bot-2", "owner-3"], world.clock()
    )
    author = Actor(Role.AUTHOR, "owner-1", frozenset({"owner-1"}))
    entry.enter(world.storage, author, "asking", "owner-1/bot-5", world.clock(), nobody_asked)
    world.tournament_of(names, name="paused")
    lifecycle.pause(world.storage, ROOT, "paused", world.clock())


def _make_league(world: World) -> None:
    league = LeagueWorld(world, winter())
    league.join(*(f"member-{number}/bot" for number in range(9)))
    league.week(1)
    league.join("late/bot")
    spring = winter(name="spring", start=START + 1_000 * WEEK, entries="approved")
    applying.apply(world.storage, ROOT, spring, world.clock())
    admission.invite(world.storage, ROOT, find_league, "spring", ["owner-2/bot-2", "owner-3"], world.clock())
    author = Actor(Role.AUTHOR, "owner-1", frozenset({"owner-1"}))
    membership.join(world.storage, author, "spring", "owner-1/bot-1", world.clock())


def all_connected(version_ids: Sequence[int], _: object) -> list[Answer]:
    """Answer like a referee to which every bot is connected."""
    bots = tuple(Presence(True, 4, 0) for _ in version_ids)
    return [Answer(":1", RefereeStatus(False, 0, 0, 0, 0, bots))]


def connect_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every bot appear connected, as test matches require."""
    for place in ("arena.tournaments.referees.asker", "arena.web.app.asker"):
        monkeypatch.setattr(place, lambda _: all_connected)


def call(name: str, folder: Path) -> list[str]:
    """Return the arguments with which ``arena`` runs this command on the copy of the arena in ``folder``."""
    rest = CALLS[name].replace("FOLDER", str(folder)).replace("TOKEN", (folder / "token").read_text())
    return ["--data", str(folder / "data"), *name.split(), *rest.split()]
