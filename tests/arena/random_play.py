"""Real sessions of random legal play, without a referee."""

import json
from collections.abc import Generator, Iterator
from dataclasses import replace
from random import Random

from referee.deals.deal import Deal, Stage
from referee.deals.session import Session
from referee.matches.match import MatchSpec, Progress, SessionResult
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import load_ruleset
from tests.arena.fakes import signed, timed_json


def finish_deal(deal: Deal, rng: Random) -> list[int]:
    """Play a deal to its end; return the numbers of the actions that opened a trick."""
    leads: list[int] = []
    played = True
    while not deal.over:
        if deal.stage is Stage.PLAY and deal.to_beat == 0 and played:
            leads.append(len(deal.actions))
            played = False
        before = len(deal.actions)
        seat = deal.owing()[0]
        masks = [code & deal.rules.full for code in deal.legal(seat)]
        choices = masks + [0] * (deal.can_pass(seat) and rng.random() < 0.6)
        deal.act(seat, rng.choice(choices or [0]))
        played |= any(action.cards for action in deal.actions[before:])
    return leads


def random_deals(
    rules: Rules, seed: bytes, deals: int | None = None, attempt: int = 1
) -> Iterator[tuple[Deal, list[int]]]:
    """Yield the finished deals of a session, each with the numbers of the actions that opened its tricks."""
    session = Session(rules, seed, deals, attempt)
    rng = Random(seed)
    while not session.over:
        deal = session.next_deal()
        leads = finish_deal(deal, rng)
        session.close_deal()
        yield deal, leads


def play_randomly(_route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
    """Play every session immediately, at random."""
    rules = compile_ruleset(load_ruleset(spec.ruleset))
    for session in spec.sessions:
        played = [deal for deal, _ in random_deals(rules, session.seed, spec.deals, session.attempt)]
        totals = tuple(map(sum, zip(*(deal.points for deal in played), strict=True)))
        records = tuple(timed_json(deal, attempt=session.attempt) for deal in played)
        result = SessionResult(session.number, totals, None, records, (0,) * len(totals))
        yield signed(spec, session, result)


def play_with_faults(route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
    """Play at random, with faults of two bots in each session."""
    for result in play_randomly(route, spec):
        assert isinstance(result, SessionResult)
        [seating] = [one.seating for one in spec.sessions if one.number == result.number]
        seats = [seating.index(position) for position in (0, 1)]
        faults = [(seats[0], "timeout"), (seats[1], "timeout"), (seats[1], "illegal")]
        record = json.loads(result.records[0])
        record["faults"] = [{"action": 0, "seat": seat, "kind": kind} for seat, kind in faults]
        counts = tuple(sum(seat == one for seat, _ in faults) for one in range(4))
        yield replace(result, records=(json.dumps(record), *result.records[1:]), faults=counts)
