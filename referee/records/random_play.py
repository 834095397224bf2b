"""Random legal play: deals and whole sessions, and their records."""

from collections.abc import Iterator
from random import Random

from referee.deals.deal import Deal
from referee.deals.session import Session
from referee.deals.shuffle import seed_hash, session_seed
from referee.records.record import deal_record, full_record
from referee.rules.plays import Rules


def play_randomly(deal: Deal, rng: Random) -> int:
    """Play a deal to its end, with every legal action equally likely; return the number of decisions."""
    draw, full = rng.random, deal.rules.full
    decisions = 0
    while True:
        seat = deal.turn
        if seat < 0:
            if deal.over:
                return decisions
            seat = deal.owing()[0]
        plays = deal.choices(seat)
        code = plays[0] if len(plays) == 1 else plays[int(draw() * len(plays))]
        deal.act(seat, code & full)
        decisions += 1


def random_records(
    rules: Rules, seed: bytes, deals: int, session_deals: int | None = None
) -> Iterator[dict[str, object]]:
    """Yield the complete records of ``deals`` deals of random play.

    ``seed`` stands for a tournament's. All deals are played at table 1 in round 1, in sessions 1, 2 … of
    ``session_deals`` deals each, or as many as the rules say.
    """
    rng = Random(seed)  # noqa: S311 no secret
    ruleset = rules.ruleset.to_object()
    tournament = f"random/{seed_hash(seed)[:12]}"
    seats = [f"random/{seat}@1" for seat in range(rules.ruleset.players)]
    number, left = 0, deals
    while left > 0:
        number += 1
        for deal in _session(rules, session_seed(seed, 1, 1, number), session_deals, rng, left):
            left -= 1
            yield full_record(
                deal_record(deal),
                ruleset=ruleset,
                tournament=tournament,
                round=1,
                table=1,
                session=number,
                seats=seats,
            )


def _session(rules: Rules, seed: bytes, deals: int | None, rng: Random, most: int) -> Iterator[Deal]:
    session = Session(rules, seed, deals)
    while not session.over and session.deals_played < most:
        deal = session.next_deal()
        play_randomly(deal, rng)
        session.close_deal()
        yield deal
