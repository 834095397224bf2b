"""What cards were worth: computed by workers, exactly once, and taken in with all that follows from it."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from math import sqrt
from random import Random
from statistics import mean, stdev
from typing import Any

import pytest
from sqlmodel import col, delete, func, select

from arena.core.elo import TWO_SIDED
from arena.core.luck import (
    AT_FIRST,
    FEW,
    MOST,
    UNIT,
    Luck,
    LuckLine,
    Slope,
    above_mean,
    expected,
    luck_told,
    made,
    made_above_mean,
    share_left,
    share_told,
)
from arena.errors import UnknownError
from arena.host.settings import Settings
from arena.queries.highlights import HighlightQuery, find_deals
from arena.queries.luck import deal_luck, entrants_luck, references, session_luck
from arena.queries.profiles import profile
from arena.queries.sessions import shown_deals
from arena.results.luck.references import matches_wait, weigh_due
from arena.results.ratings.rebuild import mend, rebuild
from arena.results.ratings.recheck import ask_for_check, recheck_due
from arena.store.models import (
    EntrantLuck,
    Highlight,
    HighlightKind,
    LuckTally,
    Match,
    MatchState,
    PlacePiece,
    PoolSlope,
    ReferenceCheck,
    Round,
    Session,
    SessionRecords,
    SessionReference,
    Tournament,
)
from arena.store.records import pack_records, unpack_records
from arena.store.storage import Storage
from arena.tournaments.overview import find_tournament
from arena.tournaments.roster import EntrantInfo, list_entrants
from arena.trust.verify import check_export, unproven
from arena.trust.verify import references as references_checked
from arena.trust.verify.report import LEFT_OUT
from referee.deals.session import Setup
from referee.reference.values import PIECES, REFERENCE, record_values
from referee.rules.plays import Rules
from referee.rules.rulebook import rules_of
from referee.ruleset import load_ruleset
from tests.arena.cli import make_arena
from tests.arena.exported import check, lines_of, play_by_table, with_new_digests
from tests.arena.fakes import ROOT, Clock
from tests.arena.random_play import play_randomly
from tests.arena.servers import Postgres
from tests.arena.test_crashes import CrashingStorage, Killed, dying_at
from tests.arena.world import World

LEADS = load_ruleset("chinese").to_object() | {"name": "leads", "lead": "winner"}
"""A ruleset under which the winner of a deal leads the next one."""

MANY = {
    **load_ruleset("chinese").to_object(),
    "name": "many",
    "players": 8,
    "decks": 4,
    "hand_size": 20,
    "exchange": "loser_to_winner",
    "plays": ["single", "pair", "triple", "two_pair", "bare_quads", "run", "pair_run", "triple_run"],
    "five_card_order": ["two_pair"],
}
"""A ruleset under which hands have thousands of plays."""


class Steps:
    """A clock by which each look takes a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def weigh(world: World, seconds: float = 1e9) -> None:
    weigh_due(world.storage, world.clock, Steps(), seconds=seconds)


def recheck(world: World, seconds: float = 1e9) -> ReferenceCheck:
    """Let workers compute everything again, and return what they found."""
    ask_for_check(world.storage, ROOT, world.clock())
    for _ in range(1000):
        recheck_due(world.storage, world.clock, Steps(), seconds=seconds)
        with world.storage.read() as tx:
            latest = tx.exec(select(ReferenceCheck).order_by(col(ReferenceCheck.id).desc())).first()
        if latest is not None and latest.ended_at:
            return latest
    raise AssertionError


def kept(storage: Storage) -> list[tuple[object, ...]]:
    """Return all that follows from the reference."""
    with storage.read() as tx:
        tables = (PoolSlope, LuckTally, EntrantLuck, SessionReference)
        rows = [row.model_dump() for table in tables for row in tx.exec(select(table)).all()]
        rounds = [(row.id, row.weighed, row.beta, row.weighed_after) for row in tx.exec(select(Round))]
        best = [row.model_dump() for row in tx.exec(select(Highlight))]
    return sorted(map(repr, (*rows, *rounds, *best)))  # type: ignore[arg-type]


def forget(storage: Storage) -> None:
    """Let all rounds wait again, as if no worker had done anything."""
    with storage.write() as tx:
        for table in (SessionReference, PoolSlope, LuckTally, EntrantLuck):
            tx.exec(delete(table))
        tx.exec(delete(Highlight).where(col(Highlight.kind).in_(["best-made", "worst-made"])))
        for round in tx.exec(select(Round)):
            round.weighed, round.beta, round.weighed_after = False, None, None


