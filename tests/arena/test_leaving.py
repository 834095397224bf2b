"""Leaving never pays: every figure against every way of leaving, duplicate or not."""

from collections.abc import Callable, Generator, Mapping
from typing import Any

import pytest
from sqlalchemy import update
from sqlmodel import col, delete, select

from arena.core.elo import apply_match, match_weight
from arena.queries.meetings import crosstable
from arena.results.luck.references import weigh_due
from arena.results.ratings.rebuild import mend, rebuild
from arena.results.strength.fitting import fit_due
from arena.results.strength.pools import are_fitted
from arena.store.models import (
    BotVersion,
    Entrant,
    EntrantChances,
    EntrantLuck,
    EntrantSum,
    LuckTally,
    Match,
    Rating,
    Seat,
    SeatTally,
    Session,
    SessionRecords,
    Strength,
    StrengthFit,
    StrengthSums,
)
from arena.store.records import unpack_records
from arena.tournaments import corrections, entry
from referee.matches.match import MatchSpec, SessionResult
from tests.arena.exported import check, lines_of, play_by_table
from tests.arena.fakes import DECISION_KEY, ROOT
from tests.arena.world import World
from tests.referee.harness import FakeBot, Harness

LEAVER = 1
"""The id of the version that leaves."""
FEW = 9
"""It leaves once it has fewer cards."""

Run = Callable[[int, MatchSpec], Generator[SessionResult]]


def leaves(
    how: Callable[[Harness, FakeBot], None] | None, *, absent: bool = False, never: bool = False
) -> Run:
    """Play at a referee; in odd sessions, one bot leaves in this way, or answers illegally if it is None."""

    def run(_route: int, spec: MatchSpec) -> Generator[SessionResult]:
        harness = Harness()
        there = [bot.version_id for bot in spec.bots if not (absent and bot.version_id == LEAVER)]
        bots = [harness.connect(version, len(spec.sessions)) for version in there]
        match = harness.open(spec)
        results = match.take_results()
        while not (match.done or match.ended):
            for bot in bots:
                bot.read()
                for turn in list(bot.turns.values()):
                    few = turn.deal.hands[turn.seat].bit_count() < FEW
                    if bot.number == LEAVER and few and turn.info.number % 2 and not never:
                        if how is None:
                            bot.answer(turn, turn.deal.hands[turn.seat])
                        elif bot.here:
                            how(harness, bot)
                    else:
                        bot.play(turn, max)  # or the default actions of the one that left would win
            harness.advance(0.001 if any(bot.turns for bot in bots if bot.here) else 1)
            results += match.take_results()
        yield from sorted(results + match.take_results(), key=lambda result: result.number)

    return run


def quit_politely(harness: Harness, bot: FakeBot) -> None:
    harness.lobby.disconnect(bot.connection, harness.now, left=True)
    bot.turns.clear()


def lose_connection(harness: Harness, bot: FakeBot) -> None:
    harness.lobby.disconnect(bot.connection, harness.now)
    bot.turns.clear()


AFTER_CARDS: Mapping[str, Run] = {
    "fault": leaves(None),
    "quit": leaves(quit_politely),
    "disconnect": leaves(lose_connection),
}
ABSENT = {"absent": leaves(None, absent=True)}


def disqualify(world: World) -> None:
    gone = corrections.NewCorrection("owner-0/bot-0@1", "disqualified", "it left")
    corrections.correct(world.storage, ROOT, "cup", gone, world.clock(), DECISION_KEY)


def withdraw(world: World) -> None:
    with world.storage.read() as tx:
        bots = [*tx.exec(select(BotVersion.name).order_by(col(BotVersion.id)))]
    world.tournament_of(bots, name="next", format="swiss", rounds=1)
    entry.withdraw(world.storage, ROOT, "next", "owner-0/bot-0", world.clock())


BETWEEN: Mapping[str, Callable[[World], None]] = {"disqualified": disqualify, "withdrawn": withdraw}


# Figures, the higher the better, by version


def strengths(name: str, sign: int = 1) -> Callable[[World], dict[int, float]]:
    def read(world: World) -> dict[int, float]:
        with world.storage.read() as tx:
            return {row.version_id: sign * getattr(row, name) for row in tx.exec(select(Strength))}

    return read


def made(world: World) -> dict[int, float]:
    with world.storage.read() as tx:
        rows = tx.exec(select(LuckTally)).all()
        return {row.version_id: (row.points - row.expected) / row.deals for row in rows if row.deals}


