"""Strengths from what bots made of their cards: no bias, narrower intervals, and the same scale."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from time import monotonic
from typing import Any

import numpy as np
import pytest
from sqlmodel import col, delete, select

from arena.core.duplicate import PlayedSession
from arena.core.luck import UNIT, expected
from arena.core.ranking import ScoreKind
from arena.results.luck.references import weigh_due
from arena.results.ratings.rebuild import mend, rebuild
from arena.results.strength.counts import Array, Counts
from arena.results.strength.fit import Fit, fit_counts
from arena.results.strength.fitting import counts_of, fit_due
from arena.results.strength.pools import Pool
from arena.results.strength.ranges import parting, places
from arena.results.strength.scale import AT_MOST
from arena.results.strength.sums import CountedDeals, Sums, made_deals
from arena.store.models import (
    Match,
    Meeting,
    Round,
    Seat,
    Session,
    SessionRecords,
    SessionReference,
    StrengthFit,
    StrengthScore,
    StrengthSums,
)
from arena.store.records import pack_records
from arena.store.storage import Storage
from referee.reference.values import REFERENCE
from tests.arena.fakes import ROOT
from tests.arena.random_play import play_randomly
from tests.arena.world import World

BOTS, SIZE, DEALS = 8, 4, 20
LUCK, NOISE = 6.0, 3.0
"""Standard deviations of what cards are worth, and of the rest of a bot's points in a deal."""
BETA = 0.75
"""The part of the cards' worth that is expected: not the best one, which is 1."""
STRENGTHS = np.linspace(-2.0, 2.0, BOTS)


class Season:
    """Matches of bots of known strength: their points are strength, worth of the cards, and noise."""

    def __init__(self, rng: np.random.Generator, matches: int) -> None:
        self.plain, self.made, self.duplicate = (Sums(SIZE) for _ in range(3))
        for number in range(matches):
            bots = [int(bot) for bot in rng.permutation(BOTS)[:SIZE]]
            cards = rng.normal(0.0, LUCK, (DEALS, SIZE))
            noise = rng.normal(0.0, NOISE, (DEALS, SIZE))
            points = np.rint(STRENGTHS[bots] + cards + noise).astype(int)
            shares = np.rint(UNIT * BETA * (cards - cards.mean(axis=1, keepdims=True))).astype(int)
            session = played(points.tolist())
            of_cards = made_deals({1: [session]}, {1: [shares.tolist()]})
            self.plain.add_match(number, bots, [session])
            self.made.add_match(number, bots, of_cards[1])
            same = STRENGTHS[bots] + noise
            self.duplicate.add_match(number, bots, [session._replace(scores=same.tolist())])
        self.made.raw_within, self.made.raw_between = self.plain.within, self.plain.between


def played(points: Sequence[Sequence[int]]) -> CountedDeals:
    """Return a session of these points by seat, in which position and seat are the same."""
    return CountedDeals(PlayedSession(1, (*range(SIZE),), points, (), faults=(0,) * SIZE), points)


def fitted(*kinds: Counts) -> Fit:
    found = fit_counts(kinds)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def seasons() -> list[Season]:
    return [Season(np.random.default_rng(number), 60) for number in range(160)]


def raw(*kinds: Sums) -> Array:
    """Return each bot's mean score in a deal, before anything is shrunk, less what its opponents explain."""
    weight, sums = np.zeros((BOTS, BOTS)), np.zeros(BOTS)
    for kind in kinds:
        for bot, own in kind.scores.items():
            sums[bot] += own.score
        for (one, other), met in kind.meetings.items():
            for mine, theirs in ((one, other), (other, one)):
                weight[mine, theirs] -= met.deals / SIZE
                weight[mine, mine] += met.deals / SIZE
    return np.linalg.pinv(weight) @ sums