def test_expected_when_a_table_has_sums_then_it_is_beta_of_the_distance_from_the_mean() -> None:
    sums, beta = (31, -7, 2, -26), 37
    exact = [Fraction(beta * own, 8) for own in sums]
    assert expected(sums, 8, beta) == tuple(map(round, exact))
    assert expected((4, -4, 1, -1), 8, 12) == (6, -6, 2, -2)  # the last are 1.5, and 0.5 is 0
    assert expected((1, -1), 2, 1) == (0, 0)
    assert expected((10, 20, 60), 2, UNIT) == (-640, -320, 960)  # their mean is 30, or 15 a play
    assert made((5, -5, 0), (-640, -320, 960)) == (960, 0, -960)
    assert above_mean((0, -3, -4)) == (149, -43, -107)
    assert made_above_mean((0, -3, -4), (-64, 0, 64)) == (213, -43, -171)


def test_beta_when_there_are_few_deals_then_it_is_fixed_and_else_the_best_slope() -> None:
    deals = [((8 * k, -8 * k, 0), (3 * k, -3 * k, 0)) for k in range(1, FEW + 1)]
    slope = Slope()
    for sums, points in deals[1:]:
        slope.add(sums, 2, points)
    assert slope.beta() == AT_FIRST
    slope.add(deals[0][0], 2, deals[0][1])
    assert slope.beta() == 3 * UNIT // 4  # 3 points for 4 of the reference's
    steep = Slope()
    for sums, points in deals:
        steep.add(sums, 16, points)
    assert steep.beta() == MOST
    assert Slope(FEW, 0, 0).beta() == AT_FIRST
    assert Slope(FEW, 10, -5).beta() == 0


def test_luck_when_deals_are_added_then_means_and_errors_are_those_of_the_deals() -> None:
    deals = [(7, 100), (-3, -64), (0, 5), (12, 300)]
    luck = Luck()
    for points, share in deals:
        luck.add(UNIT * points, share)
    line = luck.line()
    for value, plus_minus, numbers in (
        (line.points, line.points_plus_minus, [points for points, _ in deals]),
        (line.expected, line.expected_plus_minus, [share / UNIT for _, share in deals]),
        (line.made, line.made_plus_minus, [points - share / UNIT for points, share in deals]),
    ):
        assert value == pytest.approx(mean(numbers))
        assert plus_minus == pytest.approx(TWO_SIDED * stdev(numbers) / sqrt(len(deals)))
    assert Luck(1, 7, 49).line().points_plus_minus is None


def test_luck_when_it_is_told_then_it_says_what_was_made_and_what_was_dealt() -> None:
    lucky, unlucky = Luck(), Luck()
    for points, share in [(9, 2.0), (-3, -1.0), (2, 1.0)]:
        lucky.add(UNIT * points, int(share * UNIT))
        unlucky.add(-UNIT * points, int(-share * UNIT))
    told = "2.00 ± 5.19 points a deal above what its cards were worth; it was dealt 0.67 above average"
    assert luck_told(lucky.line()) == told
    assert luck_told(unlucky.line()) == told.replace("above", "below")
    assert luck_told(Luck(1, UNIT, UNIT**2).line()).startswith("1.00 points a deal above what")


def test_share_left_of_bots_is_that_of_the_variances_of_all_their_deals() -> None:
    deals = [[(9, 6.0), (-3, -2.0), (2, 1.0)] * FEW, [(5, 3.0), (-8, -5.0)] * FEW]
    lines = []
    for of_bot in deals:
        luck = Luck()
        for points, share in of_bot:
            luck.add(UNIT * points, int(share * UNIT))
        lines.append(luck.line())
    whole = sum(len(of_bot) * stdev(points for points, _ in of_bot) ** 2 for of_bot in deals)
    left = sum(len(of_bot) * stdev(points - share for points, share in of_bot) ** 2 for of_bot in deals)
    assert share_left([*lines, Luck(1, 7, 49).line()]) == pytest.approx(left / whole)
    assert share_told(lines) is None
    assert share_left([Luck(3, 8, 94).line()]) is None