def made_of_entrants(world: World) -> dict[int, float]:
    with world.storage.read() as tx:
        rows = tx.exec(select(Entrant, EntrantLuck).join(EntrantLuck)).all()
        return {one.version_id: (row.points - row.expected) / row.deals for one, row in rows if row.deals}


def points_by_seat(world: World) -> dict[int, float]:
    found: dict[int, float] = {}
    with world.storage.read() as tx:
        for row in tx.exec(select(SeatTally)):
            found[row.version_id] = found.get(row.version_id, 0) + row.points
    return found


def firsts_by_seat(world: World) -> dict[int, float]:
    found: dict[int, list[float]] = {}
    with world.storage.read() as tx:
        for row in tx.exec(select(SeatTally)):
            of_it = found.setdefault(row.version_id, [0.0, 0.0])
            of_it[0], of_it[1] = of_it[0] + row.first, of_it[1] + row.deals
    return {version: first / deals for version, (first, deals) in found.items() if deals}


def leads(world: World) -> dict[int, float]:
    """Return the points over all others, met head to head; for the others, only those among themselves."""
    with world.storage.read() as tx:
        names = dict(tx.exec(select(BotVersion.name, BotVersion.id)).all())
    found: dict[int, float] = dict.fromkeys(names.values(), 0.0)
    for line in crosstable(world.storage, [*names]):
        own, other = names[line.bot], names[line.opponent]
        if own == LEAVER or other != LEAVER:
            found[own] += line.met.lead
    return found


def elo(world: World) -> dict[int, float]:
    with world.storage.read() as tx:
        return {row.version_id: row.value for row in tx.exec(select(Rating))}


def standings(world: World) -> dict[int, float]:
    with world.storage.read() as tx:
        rows = tx.exec(select(Entrant.version_id, EntrantSum.raw).join(EntrantSum).order_by(col(Entrant.id)))
        return dict(rows.all())  # of the latest tournament


def chances(world: World) -> dict[int, float]:
    """Return how many chances the bots had, and how many they passed."""
    found: dict[int, float] = {}
    with world.storage.read() as tx:
        bots = dict(tx.exec(select(Entrant.id, Entrant.version_id)).all())
        for row in tx.exec(select(EntrantChances)):
            found[bots[row.entrant_id]] = found.get(bots[row.entrant_id], 0) + row.chances + row.passed
    return found


CHARGED = {
    "strength": strengths("value"),
    "rank": strengths("rank", -1),
    "best rank": strengths("best", -1),
    "worst rank": strengths("worst", -1),
    "tier": strengths("tier", -1),
    "ahead": strengths("ahead"),
    "made": made,
    "made in the tournament": made_of_entrants,
    "points by seat": points_by_seat,
    "firsts by seat": firsts_by_seat,
    "head to head": leads,
}
"""The figures for which it matters that the deals count for the bot that left."""
OTHERS = {"elo": elo, "standings": standings, "soft play": chances}
FIGURES = {**CHARGED, **OTHERS}
ORDINAL = {"rank", "best rank", "worst rank", "tier"}
"""They do not always change; and if one falls behind, others move up."""


LIMITS = {"decision_ms": 1000, "join_seconds": 10, "faults": 3, "sessions": 4, "rounds": 1, "format": "swiss"}


def played(world: World, run: Run, duplicate: bool) -> float:
    """Play a tournament that all play to its end, and one in which a bot leaves.

    Return the Elo that it has if it loses to all others of its table.
    """
    bots = world.register(12)
    world.finish(world.tournament_of(bots, name="before", deals=3, **LIMITS).id, leaves(None, never=True))
    before, deals = elo(world), 1 if duplicate else 3
    world.finish(world.tournament_of(bots, deals=deals, duplicate=duplicate, **LIMITS).id, run)
    count(world)
    with world.storage.read() as tx:
        cup = select(Seat).join(Match, col(Match.id) == Seat.match_id).where(Match.tournament_id == 2)
        match = next(seat.match_id for seat in tx.exec(cup) if seat.version_id == LEAVER)
        table = {seat.version_id: before[seat.version_id] for seat in tx.exec(cup) if seat.match_id == match}
    lost = {version: float(version != LEAVER) for version in table}
    return apply_match(table, lost, weight=match_weight(4, deals))[LEAVER]


