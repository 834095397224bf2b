"""Turns, tricks and the end of a deal, in words."""

from referee.describe.words import last_card
from referee.ruleset import Ruleset


def turns(ruleset: Ruleset) -> list[str]:
    """Return what a turn is and how a trick ends."""
    sentences = ["Whoever leads plays any combination; each in turn then beats the last play or passes."]
    if ruleset.pass_locks:
        sentences.append("Whoever has passed is out until the trick ends.")
    else:
        sentences.append("Whoever has passed may play again at a later turn of the same trick.")
    sentences += _drawing(ruleset)
    if ruleset.beat_own:
        sentences.append(
            "When all others have passed, the last to play may beat that play too, while the others "
            "stay out; passing instead ends the trick, and the same player leads the next."
        )
    else:
        sentences.append(
            "When all others have passed, the trick ends, and whoever played last leads the next one."
        )
    return sentences


def _drawing(ruleset: Ruleset) -> list[str]:
    if ruleset.draw_on_pass == "none":
        return []
    many = "one card" if ruleset.draw_on_pass == "one" else "as many cards as the play to beat has"
    sentences = [f"Whoever passes draws {many} from the stock and may play from the next turn on."]
    if ruleset.restock:
        sentences.append(
            "When the stock is empty and a card is due, the finished tricks are shuffled and become "
            "the stock, at most ten times in a deal."
        )
    else:
        sentences.append("When the stock is empty, play goes on without drawing.")
    return sentences


def last_cards(ruleset: Ruleset) -> list[str]:
    """Return the rules that apply when hands grow short."""
    sentences = [_ANNOUNCE[ruleset.announce_at]] if ruleset.announce_at else []
    if ruleset.guard != "none":
        sentences.append(_GUARDS[ruleset.guard])
    card = last_card(ruleset)
    if ruleset.last_top_card == "cannot_win":
        sentences.append(
            f"{card[0].upper()}{card[1:]} may not be played as a last, single card; whoever has nothing else "
            "passes, and a lead that cannot be made passes to the next player."
        )
        if ruleset.decks > 1 or ruleset.last_cards != "top":
            sentences.append(f"If all who hold cards hold just {card}, it may.")
    elif ruleset.last_top_card == "loses":
        sentences.append(
            f"Whoever is left with {card} alone ends the deal, which nobody wins, "
            "and scores as if no card had been played."
        )
    return sentences


_ANNOUNCE = {
    1: "Whoever has only one card left must announce it.",
    2: "Whoever has only two cards left, or one, must announce it.",
}

_GUARDS = {
    "must": (
        "When the next player has one card left, a lead must have two or more cards or be the highest card, "
        "whichever the leader likes; and a single card must be beaten with the highest card if that beats it "
        "(or with a bomb), else passed."
    ),
    "liable": (
        "When the next player has one card left there is a precaution to take: to lead two or more cards if "
        "that is possible, else the highest card; and on a single card to play the highest card if it beats "
        "(or a bomb), else to pass. It may be ignored, but if that next player then goes out with a single "
        "card at once, whoever ignored it pays the losses of all."
    ),
}


def end(ruleset: Ruleset) -> list[str]:
    """Return when a deal ends."""
    if ruleset.deal_ends == "first_out":
        return ["The deal ends as soon as somebody has played the last card, and that player wins it."]
    return [
        "Play goes on until only one player holds cards; the first to go out is the winner.",
        _AFTER_OUT[ruleset.after_out],
    ]


_AFTER_OUT = {
    "beatable": (
        "When the last play of a player who is out stands unbeaten, the next in order who holds cards leads."
    ),
    "next_leads": (
        "Nobody may beat the last play of a player who goes out: the trick ends there, and the next in order "
        "who holds cards leads."
    ),
}