@pytest.mark.parametrize("duplicate", [False, True], ids=["alone", "with duplicate deals"])
def test_made_when_strengths_are_known_then_they_are_found_without_bias(
    seasons: list[Season], duplicate: bool
) -> None:
    kinds = [[each.made, each.duplicate] if duplicate else [each.made] for each in seasons]
    found = np.array([raw(*some) for some in kinds]) - STRENGTHS
    errors = found.std(axis=0, ddof=1) / len(seasons) ** 0.5
    assert np.abs(found.mean(axis=0) / errors).max() < 3.5
    assert errors.max() < 0.02  # so that a bias of a tenth of a point would have shown
    covered = [
        np.abs(fit.strengths - STRENGTHS) < 1.96 * np.sqrt(fit.variances)
        for each in seasons[:40]
        for fit in [
            fitted(
                Counts.of(each.made, ScoreKind.MADE),
                *([Counts.of(each.duplicate, ScoreKind.DUPLICATE)] if duplicate else []),
            )
        ]
    ]
    assert 0.90 < np.mean(covered) <= 1.0


def test_made_when_cards_explain_most_of_luck_then_intervals_are_as_much_narrower(
    seasons: list[Season],
) -> None:
    left = NOISE**2 + ((1 - BETA) * LUCK) ** 2
    ratios, misses = [], []
    for each in seasons[:40]:
        plain, made = fitted(Counts.of(each.plain)), fitted(Counts.of(each.made, ScoreKind.MADE))
        ratios.append(float(np.mean(made.variances) / np.mean(plain.variances)))
        misses.append((np.var(made.strengths - STRENGTHS), np.var(plain.strengths - STRENGTHS)))
        assert made.made_deviation == pytest.approx(left**0.5, rel=0.1)
    share = left / (NOISE**2 + LUCK**2)
    assert np.mean(ratios) == pytest.approx(share, rel=0.25)  # some of both is what bots gain from others
    made_miss, plain_miss = np.mean(misses, axis=0)
    assert made_miss < 1.5 * share * plain_miss


def test_made_when_it_counts_then_the_scale_is_still_that_of_points(seasons: list[Season]) -> None:
    for each in seasons[:8]:
        plain = fitted(Counts.of(each.plain))
        made = fitted(Counts.of(each.made, ScoreKind.MADE))
        half = fitted(Counts.of(each.plain), Counts.of(each.made, ScoreKind.MADE))
        assert plain.made_deviation is None
        assert made.deviation == pytest.approx(plain.deviation)
        assert half.deviation == pytest.approx(plain.deviation)


def test_made_when_matches_have_one_deal_then_the_scale_comes_from_between_them() -> None:
    rng = np.random.default_rng(1)
    plain, made = Sums(2), Sums(2)
    for number in range(400):
        bots = [int(bot) for bot in rng.permutation(4)[:2]]
        cards, noise = rng.normal(0.0, 4.0, 2), rng.normal(0.0, 3.0, 2)
        points = [[int(value) for value in np.rint(10 * (cards + noise))]]
        shares = [[int(value) for value in np.rint(10 * UNIT * (cards - cards.mean()))]]
        session = CountedDeals(PlayedSession(1, (0, 1), points, (), faults=(0, 0)), points)
        plain.add_match(number, bots, [session])
        made.add_match(number, bots, made_deals({1: [session]}, {1: [shares]})[1])
    made.raw_within, made.raw_between = plain.within, plain.between
    found = fitted(Counts.of(made, ScoreKind.MADE))
    assert found.deviation == pytest.approx(50, rel=0.1)
    assert found.made_deviation == pytest.approx(30, rel=0.1)


def test_made_when_what_to_expect_is_not_known_for_all_deals_then_the_table_is_left_out() -> None:
    one, other = played([[3, -1, -1, -1]] * 2), played([[0, 0, 4, -4]])
    share = (64, 0, 0, -64)
    counted = {1: [one, other], 2: [one], 3: [other]}
    found = made_deals(counted, {1: [[share] * 2, [share]], 2: [[share]], 4: []})
    assert [*found] == [1]
    assert [each.scores for each in found[1]] == [[[2, -1, -1, 0]] * 2, [[-1, 0, 4, -3]]]
    assert [each.session for each in found[1]] == [one.session, other.session]


