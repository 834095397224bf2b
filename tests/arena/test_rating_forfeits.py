"""What forfeits do to ratings: they cost the bot that forfeits, and others gain only from what was played."""

from collections.abc import Generator
from typing import get_args

import pytest
from sqlmodel import col, select

from arena.core.duplicate import PlayedSession
from arena.core.elo import START, Share, apply_match, shares
from arena.results.ratings.rebuild import rebuild
from arena.store.models import RatingChange
from referee.deals.action import OnForfeit
from referee.matches.events import Turn
from referee.matches.match import MatchSpec, SessionResult
from tests.arena.exported import check, lines_of
from tests.arena.test_verify_forfeits import failing, played_with
from tests.arena.world import World
from tests.referee.harness import FakeBot, Harness
from tests.referee.test_forfeits import fail_when


def session(number: int, points: list[list[int]], **more: object) -> PlayedSession:
    return PlayedSession(number, (0, 1, 2), points, None, **more)  # type: ignore[arg-type]


def pairs(*sessions: PlayedSession, deals: int = 2) -> dict[tuple[int, int], list[Share]]:
    return shares({1: sessions}, deals, duplicate=False)[1]


def test_shares_when_nobody_forfeits_then_there_are_none() -> None:
    assert shares({1: [session(1, [[0, -1, -2]])]}, 1, duplicate=False) == {}


def test_shares_when_a_bot_forfeits_every_session_then_it_loses_to_all_and_others_are_compared() -> None:
    found = pairs(session(1, [[0, -1, -2], [0, -1, -2]], forfeits=[0]))
    assert found == {(1, 0): [Share(1, 1)], (2, 0): [Share(1, 1)], (2, 1): [Share(1, 0)]}


def test_shares_when_a_bot_forfeits_one_session_of_four_then_the_match_is_lost() -> None:
    found = pairs(
        session(1, [[0, -9, -9]], forfeits=[0]), *[session(number, [[0, -2, -1]]) for number in (2, 3, 4)]
    )
    assert found[1, 0] == found[2, 0] == [Share(1, 1)]
    assert found[2, 1] == [Share(1, 1)]


@pytest.mark.parametrize("other", [1, 2])
def test_shares_when_both_forfeit_a_session_then_the_match_is_no_result_between_them(other: int) -> None:
    found = pairs(session(1, [[0, -1, -2]], forfeits=[0]), session(other, [[0, -1, -2]], forfeits=[1]))
    assert found[1, 0] == []
    assert found[2, 0] == found[2, 1] == [Share(1, 1)]


@pytest.mark.parametrize(
    ("points", "share"), [([[-13, 0, -5]], []), ([[-1, -5, 0], [-13, 0, -5]], [Share(0.5, 1)])]
)
def test_shares_when_a_forfeit_ends_a_session_then_the_others_have_its_finished_deals_only(
    points: list[list[int]], share: list[Share]
) -> None:
    found = pairs(session(1, points, forfeits=[0], forfeit=0))
    assert found[1, 0] == [Share(1, 1)]
    assert found[2, 1] == share


def test_shares_when_deals_are_duplicate_then_the_scores_of_those_that_can_be_compared_count() -> None:
    here = session(1, [[0, -4, -5], [0, -9, -1]], forfeits=[0], forfeited_from=[1])
    there = session(1, [[-9, 0, -8], [0, 0, 0]])
    found = shares({1: [here], 2: [there]}, 2, duplicate=True)
    assert found[1] == {(1, 0): [Share(1, 1)], (2, 0): [Share(1, 1)], (2, 1): [Share(0.5, 1)]}
    assert found[2] == {(1, 0): [Share(0.5, 1)], (2, 0): [Share(0.5, 1)], (2, 1): [Share(0.5, 0)]}


def test_shares_when_all_deals_are_fouled_then_the_match_is_no_result() -> None:
    tables = {1: [session(1, [[0, -4, -5]])], 2: [session(1, [[0, -1, -2]])._replace(attempts=[2])]}
    nothing: dict[tuple[int, int], list[Share]] = {(1, 0): [], (2, 0): [], (2, 1): []}
    assert shares(tables, 1, duplicate=True) == {1: nothing, 2: nothing}


def test_ratings_when_a_bot_forfeits_everything_then_the_others_gain_as_much_and_are_not_rated_more() -> None:
    found = pairs(session(1, [[0, -1, -2]], forfeits=[0], forfeit=0), deals=1)
    assert apply_match({}, {7: 0, 8: -1, 9: -2}, found) == {7: START - 16, 8: START + 8, 9: START + 8}


def nobody(_route: int, spec: MatchSpec) -> Generator[SessionResult]:
    """Play at a referee to which no bot is connected."""
    harness = Harness()
    match = harness.open(spec)
    harness.advance(11)
    yield from match.take_results()


def leaving(_route: int, spec: MatchSpec) -> Generator[SessionResult]:
    """Play at a referee; in odd sessions the first bot, and later the second, answer illegally."""
    harness = Harness()
    bots = [harness.connect(bot.version_id, 2) for bot in spec.bots]

    def fails(bot: FakeBot, turn: Turn) -> bool:
        return turn.info.number % 2 == 1 and len(turn.deal.log) >= {1: 1, 2: 12}.get(bot.number, 1000)

    yield from fail_when(harness, harness.open(spec), bots, fails)


RUNS = {
    "leaving": leaving,
    "absent": played_with(lambda number: number != 2),
    "two-absent": played_with(lambda number: number > 2),
    "failing": failing,
    "nobody": nobody,
    "overrun": played_with(_2=2),
}


@pytest.mark.parametrize("duplicate", [False, True])
@pytest.mark.parametrize("mode", get_args(OnForfeit))
@pytest.mark.parametrize("run", RUNS)
def test_ratings_when_bots_forfeit_then_rebuilding_and_verifying_give_the_same(
    world: World, run: str, mode: OnForfeit, duplicate: bool
) -> None:
    limits: dict[str, object] = {"decision_ms": 5000, "join_seconds": 10, "faults": 3, "sessions": 4}
    limits |= {"deals": 1 if duplicate else 2, "duplicate": duplicate, "on_forfeit": mode}
    limits |= {"match_seconds": 74} if run == "overrun" else {}
    world.finish(world.tournament(8, rounds=1, **limits).id, RUNS[run])
    assert rebuild(world.storage).problem is None
    assert check(lines_of(world)).problem is None
    with world.storage.read() as tx:
        changes = tx.exec(select(RatingChange).order_by(col(RatingChange.id))).all()
    moved = [change.after - change.before for change in changes]
    assert sum(moved) == pytest.approx(0)
    if run == "nobody":
        assert moved == [0.0] * 8
