"""Whether the reference helps where a deal is played from every seat: ``python -m benchmarks.blocks``.

``arena play --against`` plays each deal, or each session of several, from every seat by both bots against
the same panel. For some rulesets this prints the standard deviation of the differences between the bots,
session by session, which is what the test goes by; that of what their cards were worth by the reference,
which differs only by who led and exchanged cards after the first deal; and the share of the variance that is
left when the best part of that, by the other half of the sessions, is subtracted.
"""

import argparse
from collections.abc import Sequence
from typing import cast

import numpy as np

from benchmarks.coverage import mixture
from benchmarks.duplicate import Choose, LocalTurn
from benchmarks.sequential import PANEL
from benchmarks.worlds import Array
from referee.bot import Turn
from referee.deals.session import Session
from referee.deals.shuffle import session_seed
from referee.local.field import turned
from referee.reference.values import REFERENCE, deal_values
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import load_ruleset

CASES = (("chinese", 1), ("chinese", 10), ("hong-kong", 10), ("choi-dai-di-3", 10), ("only-a-game-8", 10))
"""Rulesets, and deals in a session."""
PAIR = ("keeper", "greedy")


def play_session(rules: Rules, bots: Sequence[Choose], number: int, deals: int) -> Array:
    """Play a session; return by seat the points, and what the cards were worth, both a deal."""
    session = Session(rules, session_seed(bytes(32), 1, None, number), deals)
    totals = np.zeros((2, len(bots)))
    while not session.over:
        deal = session.next_deal()
        while not deal.over:
            seat = deal.owing()[0]
            play = bots[seat](cast(Turn, LocalTurn(deal, seat)))
            deal.act(seat, play.code & rules.full if play is not None else 0)
        session.close_deal()
        totals += np.array([deal.points, np.array(deal_values(deal)) / REFERENCE.parts])
    return totals / session.deals_played


def block(rules: Rules, number: int, deals: int) -> Array:
    """Return how much more the first bot of the pair makes than the other, and had better cards, a deal."""
    seatings = [*turned(range(rules.ruleset.players))]
    panel = [mixture(*PANEL[at % len(PANEL)]) for at in range(rules.ruleset.players - 1)]
    arms = []
    for name in PAIR:
        bots = [mixture(name, 0.0), *panel]
        played = [play_session(rules, [bots[at] for at in one], number, deals) for one in seatings]
        own = [
            totals[:, one.index(0)] - totals.mean(axis=1)
            for totals, one in zip(played, seatings, strict=True)
        ]
        arms.append(np.mean(own, axis=0))
    return np.asarray(arms[0] - arms[1])


def left(points: Array, cards: Array) -> float:
    """Return the share of the variance that is left, with slopes from the other half."""
    rest = points - points.mean()
    even = np.arange(len(points)) % 2 == 0
    for here, there in ((even, ~even), (~even, even)):
        slope = float(cards[there] @ points[there]) / max(float(cards[there] @ cards[there]), 1e-9)
        rest[here] -= slope * cards[here]
    return float(rest.var() / points.var())


def main() -> None:
    """Print a line for each ruleset."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.blocks", description=__doc__)
    parser.add_argument("--blocks", type=int, default=100, help="sessions of each ruleset")
    options = parser.parse_args()
    print("ruleset        deals blocks | points  cards | left")
    for name, deals in CASES:
        rules = compile_ruleset(load_ruleset(name))
        blocks = np.array([block(rules, number, deals) for number in range(1, options.blocks + 1)])
        points, cards = blocks.T
        print(
            f"{name:14} {deals:5} {len(blocks):6} | {points.std():6.2f} {cards.std():6.2f}"
            f" | {left(points, cards - cards.mean()):.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
