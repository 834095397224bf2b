"""The first line of an export: ruleset, entrants, seed and times."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from arena.exports.lines import Lines
from arena.exports.parts import TournamentPart
from arena.formats import FORMATS, Format
from arena.verify.report import Report
from referee.deals.shuffle import commitment
from referee.errors import RulesetError
from referee.ruleset import Ruleset, load_ruleset
from referee.ruleset.limits import most_deals

BOT = re.compile(r"([a-z0-9][a-z0-9-]{0,38})/[a-z0-9][a-z0-9-]{0,38}@[1-9][0-9]*")
HEX_32 = re.compile(r"[0-9a-f]{64}")
ENDED = ("finished", "cancelled")


@dataclass(frozen=True, slots=True)
class Head:
    """A tournament whose first line is right: what all that follows is held to."""

    part: TournamentPart
    format: Format
    ruleset: Ruleset
    seed: bytes
    names: Mapping[int, str]
    """Bots by the number of the entrant, in order."""
    deals: int
    """Deals in a session, at most."""


def check_head(lines: Lines, report: Report) -> Head:
    """Take the first line, and check it. Difference."""
    part = lines.take_part(TournamentPart)
    report.tournament, report.state = part.tournament, part.state
    report.entrants = len(part.entrants)
    ruleset = _ruleset(lines, part)
    if part.pairing not in FORMATS:
        raise lines.wrong(f"pairing: {part.pairing!r} is none of {', '.join(FORMATS)}")
    _check_entrants(lines, part)
    seed = _seed(lines, part)
    _check_times(lines, part)
    names = {entrant.number: entrant.bot for entrant in part.entrants}
    deals = most_deals(ruleset, part.deals or 0)
    lines.close(part)
    return Head(part, FORMATS[part.pairing], ruleset, seed, names, deals)


def _ruleset(lines: Lines, part: TournamentPart) -> Ruleset:
    try:
        ruleset = load_ruleset(part.ruleset)
    except RulesetError as error:
        raise lines.wrong(f"ruleset.{error}") from None
    lines.same("ruleset_hash", part.ruleset_hash, ruleset.hash)
    if part.ruleset != ruleset.to_object():
        raise lines.wrong("ruleset: is not resolved")
    lines.same("table_size", part.table_size, ruleset.players)
    return ruleset


def _check_entrants(lines: Lines, part: TournamentPart) -> None:
    for place, entrant in enumerate(part.entrants, start=1):
        where = f"entrants.{place - 1}"
        lines.same(f"{where}.number", entrant.number, place)
        found = BOT.fullmatch(entrant.bot)
        if found is None:
            raise lines.wrong(f"{where}.bot: {entrant.bot!r} is no owner/bot@version")
        lines.same(f"{where}.owner", entrant.owner, found[1])
    bots = [entrant.bot for entrant in part.entrants]
    if len(set(bots)) < len(bots):
        raise lines.wrong("entrants: a bot stands there twice")


def _seed(lines: Lines, part: TournamentPart) -> bytes:
    if not HEX_32.fullmatch(part.commitment):
        raise lines.wrong("commitment: is not 64 hexadecimal digits")
    if part.seed is None:
        ended = part.state in ENDED
        raise lines.wrong(
            "seed: is missing" if ended else "seed: is not revealed before the tournament has ended"
        )
    if not HEX_32.fullmatch(part.seed):
        raise lines.wrong("seed: is not 64 hexadecimal digits")
    seed = bytes.fromhex(part.seed)
    if commitment(seed) != part.commitment:
        raise lines.wrong("seed: is not the one that the commitment was made for")
    if part.state not in ENDED:
        raise lines.wrong(f"state: is {part.state!r}, but the seed is revealed")
    return seed


def _check_times(lines: Lines, part: TournamentPart) -> None:
    last: datetime | None = None
    for name in ("created_at", "started_at", "finished_at"):
        text = getattr(part, name)
        if text is None:
            continue
        try:
            time = datetime.fromisoformat(text)
        except ValueError:
            time = None
        if time is None or time.tzinfo is None:
            raise lines.wrong(f"{name}: {text!r} is no time with its zone")
        if last is not None and time < last:
            raise lines.wrong(f"{name}: is before what comes before it")
        last = time
