"""Whether a bot gives way to one other at its table more often than to the rest (``arena.core.softplay``)."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlmodel import col, select

from arena.actors import Actor, Role
from arena.core.cursors import next_place, read_place
from arena.core.softplay import ALLOWED, LEVEL, Chances, treatments
from arena.store.models import BotVersion, Encounter, Entrant, EntrantChances
from arena.store.storage import Storage, among
from arena.tournaments.overview import find_tournament


@dataclass(frozen=True, slots=True)
class SoftPlayLine:
    """How a bot treats one other, beside how it treats the rest in the same situations."""

    bot: str
    """The bot that could have beaten the other one's plays."""
    other: str
    """The bot whose plays these were."""
    deals: int
    """Deals that the two played together, in rounds that have closed."""
    chances: int
    """Turns at which it could have beaten a play of the other at no cost, as also happened with the rest."""
    passed: int
    """At how many of them it passed."""
    rest: float
    """The share of such turns at which it passes against the rest."""
    difference: float
    """The share that it passes against the other, less ``rest``."""
    low: float
    """The lower limit of the difference, which allows for all pairs that were looked at."""
    high: float
    """The upper limit."""
    stands_out: bool
    """Whether the lower limit is above ``allowed``. This is a reason to look, not a verdict."""


@dataclass(frozen=True, slots=True)
class SoftPlay:
    """Which bots of a tournament give way to one other more often than to the rest."""

    tournament: str
    looked_at: int
    """How many pairs of a bot and one other were looked at; both directions count."""
    allowed: float
    """Differences up to this may have honest reasons."""
    level: float
    """How often, at most, one or more honest pairs of such a tournament stand out."""
    pairs: Sequence[SoftPlayLine]
    """Those with the largest lower limits first."""
    next: str | None
    """Cursor of the next page; None if there is none."""


def soft_play(
    storage: Storage, actor: Actor, name: str, limit: int = 100, cursor: str | None = None
) -> SoftPlay:
    """Return how often bots of a tournament passed when they could have beaten another one's play at no cost.

    It covers the rounds that workers have taken in. Raise NotAllowed, SpecError for a wrong cursor,
    UnknownError.
    """
    what = f"see who gives way to whom in {name}"
    actor.require(Role.ORGANISER, what)
    question = ("soft-play", name)
    place = read_place(question, cursor)
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        actor.require_organiser(tournament.organiser_id, what)
        ids = select(Entrant.id).where(Entrant.tournament_id == tournament.id)
        rows = tx.exec(select(EntrantChances).where(col(EntrantChances.entrant_id).in_(ids))).all()
        counts = {
            (row.entrant_id, row.other_id, row.situation): Chances(row.chances, row.passed) for row in rows
        }
        pairs = treatments(counts)
        page = pairs[place : place + limit]
        entrant_ids = {id for pair in page for id in (pair.bot, pair.other)}
        versions = select(Entrant.id, BotVersion.name).join(
            BotVersion, col(BotVersion.id) == Entrant.version_id
        )
        names = dict(tx.exec(versions.where(among(Entrant.id, entrant_ids))).all())
        met = select(Encounter.entrant_id, Encounter.other_id, Encounter.deals)
        deals = {
            frozenset((one, other)): number
            for one, other, number in tx.exec(met.where(among(Encounter.entrant_id, entrant_ids)))
        }
    lines = [
        SoftPlayLine(
            bot=names[pair.bot],
            other=names[pair.other],
            deals=deals.get(frozenset((pair.bot, pair.other)), 0),
            chances=pair.chances,
            passed=pair.passed,
            rest=pair.rest,
            difference=pair.difference,
            low=pair.low,
            high=pair.high,
            stands_out=pair.stands_out,
        )
        for pair in page
    ]
    following = next_place(question, place + limit, len(pairs))
    return SoftPlay(name, len(pairs), ALLOWED, LEVEL, lines, following)