def test_share_told_when_the_reference_says_little_then_it_says_how_little() -> None:
    luck = Luck()
    for number in range(2 * FEW):
        luck.add([6, -6, 2, -2][number % 4] * UNIT, [1, -1, -2, 2][number % 4] * UNIT)
    left = (5**2 + 4**2) / (6**2 + 2**2)
    assert share_left([luck.line()]) == pytest.approx(left)
    assert "explain only 0 % of" in str(share_told([luck.line()]))


@pytest.mark.parametrize("duplicate", [False, True])
def test_weighing_when_a_round_has_ended_then_each_session_has_the_reference_of_its_deals(
    world: World, duplicate: bool
) -> None:
    fields = {"duplicate": True, "deals": 1} if duplicate else {}
    world.finish(world.tournament(8, rounds=2, sessions=4, **fields).id, play_randomly)
    weigh(world)
    rules = rules_of("chinese")
    with world.storage.read() as tx:
        rows = tx.exec(
            select(SessionReference, SessionRecords.records).join(
                SessionRecords, col(SessionRecords.session_id) == SessionReference.session_id
            )
        ).all()
        assert len(rows) == len(tx.exec(select(Session.id)).all()) == 16
        for row, records in rows:
            assert row.reference == REFERENCE.name
            assert row.worth == [[*record_values(rules, one)] for one in unpack_records(records)]
        assert all(round.weighed and round.beta is not None for round in tx.exec(select(Round)))
        slope = tx.exec(select(PoolSlope)).one()
        assert slope.deals == sum(len(points) for points in tx.exec(select(Session.deal_points)))
        tallies = tx.exec(select(LuckTally)).all()
        entrants = tx.exec(select(EntrantLuck)).all()
        assert len(tallies) == len(entrants) == 8
        for of_kind in (tallies, entrants):
            assert sum(row.deals for row in of_kind) == 4 * slope.deals
            assert sum(row.points for row in of_kind) == 0
            assert sum(row.squares for row in of_kind) == sum(
                one * one
                for deals in tx.exec(select(Session.deal_points))
                for points in deals
                for one in above_mean(points)
            )
        kinds = {*tx.exec(select(Highlight.kind)).all()}
    assert kinds >= {HighlightKind.BEST_MADE, HighlightKind.WORST_MADE}
    assert rebuild(world.storage).problem is None


def test_weighing_when_it_stops_anywhere_then_it_ends_as_if_it_had_not(world: World) -> None:
    world.finish(world.tournament(8, rounds=2).id, play_randomly)
    with world.storage.read() as tx:
        before = [row.model_dump() for row in tx.exec(select(SessionReference))]
    assert before == []
    for _ in range(60):
        weigh(world, seconds=4.0)  # a session, or the taking in of a round
    stopped = kept(world.storage)
    forget(world.storage)
    weigh(world)
    weigh(world)
    assert kept(world.storage) == stopped
    assert len(stopped) > 2 * 2 * 3 * 2


def test_weighing_when_it_dies_at_any_commit_then_all_is_taken_in_once_and_the_same(world: World) -> None:
    world.finish(world.tournament(8, rounds=2, sessions=1, deals=1).id, play_randomly)
    weigh(world)
    right = kept(world.storage)
    sessions_and_rounds = 2 * 2 + 2
    for place in range(sessions_and_rounds):
        for when in ("before", "after"):
            forget(world.storage)
            with pytest.raises(Killed):
                weigh_due(
                    CrashingStorage(world.storage, dying_at(place, when)), world.clock, Steps(), seconds=1e9
                )
            weigh(world)
            assert kept(world.storage) == right, (place, when)


