"""Deals that a bot forfeited, in the fit: they change its own strength, and nobody else's."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from arena.core.duplicate import PlayedSession, leaver_of
from arena.core.ranking import ScoreKind
from arena.results.strength import fit as fitting
from arena.results.strength.ahead import finishing_ahead
from arena.results.strength.counts import Counts
from arena.results.strength.fit import Fit, fit_counts
from arena.results.strength.sums import CountedDeals, Sums, counted_deals

SIZE = 3
HARSH = -30


def pool(forfeited: int = 0, leaver: int = 0, seed: int = 1, bots: int = 6) -> Sums:
    """Return the sums of a pool, in which a bot forfeits a number of sessions in their third deal."""
    rng, sums = np.random.default_rng(seed), Sums(SIZE)
    for number in range(40):
        table = (*rng.permutation(bots)[:SIZE].tolist(),)
        points = np.round(rng.normal(0, 6, (3, SIZE)) - np.array(table)).astype(int).tolist()
        gone: dict[str, Any] = {}
        if leaver in table and forfeited:
            forfeited, seat = forfeited - 1, table.index(leaver)
            points[2] = [HARSH if at == seat else 0 for at in range(SIZE)]
            gone = {"forfeits": [seat], "forfeit": seat, "forfeited_from": [2], "leaver": seat}
        session = PlayedSession(1, range(SIZE), points, None, faults=(0,) * SIZE, **gone)
        sums.add_match(number, table, counted_deals({1: [session]}, duplicate=False)[1])
    return sums


def fitted(sums: Sums, lines: Sequence[Sequence[int]] = ()) -> Fit:
    found = fit_counts([Counts.of(sums)], lines)
    assert found is not None
    return found


def without(sums: Sums, lines: Sequence[Sequence[int]] = ()) -> Fit:
    """Return the fit of the deals that all played."""
    found = fit_counts([Counts.of(Sums(SIZE, **{name: getattr(sums, name) for name in PLAYED}))], lines)
    assert found is not None
    return found


PLAYED = ("matches", "deals", "within", "between", "scores", "meetings")


@pytest.mark.parametrize("dense", [True, False])
def test_strength_when_a_bot_forfeited_then_it_is_the_mean_over_all_its_deals(
    dense: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not dense:
        monkeypatch.setattr(fitting, "DENSE", 0)
    sums = pool(forfeited=8)
    found, played = fitted(sums), without(sums)
    deals, rows = sums.scores[0].deals, [(other, row) for (_, other), row in sums.left.items()]
    lead = sum(row.score + row.deals * played.strengths[other] for other, row in rows) / (SIZE - 1)
    right = (deals * played.strengths[0] + lead) / (deals + 8)
    assert sums.forfeited == 8
    assert found.strengths[0] == pytest.approx(right)
    assert found.strengths[0] < played.strengths[0] - 2
    assert 0 < found.variances[0] < 2 * played.variances[0]


@pytest.mark.parametrize("dense", [True, False])
def test_strength_when_another_bot_forfeited_then_it_is_the_same_with_the_same_error(
    dense: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not dense:
        monkeypatch.setattr(fitting, "DENSE", 0)
    sums = pool(forfeited=8)
    found, played = fitted(sums), without(sums)
    np.testing.assert_array_equal(found.strengths[1:], played.strengths[1:])
    np.testing.assert_array_equal(found.variances[1:], played.variances[1:])
    if found.covariances is not None:
        assert np.linalg.eigvalsh(found.covariances).min() > -1e-9


def test_ahead_when_a_bot_forfeited_then_its_own_share_falls_alone() -> None:
    sums = pool(forfeited=8)
    kinds, bare = [Counts.of(sums)], [Counts.of(Sums(SIZE, **{name: getattr(sums, name) for name in PLAYED}))]
    found, played = finishing_ahead(kinds, fitted(sums)), finishing_ahead(bare, without(sums))
    assert found is not None
    assert played is not None
    deals = sums.scores[0].deals
    assert found[0].share == pytest.approx(played[0].share * deals / (deals + 8))  # behind in all eight
    assert found[0].low < found[0].share < found[0].high
    assert found[1:] == played[1:]


def test_bot_when_it_forfeited_every_deal_then_it_is_ranked_among_those_that_it_met() -> None:
    sums = pool(bots=5)
    points = [[HARSH, 0, 0]]
    gone: dict[str, Any] = {"forfeits": [0], "forfeit": 0, "forfeited_from": [0], "leaver": 0}
    session = PlayedSession(1, range(SIZE), points, None, faults=(9, 0, 0), **gone)
    for _ in range(4):
        sums.add_match(99, (7, 1, 2), counted_deals({1: [session]}, duplicate=False)[1])
    found, played = fitted(sums), without(sums)
    assert found.bots == (*played.bots, 7)
    assert found.groups == (0,) * 6
    assert found.strengths[-1] == pytest.approx(HARSH + (played.strengths[1] + played.strengths[2]) / 2)
    assert found.variances[-1] > 0
    assert finishing_ahead([Counts.of(sums)], found)[-1].share < 0.1  # type: ignore[index]


def test_version_when_the_one_before_forfeited_then_it_inherits_that() -> None:
    sums = pool(forfeited=8, leaver=1)
    found, played = fitted(sums, [[1, 4]]), without(sums, [[1, 4]])
    assert found.strengths[4] < played.strengths[4]
    others = [0, 2, 3, 5]
    np.testing.assert_array_equal(found.strengths[others], played.strengths[others])


def test_sums_when_a_round_is_taken_away_again_then_nothing_is_left() -> None:
    sums, other = pool(forfeited=3), Sums(SIZE)
    other.merge(sums)
    other.merge(sums, -1)
    assert other.forfeited == 0
    assert all(row.deals == row.matches == row.lead == row.score == 0 for row in other.left.values())


def forfeit(seat: int, deal: int, why: str = "faults") -> dict[str, object]:
    return {"seat": seat, "deal": deal, "action": 0, "why": why, "by": "default_action"}


LEAVERS: dict[str, tuple[list[dict[str, object]], int | None]] = {
    "nobody": ([{}, {}], None),
    "ended": ([{}, {"forfeit": 2}], 2),
    "ended in the first deal": ([{"forfeit": 2}], 2),
    "absent before the first card": ([{"forfeit": 2, "absent": [1, 2]}], None),
    "absent when it goes on": ([{}, {"forfeit": 2, "absent": [1, 2]}], 2),
    "out of time": ([{"forfeit": 1, "used_ms": [1, 9, 1]}], 1),
    "out of time before it began": ([{"forfeit": 1, "absent": [1], "used_ms": [1, 9, 1]}], None),
    "goes on": ([{}, {"played_for": [forfeit(1, 2)]}], 1),
    "goes on from the first deal": ([{"played_for": [forfeit(1, 1)]}], 1),
    "never came": ([{"played_for": [forfeit(1, 1, "absent")]}], None),
    "did not come back": ([{}, {"played_for": [forfeit(1, 2, "absent")]}], 1),
    "two": (
        [{"played_for": [forfeit(2, 1), forfeit(0, 1)]}, {"played_for": [forfeit(2, 1), forfeit(0, 1)]}],
        2,
    ),
    "one, and then the last": (
        [{"played_for": [forfeit(2, 1)]}, {"played_for": [forfeit(2, 1)], "forfeit": 1}],
        2,
    ),
    "never came, and another left": ([{"played_for": [forfeit(1, 1, "absent"), forfeit(2, 1)]}], None),
}


@pytest.mark.parametrize("case", LEAVERS)
def test_leaver_when_a_session_is_over_then_it_is_who_forfeited_first_after_a_card(case: str) -> None:
    records, seat = LEAVERS[case]
    assert leaver_of(records) == seat


def test_forfeited_when_they_are_duplicate_then_the_score_is_that_of_the_standings() -> None:
    gone: dict[str, Any] = {"forfeits": [0], "forfeit": 0, "forfeited_from": [1], "leaver": 0}
    here = PlayedSession(1, range(2), [[-3, 0], [HARSH, 0]], None, faults=(1, 0), **gone)
    there = PlayedSession(1, range(2), [[-5, 0], [-7, 0]], None, faults=(0, 0))
    [counted] = counted_deals({1: [here], 2: [there]}, duplicate=True)[1]
    assert counted == CountedDeals(
        here._replace(points=[[-3, 0]], forfeited_from=()), [(2.0, 0.0)], [[HARSH, 0]], [(-23.0, 0.0)]
    )
    sums = Sums(2)
    sums.add_match(1, (7, 8), [counted])
    left = sums.left[7, 8]
    assert (left.deals, left.matches, left.ahead, left.behind, left.lead, left.score) == (
        1,
        0,
        0,
        1,
        HARSH,
        -23,
    )
    assert (sums.seats[7, 0].deals, sums.seats[8, 1].deals) == (2, 1)


def test_fit_when_a_kind_has_only_forfeited_deals_then_they_count() -> None:
    sums, duplicate = pool(), Sums(SIZE)
    gone: dict[str, Any] = {"forfeits": [0], "forfeit": 0, "forfeited_from": [0], "leaver": 0}
    session = PlayedSession(1, range(SIZE), [[HARSH, 0, 0]], None, faults=(9, 0, 0), **gone)
    duplicate.add_match(1, (0, 1, 2), counted_deals({1: [session]}, duplicate=True)[1])
    both = fit_counts([Counts.of(sums), Counts.of(duplicate, ScoreKind.DUPLICATE)])
    assert both is not None
    assert both.strengths[0] < fitted(sums).strengths[0]