def count(world: World) -> None:
    weigh_due(world.storage, world.clock, lambda: 0.0)
    fit_due(world.storage, world.clock())


def forget(world: World) -> None:
    """Count everything again as if nobody had left: no deal with a forfeit counts for anybody."""
    with world.storage.write() as tx:
        tx.connection().execute(update(Session).values(leaver=None))
    mended = mend(world.storage, ROOT, world.clock())
    assert mended.problem is None
    with world.storage.write() as tx:
        for table in (StrengthFit, Strength):
            tx.connection().execute(delete(table))
    count(world)


@pytest.fixture(scope="module")
def seen() -> dict[tuple[str, bool], Any]:
    """Return a place for what was seen in a way of leaving, by way and duplicate."""
    return {}


def figures(world: World) -> dict[str, dict[int, float]]:
    return {name: figure(world) for name, figure in FIGURES.items()}


@pytest.mark.parametrize("duplicate", [False, True])
@pytest.mark.parametrize("way", [*AFTER_CARDS, *ABSENT])
@pytest.mark.parametrize("figure", FIGURES)
def test_figure_when_a_bot_leaves_then_its_deals_count_for_it_as_they_stand_and_for_nobody_else(
    world: World, seen: dict[tuple[str, bool], Any], figure: str, way: str, duplicate: bool
) -> None:
    if (way, duplicate) not in seen:
        lost = played(world, {**AFTER_CARDS, **ABSENT}[way], duplicate)
        assert rebuild(world.storage).problem is None
        assert check(lines_of(world)).problem is None
        counted, deals = figures(world), deals_of_leaver(world)
        forget(world)
        seen[way, duplicate] = counted, figures(world), deals, lost
    counted, forgotten, deals, lost = seen[way, duplicate]
    here, there = counted[figure], forgotten[figure]
    if figure == "elo":
        assert here[LEAVER] == pytest.approx(lost)
    elif figure == "standings":
        assert here[LEAVER] == sum(deals)
    elif figure in ORDINAL:
        assert here.get(LEAVER, 0) <= there.get(LEAVER, 0)
    elif figure in CHARGED and way in AFTER_CARDS:
        assert here[LEAVER] < there.get(LEAVER, 0)
    else:
        assert here.get(LEAVER) == pytest.approx(there.get(LEAVER))
    for version in set(there) - {LEAVER} if figure not in ORDINAL else ():
        assert here[version] == pytest.approx(there[version], abs=1e-9), version


def deals_of_leaver(world: World) -> list[int]:
    """Return the points of all deals in which it sat, as they are in the records."""
    with world.storage.read() as tx:
        seat = tx.exec(select(Seat).where(Seat.version_id == LEAVER).order_by(col(Seat.id).desc())).first()
        assert seat is not None
        rows = tx.exec(
            select(Session.seating, SessionRecords.records)
            .join(SessionRecords, col(SessionRecords.session_id) == Session.id)
            .where(Session.match_id == seat.match_id)
        ).all()
    return [
        deal["points"][seating.index(seat.position)]
        for seating, records in rows
        for deal in unpack_records(records)
    ]


@pytest.mark.parametrize("duplicate", [False, True])
@pytest.mark.parametrize("way", BETWEEN)
@pytest.mark.parametrize("figure", FIGURES)
def test_figure_when_a_bot_leaves_between_matches_then_what_it_played_counts_as_before(
    world: World, seen: dict[tuple[str, bool], Any], figure: str, way: str, duplicate: bool
) -> None:
    if (way, duplicate) not in seen:
        limits: dict[str, object] = {
            "duplicate": duplicate,
            "deals": 1 if duplicate else 3,
            "format": "swiss",
        }
        world.finish(world.tournament(12, rounds=1, **limits).id, play_by_table)
        count(world)
        before = figures(world)
        BETWEEN[way](world)
        count(world)
        seen[way, duplicate] = before, figures(world)
    before, after = seen[way, duplicate]
    assert LEAVER in before[figure]
    assert after[figure] == before[figure]


def test_pool_when_no_deal_was_played_to_the_end_then_no_fit_is_due(world: World) -> None:
    bots = world.register(4)
    world.finish(world.tournament_of(bots, deals=1, **LIMITS | {"sessions": 1}).id, leaves(None))
    with world.storage.read() as tx:
        assert tx.exec(select(StrengthSums.forfeited)).one() == 1
    assert (are_fitted(world.storage), fit_due(world.storage, world.clock())) == (True, 0)
