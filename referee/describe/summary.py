"""What sets a ruleset apart, in a line."""

from collections.abc import Iterator

from referee.describe.words import (
    INSTANT_WINS,
    SUIT_NAMES,
    bomb_name,
    cards_over,
    counted,
    last_card,
    listed,
    number,
)
from referee.ruleset import Ruleset, pack_size


def summary(ruleset: Ruleset) -> str:
    """Return in a line what sets a ruleset apart from others, apart from the number of players."""
    text = "; ".join(_parts(ruleset))
    return f"{text[0].upper()}{text[1:]}."


def _parts(ruleset: Ruleset) -> Iterator[str]:
    yield _SETTLED[ruleset.settle]
    if ruleset.deal_ends == "last_holder":
        yield "played until one holds cards"
    if ruleset.partners == "opposite":
        yield "two against two"
    if ruleset.decks > 1:
        yield f"{number(ruleset.decks)} packs"
    if ruleset.jokers:
        yield f"{counted(ruleset.jokers, 'joker')} in a pack"
    if ruleset.removed_cards:
        yield f"packs of {pack_size(ruleset) // ruleset.decks}"
    if ruleset.equal_suits:
        yield "suits are equal"
    elif ruleset.suits != ("D", "C", "H", "S"):
        yield f"suits from {SUIT_NAMES[ruleset.suits[0]]} up to {SUIT_NAMES[ruleset.suits[-1]]}"
    yield from _plays(ruleset)
    yield from _order_of_play(ruleset)


_SETTLED = {
    "penalty": "cards left count against their holder",
    "pairwise": "every two settle the difference of their cards left",
    "winner_collects": "losers pay the winner for their cards left",
    "better_collect": "players pay everybody with fewer points for their cards left",
    "winner_scores": "the winner scores the cards that the others hold",
    "fixed": "one point for the winner",
    "wins": "one point for the winner",
    "last_loses": "one point off for the last",
    "places": "points by place",
    "loser_only": "one loser pays the winner",
    "difference": "every two settle the difference of their numbers of cards",
}


_USUAL = {"pair": "pairs", "triple": "triples", "straight": "straights", "flush": "flushes"}
"""Kinds of plays that are mentioned where they are missing."""


_UNUSUAL = {
    "two_pair": "two pairs",
    "bare_two_pair": "two pairs as four cards",
    "run": "runs of cards",
    "suited_run": "runs of one suit",
    "pair_run": "runs of pairs",
    "triple_run": "runs of triples",
    "triple_run_plus_pairs": "runs of triples with pairs",
    "triple_plus_two_pairs": "triples with two pairs",
}
"""Kinds of plays that are mentioned where they are played."""


def _plays(ruleset: Ruleset) -> Iterator[str]:
    strongest = ruleset.straights[-1][0] if ruleset.straights else ""
    if "straight" in ruleset.plays and strongest:
        yield f"straights up to {strongest.replace('T', '10')}"
    if "flush" in ruleset.plays:
        yield f"flushes by {'suit' if ruleset.flush_order == 'suit_then_top' else 'rank'}"
    more = [plural for kind, plural in _UNUSUAL.items() if kind in ruleset.plays]
    if more:
        yield listed(more)
    missing = [plural for kind, plural in _USUAL.items() if kind not in ruleset.plays]
    if missing:
        yield f"no {listed(missing, 'or')}"
    if not ruleset.kinds_compete and len(ruleset.five_card_order) > 1:
        yield "five cards beat only their own kind"
    if ruleset.bombs:
        out_of_turn = ", also out of turn" if ruleset.bombs_out_of_turn else ""
        bombs = [bomb_name(name, ruleset).removesuffix(" with a fifth card") for name in ruleset.bombs]
        some = "" if ruleset.bombs_beat == "any" else " against some plays"
        yield f"{listed(bombs, 'or')} is a bomb{some}{out_of_turn}"


def _order_of_play(ruleset: Ruleset) -> Iterator[str]:
    if ruleset.lead != "lowest":
        yield f"the {ruleset.lead} of a deal leads the next"
    if ruleset.first_lead == "random":
        yield "the first lead is drawn" if ruleset.lead != "lowest" else "leads are drawn"
    elif ruleset.first_lead != "lowest":
        yield f"{ruleset.first_lead} leads"
    if ruleset.lead_includes_lowest == "alone":
        yield "the card that leads is led alone"
    if ruleset.pass_locks:
        yield "who passes is out of the trick"
    if ruleset.draw_on_pass != "none" and cards_over(ruleset):
        yield "who passes draws"
    if ruleset.beat_own:
        yield "one may beat one’s own play"
    if ruleset.exchange != "none":
        yield "loser and winner exchange a card"
    wins = [*ruleset.instant_wins, "dragon"] if ruleset.dragon == "wins" else ruleset.instant_wins
    if wins:
        yield f"{listed([INSTANT_WINS[hand] for hand in wins], 'or')} wins at once"
    if ruleset.guard != "none":
        yield "precautions against a last card"
    if ruleset.last_top_card != "allowed":
        ends = {"cannot_win": "cannot go out alone", "loses": "left alone loses"}[ruleset.last_top_card]
        yield f"{last_card(ruleset)} {ends}"
    if ruleset.bonuses:
        yield "bonuses for strong plays"
