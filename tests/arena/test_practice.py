"""Practice: what is planned, and what is told of it."""

import json
from fractions import Fraction
from math import sqrt
from typing import Any

import pytest

from arena.practice.plan import Plan
from arena.practice.summary import Estimate, Times, summarise
from referee.matches.match import SessionResult, check_match
from referee.ruleset import load_ruleset

Record = dict[str, Any]


def plan_of(deals: int = 2, ruleset: str = "chinese-2", decision_ms: int = 1000) -> Plan:
    rules = load_ruleset(ruleset)
    return Plan(rules, ("greedy",) * (rules.players - 1), "seed", decision_ms, deals)


def result(number: int, points: list[int], **more: object) -> SessionResult:
    """Return a session of one deal, with points by seat."""
    record: Record = {"points": points, "actions": ["0:3D", "1:-", "0:4D"], "ms": "1 2 3"} | more
    return SessionResult(number, tuple(points), None, (json.dumps(record),), (0, 0))


def test_plan_when_it_is_made_then_each_deal_is_played_from_every_seat() -> None:
    plan = plan_of(3, "chinese")
    spec = plan.match()
    assert check_match(spec, 4) == ""
    assert len({session.seed for session in spec.sessions}) == 3
    for deal in range(3):
        turned = spec.sessions[4 * deal : 4 * deal + 4]
        assert len({session.seed for session in turned}) == 1
        for place in range(4):
            assert sorted(session.seating.index(place) for session in turned) == [0, 1, 2, 3]
    assert plan_of(3, "chinese").match() == spec
    assert plan.names == ("me/my-bot@1", "opponent-1/greedy@1", "opponent-2/greedy@1", "opponent-3/greedy@1")


def test_summary_when_deals_are_played_from_all_seats_then_the_cards_cancel_out() -> None:
    plan = plan_of(3)
    results = [
        *(result(1, [10, -10]), result(2, [12, -12])),  # seat 0 has the better cards: 10 for us, 12 for them
        *(result(3, [4, -4]), result(4, [-6, 6])),
        *(result(5, [0, 0]), result(6, [0, 0])),
    ]
    summary = summarise(plan, results)
    leads = [(20 - 24) / 2, (8 + 12) / 2, 0.0]
    mean = float(sum(map(Fraction, leads)) / 3)
    error = 1.96 * sqrt(sum((lead - mean) ** 2 for lead in leads) / 2) / sqrt(3)
    assert summary.points is not None
    assert (summary.points.mean, summary.points.plus_minus) == pytest.approx((mean, error))
    assert [one.points for one in summary.against] == [summary.points]
    assert (summary.deals, summary.played, summary.wins) == (3, 6, 5)


def test_summary_when_it_was_ended_early_then_only_whole_deals_are_compared() -> None:
    summary = summarise(plan_of(2), [result(3, [5, -5]), result(2, [2, -2]), result(1, [2, -2])])
    assert (summary.deals, summary.played) == (1, 3)
    assert summary.points == Estimate(0.0, None)
    nothing = summarise(plan_of(2), [])
    assert (nothing.points, nothing.against, nothing.times, nothing.played) == (None, (), None, 0)


def test_summary_when_the_bot_made_faults_then_only_its_own_count() -> None:
    def fault(seat: int, kind: str) -> Record:
        return {"seat": seat, "kind": kind, "action": 0}

    results = [
        result(1, [0, 5], faults=[fault(0, "timeout"), fault(0, "illegal"), fault(1, "timeout")]),
        result(2, [0, 5], faults=[fault(1, "timeout"), fault(0, "flood")], forfeit=1),
        result(3, [0, 0], played_for=[{"seat": 0}]),
        result(4, [0, 0], played_for=[{"seat": 0}], forfeit=0),
        SessionResult(5, (0, 0), 1, (), (0, 0)),
    ]
    summary = summarise(plan_of(3), results)
    assert summary.faults == {"illegal": 1, "timeout": 2}
    assert (summary.forfeits, summary.wins, summary.played) == (2, 3, 4)


def test_summary_when_decisions_took_time_then_only_those_that_were_asked_count() -> None:
    answers = [{"seat": 0, "ms": 900}, {"seat": 1, "ms": 1}]
    results = [
        result(1, [0, 0], ms="1 2 -", answers=answers),
        result(2, [0, 0], ms="1 2 3"),
    ]
    assert summarise(plan_of(1, decision_ms=1234), results).times == Times(3, 2, 900, 1234)
    many = [result(1, [0, 0], actions=["0:3D"] * 200, ms=" ".join(map(str, range(1, 201))))]
    assert summarise(plan_of(1), many).times == Times(200, 100, 198, 1000)
