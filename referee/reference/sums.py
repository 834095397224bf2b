"""What the cards of a deal were worth: the points that the reference makes of them in several plays."""

from itertools import islice
from typing import NamedTuple

from referee.deals.deal import Deal
from referee.deals.dealing import Dealt, deal_cards
from referee.deals.shuffle import words
from referee.deals.state import PLAY
from referee.deals.succession import direction, lowest_leads
from referee.reference.policies import POLICIES
from referee.rules.plays import Rules


class Reference(NamedTuple):
    """What identifies a reference: its values for any deal never change."""

    name: str
    plays: int
    """How often each deal is played: a seat's value is the mean of its points in these plays."""
    hash: str
    """SHA-256 of the file of test vectors."""


REFERENCE = Reference("reference-1", 8, "")


def reference_sums(rules: Rules, seed: bytes, number: int, dealer: int) -> tuple[int, ...]:
    """Return what the cards of a deal were worth, by seat: the sums of its points over all plays.

    ``seed``, ``number`` (in its session, from 1) and ``dealer`` are the deal's. All that follows from deals
    before it is drawn anew for each play (who leads, and whom ties between holders favour), and nobody
    exchanges cards, so that the sums depend on the cards alone.
    """
    step = direction(rules.ruleset, number)
    dealt = deal_cards(rules, seed, dealer, step)
    leads = not lowest_leads(rules.ruleset, number)
    totals = [0] * rules.ruleset.players
    for play in range(REFERENCE.plays):
        for seat, points in enumerate(_points(rules, seed, number, step, dealt, leads, play)):
            totals[seat] += points
    return tuple(totals)


def deal_sums(deal: Deal) -> tuple[int, ...]:
    """Return the same for a deal at any stage."""
    return reference_sums(deal.rules, deal.seed, deal.number, deal.dealer)


def _points(
    rules: Rules, seed: bytes, number: int, step: int, dealt: Dealt, leads: bool, play: int
) -> tuple[int, ...]:
    players = rules.ruleset.players
    first, *drawn = islice(words(seed, f"{REFERENCE.name}/{play}"), players + 1)
    policies = [POLICIES[word % len(POLICIES)] for word in drawn]
    first %= players
    deal = Deal(rules, seed, number, first, step, leader=first if leads else None, dealt=dealt)
    while not deal.over:
        seat = deal.owing()[0]
        code = policies[seat](rules, deal.choices(seat), deal.hands, seat) if deal.stage is PLAY else 0
        deal.act(seat, code & rules.full)
    return deal.points
