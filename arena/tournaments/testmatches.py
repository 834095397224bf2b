"""Test matches: an author lets a bot play house bots at once, unrated and without an organiser.

Such a match is the last step of a new bot, after it was registered, connected and checked.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import col, select

from arena.actors import HOUSE, Actor
from arena.bots.versions import WITHOUT_REPORT, find_versions, token_problem
from arena.core.pairing import owner_of
from arena.core.specs import make_spec
from arena.errors import StateError, UnknownError
from arena.people.audit import record
from arena.store.models import Bot, BotVersion, Entrant, Owner, Tournament
from arena.store.storage import Storage, Transaction
from arena.tournaments.creation import create_in
from arena.tournaments.lifecycle import start_in
from arena.tournaments.overview import ENDED, TournamentStatus, status_of
from arena.tournaments.referees import Ask, find_connected, find_unable, silence
from referee.reading.validation import suggestion
from referee.ruleset import Ruleset, load_ruleset

SESSIONS, DEALS = 4, 4
"""Sessions of a test match, and deals in each: every bot has every seat once."""


def start_test_match(
    storage: Storage,
    actor: Actor,
    bot: str,
    ruleset: str,
    now: datetime,
    ask: Ask,
    against: Sequence[str] = (),
) -> TournamentStatus:
    """Start an unrated match of a bot against house bots, as a tournament of its own.

    ``against`` names house bots that sit at the table, without their owner; others take the remaining seats.
    The bot and enough house bots must be connected; an owner has only one open test match at a time. Raise
    NotAllowed, RulesetError, SpecError, UnknownError, StateError.
    """
    actor.require_owner(owner_of(bot), f"start a test match of {bot}")
    rules = load_ruleset(ruleset)
    with storage.read() as tx:
        [mine] = find_versions(tx, [bot], now)
        house = _named_first(_house_bots(tx, now), against)
        _require_none_open(tx, mine)
    table = _seated(rules, mine, house, len({*against}), ask)
    values: dict[str, object] = {
        "name": f"test-{secrets.token_hex(8)}",
        "format": "round-robin",
        "ruleset": ruleset,
        "entrants": [version.name for version in table],
        "sessions": SESSIONS,
        "deals": DEALS,
        "rated": False,
        "allow_same_owner": True,
    }
    spec = make_spec(values)
    with storage.write() as tx:
        _require_none_open(tx, mine)
        tournament = create_in(tx, spec, now)
        tournament.test = True
        tx.add(tournament)
        start_in(tx, tournament, now)
        record(tx, actor, "bot.test", mine.name, now, tournament=spec.name)
        return status_of(tx, tournament)


def house_names(storage: Storage, now: datetime) -> list[str]:
    """Return the names of the house bots without their owner, connected or not."""
    with storage.read() as tx:
        return [_short(version) for version in _house_bots(tx, now)]


def latest_test(tx: Transaction, version: BotVersion) -> TournamentStatus | None:
    """Return the status of the latest test match of a bot version; None if it had none."""
    tests = select(Tournament).join(Entrant, col(Entrant.tournament_id) == Tournament.id)
    own = tests.where(col(Tournament.test).is_(True), Entrant.version_id == version.id)
    latest = tx.exec(own.order_by(col(Tournament.id).desc()).limit(1)).first()
    return None if latest is None else status_of(tx, latest)


def _house_bots(tx: Transaction, now: datetime) -> list[BotVersion]:
    """Return the newest version of each house bot whose token is valid, by name."""
    of_house = select(BotVersion).join(Bot, col(Bot.id) == BotVersion.bot_id)
    rows = of_house.join(Owner, col(Owner.id) == Bot.owner_id).where(Owner.name == HOUSE)
    newest: dict[int, BotVersion] = {}
    for version in tx.exec(rows.options(WITHOUT_REPORT).order_by(col(BotVersion.id))):
        if not token_problem(version, now):
            newest[version.bot_id] = version
    return sorted(newest.values(), key=lambda version: version.name)


def _short(version: BotVersion) -> str:
    """Return the name of a house bot without its owner and version."""
    return version.name.removeprefix(f"{HOUSE}/").partition("@")[0]


def _named_first(house: Sequence[BotVersion], against: Sequence[str]) -> list[BotVersion]:
    """Return the house bots, those named first. Raise UnknownError for a name that no house bot has."""
    by_name = {_short(version): version for version in house}
    for name in against:
        if name not in by_name:
            raise UnknownError(f"no house bot {name!r}{suggestion(name, [*by_name])} (setting house_bots)")
    named = [by_name[name] for name in dict.fromkeys(against)]
    return named + [version for version in house if version not in named]


def _require_none_open(tx: Transaction, mine: BotVersion) -> None:
    """Raise StateError if a bot of the same owner is in a test match that is not over."""
    owner = select(Bot.owner_id).where(Bot.id == mine.bot_id).scalar_subquery()
    tests = select(Tournament.name).join(Entrant, col(Entrant.tournament_id) == Tournament.id)
    theirs = tests.join(BotVersion, col(BotVersion.id) == Entrant.version_id).join(Bot)
    still_open = (col(Tournament.test).is_(True), col(Tournament.state).not_in(ENDED), Bot.owner_id == owner)
    if open_test := tx.exec(theirs.where(*still_open)).first():
        raise StateError(f"the test match {open_test} of {owner_of(mine.name)} is still being played")


def _seated(
    rules: Ruleset, mine: BotVersion, house: Sequence[BotVersion], named: int, ask: Ask
) -> list[BotVersion]:
    """Return the bots at the table; the first ``named`` house bots are always among them.

    Raise StateError if somebody is missing or cannot play.
    """
    named_bots = house[:named]
    house = [version for version in house if version.id != mine.id]
    ids = [mine.id, *(version.id for version in house)]
    answers = ask(ids, rules.to_object())
    if why := silence(answers):
        raise StateError(f"cannot determine whether {mine.name} is connected: {why}")
    here, lacks = find_connected(ids, answers), find_unable(ids, answers)
    if not here.get(mine.id):
        raise StateError(f"{mine.name} is not connected to a referee")
    if mine.id in lacks:
        raise StateError(f"{mine.name} cannot play {rules.label}: it asks for {'; '.join(lacks[mine.id])}")
    able = [version for version in house if here.get(version.id) and version.id not in lacks]
    needed = rules.players - 1
    if named > needed:
        raise StateError(f"a table of {rules.label} has seats for {needed} house bots, not {named}")
    for version in named_bots:
        if version not in able:
            missing = (
                f"cannot play {rules.label}" if here.get(version.id) else "is not connected to a referee"
            )
            raise StateError(f"{version.name} {missing}")
    if len(able) < needed:
        text = f"a table of {rules.label} needs {needed} house bots, and {len(able)} are connected"
        raise StateError(f"{text} (setting house_bots)")
    return [mine, *able[:needed]]


@dataclass(frozen=True, slots=True)
class Steps:
    """How far a bot version has come."""

    version: str
    """``owner/bot@number``."""
    connected: bool | None
    """Whether it is connected to a referee now; None if no referee says."""
    checked: bool | None
    """Whether it passed its latest check; None if there was none."""
    test: TournamentStatus | None
    """Its latest test match."""


def steps_of(storage: Storage, actor: Actor, bot: str, ask: Ask) -> Steps:
    """Return how far a bot of the actor's has come, or rather its newest version with a valid token.

    Raise NotAllowed, SpecError, UnknownError.
    """
    actor.require_owner(owner_of(bot), f"see how far {bot} has come")
    with storage.read() as tx:
        [version] = find_versions(tx, [bot], None)
        checked = None if version.check_report is None else version.check_passed_at is not None
        test = latest_test(tx, version)
        name, version_id = version.name, version.id
    connected = find_connected([version_id], ask([version_id], None)).get(version_id)
    return Steps(name, connected, checked, test)
