"""What one deal leaves to the next of its session: dealer, direction, leader, exchange.

Pure functions, used to play a session and to check its records (docs/rulesets.md).
"""

from typing import NamedTuple

from referee.deals.deal import Deal
from referee.deals.dealing import ANTICLOCKWISE, CLOCKWISE, seats_after
from referee.deals.showdown import loser
from referee.ruleset import Ruleset


class Legacy(NamedTuple):
    """What a finished deal leaves to the next."""

    number: int
    """The finished deal's number, from 1."""
    dealer: int
    winner: int | None
    """First out; None if the deal had no winner."""
    loser: int | None
    """Who had most cards left, or ended the deal without a winner; None after a deal with a winner unless the
    rules ask for it (``asks_for_loser``)."""


class Setup(NamedTuple):
    """How a deal begins."""

    dealer: int
    step: int
    """1 clockwise, -1 anticlockwise."""
    leader: int | None
    """None if the lowest card decides."""
    exchange: tuple[int, int] | None
    """Loser and winner of the last deal, if they exchange cards."""


def setup(ruleset: Ruleset, number: int, last: Legacy | None) -> Setup:
    """Return how deal ``number`` begins after ``last``, which is None for the first deal."""
    step = direction(ruleset, number)
    if last is None:
        return Setup(0, step, None, None)
    exchange = None
    if ruleset.exchange != "none" and last.winner is not None:
        exchange = (_loser(last), last.winner)
    return Setup(_dealer(ruleset, last), step, _leader(ruleset, number, last), exchange)


def direction(ruleset: Ruleset, number: int) -> int:
    """Return the step from a seat to the next in deal ``number``: 1 clockwise, -1 anticlockwise."""
    if ruleset.direction == "alternating":
        return CLOCKWISE if number % 2 else ANTICLOCKWISE
    return CLOCKWISE if ruleset.direction == "clockwise" else ANTICLOCKWISE


def lowest_leads(ruleset: Ruleset, number: int) -> bool:
    """Return whether the holder of the lowest card leads deal ``number``, whatever the deal before left."""
    every = ruleset.lowest_lead_every
    return ruleset.lead == "lowest" or number == 1 or (every > 0 and (number - 1) % every == 0)


def asks_for_loser(ruleset: Ruleset) -> bool:
    """Return whether it matters to the next deal who lost the last one, if that had a winner."""
    return "loser" in (ruleset.dealer, ruleset.lead) or ruleset.exchange != "none"


def legacy(deal: Deal) -> Legacy:
    """Return what a deal that is over leaves to the next."""
    if deal.culprit is not None:
        return Legacy(deal.number, deal.dealer, None, deal.culprit)
    winner = deal.out[0]
    if not asks_for_loser(deal.rules.ruleset):
        return Legacy(deal.number, deal.dealer, winner, None)
    order = seats_after(deal.dealer, deal.step, len(deal.hands))
    others = [seat for seat in order if seat != winner]
    return Legacy(deal.number, deal.dealer, winner, loser(deal.rules, deal.left, others))


def _dealer(ruleset: Ruleset, last: Legacy) -> int:
    if ruleset.dealer == "rotate":
        step = ANTICLOCKWISE if ruleset.direction == "anticlockwise" else CLOCKWISE
        return (last.dealer + step) % ruleset.players
    if last.winner is None:
        return last.dealer
    return last.winner if ruleset.dealer == "winner" else _loser(last)


def _leader(ruleset: Ruleset, number: int, last: Legacy) -> int | None:
    if lowest_leads(ruleset, number):
        return None
    return last.winner if ruleset.lead == "winner" else _loser(last)


def _loser(last: Legacy) -> int:
    assert last.loser is not None
    return last.loser