def test_merge_when_sums_are_taken_away_again_then_what_was_there_before_is_left() -> None:
    rng = np.random.default_rng(2)
    before, more = Season(rng, 6).plain, Season(rng, 6).plain
    both = Sums(SIZE)
    both.merge(before)
    both.merge(more)
    both.merge(more, -1)
    assert (both.matches, both.deals) == (before.matches, before.deals)
    assert (both.within, both.between) == pytest.approx((before.within, before.between))
    for bot, score in before.scores.items():
        assert both.scores[bot].deals == score.deals
        assert both.scores[bot].score == pytest.approx(score.score)
    for pair, met in before.meetings.items():
        left = both.meetings[pair]
        assert (left.deals, left.matches, left.ahead, left.behind, left.lead) == (
            *(met.deals, met.matches, met.ahead, met.behind, met.lead),
        )


def test_parting_when_as_many_deals_more_are_played_then_neighbours_are_about_told_apart() -> None:
    rng = np.random.default_rng(3)
    season = Season(rng, 20)
    kind = Counts.of(season.made, ScoreKind.MADE)
    fit = fitted(kind)
    standing = places(fit)
    found = parting(fit, standing, SIZE)
    order = sorted(range(BOTS), key=lambda at: standing[at].rank)
    assert found[order[-1]] is None
    for one, other in pairwise(order):
        apart = (fit.strengths[one] - fit.strengths[other]) / 1.96
        known, more = fit.variance_between(one, other), found[one]
        assert more is not None
        assert (more == 0) == (apart**2 >= known)
        if 0 < more < AT_MOST:
            assert fit.made_deviation is not None
            of_deals = 2 * SIZE * fit.made_deviation**2 / (SIZE - 1) / more
            assert 1 / (1 / known + 1 / of_deals) == pytest.approx(apart**2, rel=0.01)
    assert any(after for after in found)


# As stored


def weigh(world: World) -> None:
    weigh_due(world.storage, world.clock, monotonic, seconds=1e9)


def kinds_in(storage: Storage) -> dict[ScoreKind, Counts]:
    with storage.read() as tx:
        return {counts.kind: counts for counts in counts_of(tx, Pool(1, 4))}


def test_weighing_when_a_round_is_taken_in_then_strengths_follow_from_what_was_made(world: World) -> None:
    world.finish(world.tournament(8, rounds=3, sessions=4, deals=3).id, play_randomly)
    assert fit_due(world.storage, world.clock()) == 1
    before = kinds_in(world.storage)[ScoreKind.PLAIN]
    weigh(world)
    after = kinds_in(world.storage)
    plain, found = after[ScoreKind.PLAIN], after[ScoreKind.MADE]
    assert (plain.matches, plain.deals, sum(plain.meetings["deals"])) == (0, 0, 0)
    assert (found.matches, found.deals) == (before.matches, before.deals) == (6, 72)
    assert (found.raw_within, found.raw_between) == pytest.approx((before.within, before.between))
    assert np.abs(plain.scores["score"]).max() < 1e-9
    scores, within = made_by_records(world.storage)
    assert dict(found.scores[["bot", "score"]].tolist()) == pytest.approx(scores)
    assert found.within == pytest.approx(within)
    counted = ["one", "other", "deals", "ahead", "behind"]
    np.testing.assert_array_equal(found.meetings[counted], before.meetings[counted])
    assert rebuild(world.storage).problem is None
    world.clock.move(61)
    assert fit_due(world.storage, world.clock()) == 1
    assert fit_due(world.storage, world.clock()) == 0
    with world.storage.read() as tx:
        fit = tx.exec(select(StrengthFit).order_by(col(StrengthFit.id).desc())).first()
    assert fit is not None
    assert (fit.matches, fit.made, fit.deals) == (6, 6, 72)
    assert fit.made_deviation == pytest.approx((within / (3 * 66)) ** 0.5)
    assert fit.deviation == pytest.approx((before.within / (3 * 66)) ** 0.5)