def test_weighing_when_a_ruleset_is_costly_then_it_delays_no_other_and_goes_on_where_it_was(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What places are worth is computed in pieces, each of which is stored, and computed once."""
    computed: list[tuple[Setup, int]] = []

    def piece_of(rules: Rules, setup: Setup, piece: int) -> list[int]:
        assert len(computed) < 3, "a worker dies here"
        computed.append((setup, piece))
        return [len(computed)] * rules.ruleset.players

    monkeypatch.setattr("arena.results.luck.references.place_piece", piece_of)
    names = world.register(4)
    for name, ruleset in (("costly", LEADS), ("cheap", "chinese")):
        fields = {"name": name, "ruleset": ruleset, "sessions": 1, "deals": 2}
        world.finish(world.tournament_of(names, **fields).id, play_randomly)
    with pytest.raises(AssertionError, match="dies here"):
        weigh(world)
    assert done(world, "cheap") + len(computed) >= 1
    while not done(world, "cheap"):
        with suppress(AssertionError):
            weigh(world)
    assert not done(world, "costly")
    with world.storage.read() as tx:
        assert len(tx.exec(select(PlacePiece)).all()) == len(set(computed)) == 3
    monkeypatch.undo()
    weigh(world)
    assert done(world, "costly")
    with world.storage.read() as tx:
        pieces = tx.exec(select(PlacePiece.setup, func.count()).group_by(PlacePiece.setup)).all()
        assert {count for _, count in pieces} == {PIECES}


def done(world: World, name: str) -> bool:
    """Return whether the only round of a tournament was taken in."""
    with world.storage.read() as tx:
        rounds = select(Round.weighed).join(Tournament, col(Tournament.id) == Round.tournament_id)
        return tx.exec(rounds.where(Tournament.name == name)).one()


def test_weighing_when_a_ruleset_has_too_many_plays_then_it_has_no_reference(world: World) -> None:
    names = world.register(8)
    world.finish(world.tournament_of(names, ruleset=MANY, sessions=1, deals=1).id, play_randomly)
    weigh(world)
    assert done(world, "cup")
    with world.storage.read() as tx:
        [row] = tx.exec(select(SessionReference)).all()
        assert row.worth == []
        assert not tx.exec(select(PlacePiece)).all()
    assert check(lines_of(world)).problem is None
    assert rebuild(world.storage).problem is None


def test_weighing_when_workers_do_it_at_once_on_postgresql_then_it_counts_once(
    postgres: Postgres, request: pytest.FixtureRequest
) -> None:
    with Storage(postgres.create_migrated(request.node.name[5:50])) as storage:
        world = World(storage, Clock())
        world.finish(world.tournament(8, rounds=2, sessions=4).id, play_randomly)
        weigh(world)
        right = kept(storage)
        forget(storage)
        with ThreadPoolExecutor(4) as workers:
            for done in [workers.submit(weigh, world) for _ in range(4)]:
                done.result()
        assert kept(storage) == right


def test_weighing_when_two_workers_do_it_at_once_then_it_counts_once(world: World) -> None:
    world.finish(world.tournament(8, rounds=2).id, play_randomly)
    clock, other = Steps(), Steps()

    def meanwhile() -> bool:
        weigh_due(world.storage, world.clock, other, seconds=2.0)
        return False

    weigh_due(world.storage, world.clock, clock, seconds=1e9, stopping=meanwhile)
    with world.storage.read() as tx:
        slope = tx.exec(select(PoolSlope)).one()
        assert slope.deals == sum(len(points) for points in tx.exec(select(Session.deal_points)))
    assert rebuild(world.storage).problem is None


def test_weighing_when_it_is_of_a_test_match_or_a_match_waits_then_nothing_is_computed(
    world: World,
) -> None:
    world.finish(world.tournament(4, rounds=1).id, play_randomly)
    with world.storage.write() as tx:
        tx.exec(select(Tournament)).one().test = True
    weigh(world)
    with world.storage.read() as tx:
        assert tx.exec(select(SessionReference)).all() == []
        assert [(round.weighed, round.beta) for round in tx.exec(select(Round))] == [(True, None)]
    waits = world.tournament(4, name="next", rounds=1)
    world.advance(waits.id)
    assert matches_wait(world.storage, world.clock())
    with world.storage.write() as tx:
        match = tx.exec(select(Match).where(Match.state == MatchState.WAITING)).one()
        match.problem = "a bot is away"
    assert not matches_wait(world.storage, world.clock())


def test_weighing_when_records_cannot_be_followed_then_the_session_counts_for_nothing(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.finish(world.tournament(4, rounds=1).id, play_randomly)
    with world.storage.write() as tx:
        row = tx.exec(select(SessionRecords)).all()[0]
        row.records = pack_records(['{"deal": 1}'])
        broken = row.session_id
    weigh(world)
    with world.storage.read() as tx:
        assert tx.get_one(SessionReference, broken).worth == []
        assert tx.exec(select(PoolSlope)).one().deals == 4
    assert "cannot be computed" in caplog.text


def test_recount_when_what_follows_from_the_reference_is_wrong_then_it_is_found_and_corrected(
    world: World,
) -> None:
    world.finish(world.tournament(8, rounds=3, sessions=6, deals=5).id, play_randomly)
    weigh(world)
    right = kept(world.storage)
    with world.storage.read() as tx:
        betas = [round.beta for round in tx.exec(select(Round))]
    assert betas[0] == AT_FIRST
    assert betas[1] != AT_FIRST
    for table in (PoolSlope, LuckTally, EntrantLuck):
        with world.storage.write() as tx:
            tx.exec(select(table)).first().deals += 1  # type: ignore[union-attr]
        assert rebuild(world.storage).problem is not None
        assert mend(world.storage, ROOT, world.clock()).mended == 1
        assert kept(world.storage) == right
    with world.storage.write() as tx:
        row = tx.exec(select(SessionReference)).all()[3]
        row.worth = [[one + 4000 * seat for seat, one in enumerate(of_deal)] for of_deal in row.worth]
    assert rebuild(world.storage).problem is not None
    again = recheck(world)
    assert (again.sessions, again.deals, again.wrong, again.problem) == (36, 180, 1, None)
    assert kept(world.storage) == right
    with world.storage.write() as tx:
        tx.get_one(Round, 2).beta = 5
    assert rebuild(world.storage).problem == "cup, round 2: its beta is wrong"
    again = recheck(world)
    assert (again.wrong, again.betas) == (0, 1)
    assert rebuild(world.storage).problem is None


def test_luck_of_a_deal_and_of_bots_is_that_of_the_records(pool: World) -> None:
    storage = pool.storage
    by_bot: dict[str, list[tuple[float, float]]] = {}
    for place in sessions(storage, "cup"):
        records = shown_deals(storage, *place)
        for record, luck in zip(records, session_luck(storage, *place), strict=True):
            assert luck == deal_luck(storage, *place, record["deal"])
            assert luck is not None
            assert luck.expected is not None
            assert luck.made is not None
            assert luck.beta is not None
            worth = record_values(rules_of("chinese"), record)
            assert luck.worth == tuple(one / REFERENCE.parts for one in worth)
            average = mean(luck.worth)
            for seat, bot in enumerate(record["seats"]):
                assert luck.expected[seat] == pytest.approx(
                    luck.beta * (luck.worth[seat] - average), abs=0.5 / UNIT
                )
                points = record["points"][seat] - mean(record["points"])
                assert luck.made[seat] == points - luck.expected[seat]
                by_bot.setdefault(bot, []).append((points, luck.expected[seat]))
    found = luck_in(storage, "cup")
    for entrant in list_entrants_of(storage, "cup"):
        deals = by_bot[entrant.name]
        line = found[entrant.number]
        assert line.deals == len(deals)
        assert line.points == pytest.approx(mean(points for points, _ in deals))
        assert line.expected == pytest.approx(mean(share for _, share in deals))
        assert line.made == pytest.approx(mean(points - share for points, share in deals))
    assert len(by_bot) == len(found) == 8
    bot, deals = next(iter(by_bot.items()))
    everywhere = luck_in(storage, "later")
    [in_pool] = profile(storage, bot).pools
    assert in_pool.luck is not None
    assert (in_pool.ruleset, in_pool.table_size) == ("chinese@1", 4)
    more = next((line for n, line in everywhere.items() if named(storage, "later")[n] == bot), None)
    assert in_pool.luck.deals == len(deals) + (0 if more is None else more.deals)


def test_deals_when_those_best_and_worst_made_are_asked_for_then_no_seat_made_more_or_less(
    pool: World,
) -> None:
    best, worst = [], []
    for place in (*sessions(pool.storage, "cup"), *sessions(pool.storage, "later")):
        lucks = [luck.made for luck in session_luck(pool.storage, *place) if luck and luck.made]
        best.append(max(max(of_deal) for of_deal in lucks))
        worst.append(min(min(of_deal) for of_deal in lucks))
    for kind, values in (
        (HighlightKind.BEST_MADE, best),
        (HighlightKind.WORST_MADE, [-value for value in worst]),
    ):
        found = find_deals(pool.storage, HighlightQuery(kind), 1000).deals
        right = sorted((round(value) for value in values if value > 0), reverse=True)
        assert [line.value for line in found] == right
        first = found[0]
        at = (first.tournament, first.round, first.table, first.session, first.deal)
        luck = deal_luck(pool.storage, *at)
        assert luck is not None
        assert luck.made is not None
        assert round(max(luck.made) if kind is HighlightKind.BEST_MADE else -min(luck.made)) == first.value


def luck_in(storage: Storage, tournament: str) -> dict[int, LuckLine]:
    """Return the luck of a tournament's entrants by number."""
    with storage.read() as tx:
        return entrants_luck(tx, find_tournament(tx, tournament))


def sessions(storage: Storage, tournament: str) -> list[tuple[str, int, int, int]]:
    """Return the places of the sessions of a tournament."""
    with storage.read() as tx:
        rows = tx.exec(
            select(Round.number, Match.table_number, Session.number)
            .join(Match, col(Match.round_id) == Round.id)
            .join(Session, col(Session.match_id) == Match.id)
            .join(Tournament, col(Tournament.id) == Round.tournament_id)
            .where(Tournament.name == tournament)
        )
        return [(tournament, *row) for row in rows]


def list_entrants_of(storage: Storage, tournament: str) -> list[EntrantInfo]:
    with storage.read() as tx:
        return [*list_entrants(tx, find_tournament(tx, tournament))]


def named(storage: Storage, tournament: str) -> dict[int, str]:
    return {entrant.number: entrant.name for entrant in list_entrants_of(storage, tournament)}


def test_luck_when_a_round_is_not_taken_in_then_a_deal_has_only_what_its_cards_were_worth(
    world: World,
) -> None:
    world.finish(world.tournament(4, rounds=1).id, play_randomly)
    place = ("cup", 1, 1, 1)
    assert session_luck(world.storage, *place) == [None, None]
    weigh(world, seconds=6.0)
    for place in sessions(world.storage, "cup"):
        for luck in session_luck(world.storage, *place):
            assert luck is None or (luck.beta, luck.expected, luck.made) == (None, None, None)
    assert luck_in(world.storage, "cup") == {}
    with pytest.raises(UnknownError, match="no session 9"):
        session_luck(world.storage, "cup", 1, 1, 9)


def test_references_when_rounds_wait_then_it_is_told_how_many_and_since_when(world: World) -> None:
    world.finish(world.tournament(8, rounds=2).id, play_randomly)
    with world.storage.read() as tx:
        ended = min(round.finished_at for round in tx.exec(select(Round)) if round.finished_at)
    before = references(world.storage, ROOT)
    assert (before.reference, before.plays, before.hash) == (REFERENCE.name, REFERENCE.plays, REFERENCE.hash)
    assert (before.rounds, before.sessions, before.deals, before.oldest) == (2, 12, 0, ended)
    weigh(world)
    after = references(world.storage, ROOT)
    assert (after.rounds, after.sessions, after.deals, after.oldest) == (0, 0, 24, None)


def test_references_when_one_is_wrong_then_workers_find_and_correct_it_when_asked(
    pool: World, migrated: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    cli = make_arena(migrated.data, capsys)
    assert cli("rating", "references").out.startswith("reference-1: 120 rated deals are done\n")
    asked = cli("rating", "references", "--rebuild").out
    assert asked == cli("rating", "references", "--rebuild").out
    assert "being computed again, asked for" in asked
    recheck(pool)
    assert "\ncomputed again, asked for" in cli("rating", "references").out
    with pool.storage.write() as tx:
        row = tx.exec(select(SessionReference)).all()[0]
        right, row.worth = row.worth, [[0] * len(of_deal) for of_deal in row.worth]
        number = row.session_id
    cli("rating", "references", "--rebuild")
    recheck(pool, seconds=3.0)  # it stops at many places in between
    found = cli("rating", "references")
    assert found.status == 1
    assert "wrong: 1 sessions and beta of" in found.out
    with pool.storage.read() as tx:
        assert tx.get_one(SessionReference, number).worth == right
        assert len({check.deals for check in tx.exec(select(ReferenceCheck))}) == 1  # none twice
    assert cli("rating", "references", "--rebuild").status == 0
    recheck(pool)
    assert cli("rating", "references").status == 0
    assert cli("rating", "rebuild").out.startswith("ok: ")


def test_export_when_references_are_computed_then_only_their_lines_are_new_and_verify_computes_them(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.finish(world.tournament(8, rounds=2, sessions=4).id, play_by_table)
    before = lines_of(world)
    assert check(before).weighed == 0
    weigh(world)
    lines = lines_of(world)
    assert [line for line in lines if '"part":"reference"' not in line] == before
    parts = [json.loads(line) for line in lines if '"part":"reference"' in line]
    assert len(parts) == 4
    with world.storage.read() as tx:
        betas = {round.number: round.beta for round in tx.exec(select(Round))}
    for part in parts:
        assert (part["reference"], part["hash"], part["beta"]) == (
            *(REFERENCE.name, REFERENCE.hash),
            betas[part["round"]],
        )
    monkeypatch.setattr(references_checked, "SAMPLE", 5)
    report = check_export((line.encode() for line in lines), rng=Random(1))
    assert (report.problem, report.weighed, report.computed) == (None, 32, 5)
    whole = check_export((line.encode() for line in lines), references=True)
    assert (whole.problem, whole.weighed, whole.computed) == (None, 32, 32)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda part: part["sessions"][1]["worth"][1].__setitem__(0, 9), "sessions.1.worth.1: is [9, "),
        (lambda part: part["sessions"][1]["worth"].pop(), "sessions.1.worth: deals: is 1, should be 2"),
        (lambda part: part["sessions"][1]["worth"][0].pop(), "sessions.1.worth.0: seats: is 3, should be 4"),
        (lambda part: part["sessions"].reverse(), "sessions: their numbers are not in order"),
        (lambda part: part.update(hash="0" * 64), "hash: is '000"),
        (lambda part: part.update(plays=7), "plays: is 7, should be 16"),
        (lambda part: part.update(beta=33), "beta: is 33, should be 32"),
        (lambda part: part.update(table=1), "table: is 1, should be 2"),
    ],
)
def test_export_when_what_cards_were_worth_was_changed_then_verify_says_where(
    world: World, change: Callable[[Any], None], told: str
) -> None:
    world.finish(world.tournament(8, rounds=1).id, play_by_table)
    weigh(world)
    lines = lines_of(world)
    at = [at for at, line in enumerate(lines) if '"part":"reference"' in line][1]
    part = json.loads(lines[at])
    change(part)
    forged = with_new_digests([*lines[:at], json.dumps(part), *lines[at + 1 :]])
    problem = check_export((line.encode() for line in forged), references=True).problem
    assert problem is not None
    assert problem.startswith(f"line {at + 1}: {told}")


