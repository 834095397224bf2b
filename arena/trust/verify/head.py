"""The first two lines of an export: what was settled before the first round, and the tournament's state."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from arena.core.formats import FORMATS, PAIRING_VERSION, Format, Setup
from arena.core.pairing.values import lots
from arena.core.parts import EntrantLine, HeadEntrant, HeadPart, TournamentPart
from arena.core.specs import form_text, is_in_form
from arena.trust.exports.lines import Export
from arena.trust.verify.report import Report
from arena.trust.verify.signatures import HEX_32, note_head_keys
from referee.deals.shuffle import luck, seed_hash
from referee.errors import RulesetError
from referee.ruleset import Ruleset, load_ruleset
from referee.ruleset.axes.session import most_deals

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,200}")
BOT = re.compile(r"([a-z0-9][a-z0-9-]{0,38})/[a-z0-9][a-z0-9-]{0,38}@[1-9][0-9]*")
ENDED = ("finished", "cancelled")


@dataclass(frozen=True, slots=True)
class Head:
    """A tournament whose first two lines are valid, against which all later ones are checked."""

    part: HeadPart
    tournament: TournamentPart
    format: Format
    ruleset: Ruleset
    luck: bytes
    """The bytes from which the sessions' seeds are derived."""
    names: Mapping[int, str]
    """The bots by their numbers as entrants, in order."""
    owners: Mapping[int, int]
    """For each entrant's number, a number that all entrants of its owner share."""
    deals: int
    """Maximum number of deals in a session."""
    setup: Setup
    """The settings by which rounds are paired."""

    @property
    def without_entrants(self) -> "Head":
        """What the deals of a match are checked against, however many entrants there are."""
        part = self.part.model_copy(update={"entrants": (), "referees": ()})
        tournament = self.tournament.model_copy(update={"entrants": ()})
        return replace(self, part=part, tournament=tournament, names={}, owners={})


def check_head(lines: Export, report: Report) -> Head:
    """Read the first two lines, and check them. Raise Difference."""
    part = lines.take_part(HeadPart)
    ruleset = _check_settled(lines, part)
    report.tournament, report.commitment, report.beacon = part.tournament, part.digest, part.beacon
    report.decision_key, report.is_rated = part.decision_key, part.rated
    report.seed_hash, report.ruleset_hash, report.pairing = part.seed_hash, part.ruleset_hash, part.pairing
    note_head_keys(lines, report, part)
    lines.close(part)
    tournament = lines.take_part(TournamentPart)
    report.state, report.entrants = tournament.state, len(tournament.entrants)
    report.beacon_value = tournament.beacon_value
    _check_listed(lines, tournament.entrants)
    seed = _seed(lines, part, tournament)
    _check_times(lines, part, tournament)
    lines.close(tournament)
    first: dict[str, int] = {}
    return Head(
        part=part,
        tournament=tournament,
        format=FORMATS[part.pairing],
        ruleset=ruleset,
        luck=luck(seed, tournament.beacon_value),
        names={entrant.number: entrant.bot for entrant in tournament.entrants},
        owners={bot.number: first.setdefault(bot.owner, bot.number) for bot in tournament.entrants},
        deals=most_deals(ruleset, part.deals or 0),
        setup=Setup(
            size=part.table_size,
            rounds=part.rounds,
            options=part.options,
            lots=lots(part.digest, tournament.beacon_value),
            owners_apart=not part.allow_same_owner,
        ),
    )


def _check_settled(lines: Export, part: HeadPart) -> Ruleset:
    """Check the contents of the first line by themselves, and return its ruleset."""
    if not NAME.fullmatch(part.tournament):
        raise lines.wrong(f"tournament: {part.tournament!r} is not a name")
    try:
        ruleset = load_ruleset(part.ruleset)
    except RulesetError as error:
        raise lines.wrong(f"ruleset.{error}") from None
    lines.same("ruleset_hash", part.ruleset_hash, ruleset.hash)
    resolved = ruleset.to_object()
    if any(value != resolved.get(name) for name, value in part.ruleset.items()):
        raise lines.wrong("ruleset: is not resolved")
    lines.same("table_size", part.table_size, ruleset.players)
    if part.pairing not in FORMATS:
        raise lines.wrong(f"pairing: {part.pairing!r} is not one of {', '.join(FORMATS)}")
    if part.pairing_version != PAIRING_VERSION:
        raise lines.wrong(
            f"pairing_version: is {part.pairing_version}, and this verifier has version {PAIRING_VERSION}"
        )
    for name in ("seed_hash", "decision_key"):
        text = getattr(part, name)
        if text is not None and not HEX_32.fullmatch(text):
            raise lines.wrong(f"{name}: is not 64 hexadecimal digits")
    _check_listed(lines, part.entrants)
    return ruleset


def _check_listed(lines: Export, entrants: Sequence[EntrantLine | HeadEntrant]) -> None:
    for place, entrant in enumerate(entrants, start=1):
        where = f"entrants.{place - 1}"
        lines.same(f"{where}.number", entrant.number, place)
        parts = BOT.fullmatch(entrant.bot)
        if parts is None:
            raise lines.wrong(f"{where}.bot: {entrant.bot!r} is not owner/bot@version")
        lines.same(f"{where}.owner", entrant.owner, parts[1])
    bots = [entrant.bot for entrant in entrants]
    if len(set(bots)) < len(bots):
        raise lines.wrong("entrants: a bot is listed twice")


def _seed(lines: Export, head: HeadPart, part: TournamentPart) -> bytes:
    ended = part.state in ENDED
    if part.seed is None:
        text = "is missing" if ended else "is not revealed before the tournament has ended"
        raise lines.wrong(f"seed: {text}")
    if not HEX_32.fullmatch(part.seed):
        raise lines.wrong("seed: is not 64 hexadecimal digits")
    seed = bytes.fromhex(part.seed)
    if seed_hash(seed) != head.seed_hash:
        raise lines.wrong("seed: is not the one whose hash stands in the head")
    if not ended:
        raise lines.wrong(f"state: is {part.state!r}, but the seed is revealed")
    if head.beacon is None and part.beacon_value is not None:
        raise lines.wrong("beacon_value: present, but the head has no beacon")
    if head.beacon is not None and part.beacon_value is None and part.started_at is not None:
        raise lines.wrong("beacon_value: is missing")
    if part.beacon_value is not None and not is_in_form(part.beacon_value, head.beacon_form):
        raise lines.wrong(f"beacon_value: is not {form_text(head.beacon_form)}, as the head says")
    return seed


def _check_times(lines: Export, head: HeadPart, part: TournamentPart) -> None:
    """Check that times are valid and in order: an arena whose clock is set back repeats its latest time."""
    now = check_time(lines, "created_at", part.created_at)
    now = check_time(lines, "locked_at", head.locked_at, now)
    now = check_time(lines, "started_at", part.started_at, now)
    check_time(lines, "finished_at", part.finished_at, now)
    if part.started_at is not None and head.locked_at is None:
        raise lines.wrong("started_at: present, but the head was never locked")


def check_time(lines: Export, name: str, text: str | None, after: datetime | None = None) -> datetime | None:
    """Check that a field is None, or a time with its zone, not before ``after``; return the later of the two.

    Raise Difference.
    """
    if text is None:
        return after
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise lines.wrong(f"{name}: {text!r} is not a time with a time zone")
    if after is not None and time < after:
        raise lines.wrong(f"{name}: {text} is before {after.isoformat()}, which came first")
    return time