def made_by_records(storage: Storage) -> tuple[dict[int, float], float]:
    """Return by bot what it made of its cards in all deals, relative to the table, and the squares within."""
    scores: defaultdict[int, float] = defaultdict(float)
    within = 0.0
    with storage.read() as tx:
        for match in tx.exec(select(Match)).all():
            bots = tx.exec(
                select(Seat.version_id).where(Seat.match_id == match.id).order_by(col(Seat.position))
            ).all()
            beta = tx.get_one(Round, match.round_id).beta
            assert beta is not None
            of_match = []
            for session in tx.exec(select(Session).where(Session.match_id == match.id)).all():
                worth = tx.get_one(SessionReference, session.id).worth
                for points, cards in zip(session.deal_points, worth, strict=True):
                    deal = np.zeros(4)
                    shares = expected(cards, REFERENCE.parts, beta)
                    deal[list(session.seating)] = np.array(points) - np.array(shares) / UNIT
                    of_match.append(deal - deal.mean())
            within += float(((np.array(of_match) - np.mean(of_match, axis=0)) ** 2).sum())
            for bot, total in zip(bots, np.sum(of_match, axis=0), strict=True):
                scores[bot] += float(total)
    return dict(scores), within


def test_weighing_when_deals_are_duplicate_then_scores_stay(world: World) -> None:
    world.finish(world.tournament(8, rounds=2, deals=1, duplicate=True).id, play_randomly)
    before = kinds_in(world.storage)
    weigh(world)
    assert [*before] == [*kinds_in(world.storage)] == [ScoreKind.DUPLICATE]
    np.testing.assert_array_equal(
        before[ScoreKind.DUPLICATE].scores, kinds_in(world.storage)[ScoreKind.DUPLICATE].scores
    )
    assert rebuild(world.storage).problem is None


def test_weighing_when_a_session_cannot_be_followed_then_its_match_stays_plain(world: World) -> None:
    world.finish(world.tournament(8, rounds=1).id, play_randomly)
    with world.storage.write() as tx:
        tx.exec(select(SessionRecords)).all()[0].records = pack_records(['{"deal": 1}'])
    weigh(world)
    found = kinds_in(world.storage)
    assert {kind: counts.matches for kind, counts in found.items()} == {ScoreKind.PLAIN: 1, ScoreKind.MADE: 1}


@pytest.mark.parametrize("table", [StrengthScore, StrengthSums, Meeting])
def test_rebuild_when_sums_of_what_was_made_are_wrong_then_they_are_found_and_mended(
    world: World, table: Any
) -> None:
    world.finish(world.tournament(8, rounds=2, deals=2).id, play_randomly)
    weigh(world)
    fit_due(world.storage, world.clock())
    right = {kind: counts.scores.tolist() for kind, counts in kinds_in(world.storage).items()}
    with world.storage.write() as tx:
        sums = tx.exec(select(StrengthSums).where(StrengthSums.kind == ScoreKind.MADE)).one()
        own = StrengthSums.id if table is StrengthSums else table.sums_id
        row = tx.exec(select(table).where(own == sums.id)).first()
        assert row is not None
        row.deals += 1
    assert rebuild(world.storage).problem is not None
    assert mend(world.storage, ROOT, world.clock()).mended == 1
    assert rebuild(world.storage).problem is None
    assert right == {kind: counts.scores.tolist() for kind, counts in kinds_in(world.storage).items()}
    assert fit_due(world.storage, world.clock()) == 1


def test_mending_when_all_sums_are_missing_then_they_are_as_they_were(world: World) -> None:
    world.finish(world.tournament(8, rounds=2, deals=2).id, play_randomly)
    weigh(world)
    world.finish(world.tournament(8, name="later", rounds=1).id, play_randomly)
    before = kinds_in(world.storage)
    with world.storage.write() as tx:
        for table in (Meeting, StrengthScore, StrengthSums):
            tx.exec(delete(table))
    assert rebuild(world.storage).problem is not None
    assert mend(world.storage, ROOT, world.clock()).problem is None
    for kind, counts in kinds_in(world.storage).items():
        assert (counts.matches, counts.deals) == (before[kind].matches, before[kind].deals)
        assert counts.scores["score"] == pytest.approx(before[kind].scores["score"])
        assert counts.raw_within == pytest.approx(before[kind].raw_within)
    assert rebuild(world.storage).problem is None