def test_export_when_a_reference_is_not_known_here_then_verify_says_that_it_proves_nothing(
    world: World,
) -> None:
    world.finish(world.tournament(4, rounds=1).id, play_by_table)
    weigh(world)
    renamed = [line.replace('"reference-1"', '"reference-9"') for line in lines_of(world)]
    report = check(with_new_digests(renamed))
    assert (report.problem, report.weighed, report.computed) == (None, 0, 0)
    assert "card values by reference-9, which this program does not know" in unproven([report])


def test_verify_when_time_is_up_then_deals_are_left_out_and_it_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = world.register(4)
    world.finish(world.tournament_of(names, ruleset=LEADS, sessions=1, deals=3).id, play_randomly)
    weigh(world)
    for seconds, computed in ((0.0, 0), (2.5, 1), (1e9, 3)):  # the first deal needs nothing of places
        monkeypatch.setattr(references_checked, "SECONDS", seconds)
        report = check_export(map(str.encode, lines_of(world)), clock=Steps())
        assert (report.problem, report.weighed, report.computed) == (None, 3, computed)
        assert report.left_out == 3 - computed
        told = LEFT_OUT.format(3 - computed)
        assert (told in unproven([report])) == (computed < 3)


def test_verify_when_a_ruleset_has_no_reference_then_all_deals_are_left_out(
    pool: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(references_checked, "has_reference", lambda _: False)
    report = check_export(map(str.encode, lines_of(pool)), references=True)
    assert (report.problem, report.computed) == (None, 0)
    assert report.left_out == report.weighed > 0


def test_verify_when_references_are_wanted_then_it_says_how_many_were_computed(
    pool: World, migrated: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    cli = make_arena(migrated.data, capsys)
    file = migrated.data / "cup.jsonl"
    file.write_text("\n".join(lines_of(pool)))
    drawn = cli("verify", file)
    assert "reference-1: what the cards of all deals were worth was computed again" in drawn.out
    found = cli("verify", file, "--references", "--json").json["files"][0]
    assert found["weighed"] == found["computed"] > 0
