"""The cards, the deal and who leads, in words."""

from referee.describe.words import (
    INSTANT_WINS,
    JOKER_NAMES,
    SUIT_NAMES,
    bare,
    cards_over,
    counted,
    highest_card,
    jokers,
    listed,
    lowest_card,
    number,
    weakest_first,
)
from referee.ruleset import Ruleset, pack_size


def cards(ruleset: Ruleset) -> list[str]:
    """Return what the pack is and how its cards rank."""
    size = pack_size(ruleset) // ruleset.decks
    pieces = "tiles" if "15" in ruleset.ranks else "cards"
    suits = listed([SUIT_NAMES[suit] for suit in ruleset.suits])
    packs = f"One pack of {size} {pieces} is used."
    if ruleset.decks > 1:
        many = number(ruleset.decks).capitalize()
        packs = f"{many} packs of {size} {pieces} are shuffled together; two of the same card are equal."
    return [
        packs,
        *_removed(ruleset),
        f"The ranks are, from low to high, {' '.join(ruleset.ranks)}, and the suits {suits}.",
        *_jokers(ruleset),
        *_EQUAL_SUITS[: ruleset.equal_suits],
        f"So {lowest_card(ruleset)} is the lowest card and {highest_card(ruleset)} the highest.",
    ]


def _removed(ruleset: Ruleset) -> list[str]:
    removed = ruleset.removed_cards
    if not removed:
        return []
    whole = [rank for rank in ruleset.ranks if all(rank + suit in removed for suit in SUIT_NAMES)]
    parts = [f"every {rank}" for rank in whole] + [card for card in removed if card[:-1] not in whole]
    return [f"Of each pack, {listed(parts)} {'is' if len(parts) == 1 else 'are'} taken out."]


def _jokers(ruleset: Ruleset) -> list[str]:
    if not ruleset.jokers:
        return []
    names = [f"the {JOKER_NAMES[joker]} ({joker})" for joker in jokers(ruleset)]
    verb, rank = ("is", "It is a rank of its") if len(names) == 1 else ("are", "They are a rank of their")
    return [
        f"Above all of these {verb} {listed(names)}.",
        f"{rank} own, of no suit, and part of no sequence and no flush.",
    ]


_EQUAL_SUITS = (
    "In play, suits do not count: cards of one rank are equal. Their order only tells which card is the "
    "lowest or the highest where a rule needs one.",
)


def deal(ruleset: Ruleset) -> list[str]:
    """Return how many players there are, in which direction they play, what each is dealt and who deals."""
    return [_players(ruleset), *_partners(ruleset), *_hands(ruleset), _dealer(ruleset)]


def _players(ruleset: Ruleset) -> str:
    direction = {
        "clockwise": "clockwise",
        "anticlockwise": "anticlockwise",
        "alternating": "clockwise in the first deal, anticlockwise in the second, and so on in turns",
    }[ruleset.direction]
    return f"There are {number(ruleset.players)} players, and deal and play go {direction}."


def _partners(ruleset: Ruleset) -> list[str]:
    return ["Those who sit opposite each other are partners."] if ruleset.partners == "opposite" else []


def _hands(ruleset: Ruleset) -> list[str]:
    if isinstance(ruleset.hand_size, int):
        return [f"Each is dealt {counted(ruleset.hand_size, 'card')}.", *_leftover(ruleset)]
    share, extra = divmod(pack_size(ruleset), ruleset.players)
    first = "the player" if extra == 1 else f"the {number(extra)} players"
    shares = f"{number(share + 1)} to {first} after the dealer, {number(share)} to the others"
    return [f"All cards are dealt, {shares}."]


def _leftover(ruleset: Ruleset) -> list[str]:
    over = cards_over(ruleset)
    if not over:
        return []
    cards, verb = ("card", "is") if over == 1 else ("cards", "are")
    count = "card" if over == 1 else f"{number(over)} cards"
    if ruleset.leftover == "stock":
        return [f"The {count} left over {verb} the stock."]
    if ruleset.leftover == "unused":
        return [f"The {count} left over {verb} not used."]
    way = "shown to all and then taken" if ruleset.leftover_shown else "taken unseen"
    return [f"The {cards} left over {verb} {way} by whoever was dealt the lowest card."]


def _dealer(ruleset: Ruleset) -> str:
    if ruleset.dealer == "rotate":
        way = "always clockwise" if ruleset.direction == "alternating" else "in the order of play"
        return f"The first deal is the first seat's; then the deal passes to the next seat, {way}."
    return (
        f"The first deal is the first seat's; then the {ruleset.dealer} of the last deal deals, "
        "or the same player again where nobody won."
    )


def before_play(ruleset: Ruleset) -> list[str]:
    """Return what may happen between the deal and the first lead."""
    sentences = []
    if ruleset.redeal_four_twos:
        sentences.append(
            "If somebody holds a two of every suit, the cards are dealt again by the same dealer."
        )
    sentences += _instant_wins(ruleset)
    if ruleset.exchange != "none":
        sentences.append(
            "From the second deal on, the loser of the last deal gives the highest card to its winner, "
            "who returns any card; after a deal that nobody won there is no exchange."
        )
    return sentences


def _instant_wins(ruleset: Ruleset) -> list[str]:
    apart = ", jokers apart," if ruleset.jokers else ","
    dragon = f"A dragon, a hand with a card of every rank{apart} wins at once"
    others = [INSTANT_WINS[hand] for hand in ruleset.instant_wins]
    scored = "the others score as if no card had been played."
    if ruleset.instant_win_penalty is not None:
        scored = f"each of the others then has {counted(ruleset.instant_win_penalty, 'penalty point')}."
    if not others:
        return [f"{dragon}; {scored}"] if ruleset.dragon == "wins" else []
    other = listed(others, "or")
    wins = f"A hand with {other} wins at once"
    if ruleset.dragon == "wins":
        wins = f"{dragon}, and so does a hand with {other}"
    first = "the first after the dealer wins"
    sentences = [f"{wins}; {scored}", *_in_pairs(ruleset)]
    order = [*others, "a dragon"] if ruleset.dragon == "wins" else others
    if len(order) > 1 and ruleset.instant_wins_compete:
        strongest = f"the strongest wins, {weakest_first(order)}"
        return [*sentences, f"Of several players with one, {strongest}; of equals, {first}."]
    return [*sentences, f"Of several players with one, {first}."]


def _in_pairs(ruleset: Ruleset) -> list[str]:
    """Return what the names of the hands that win at once leave open."""
    wins = {*ruleset.instant_wins}
    fours = ["Four of a kind are two pairs."] if wins & {"six_pairs", "five_pairs_and_triple"} else []
    runs = wins & {"five_pair_run", "three_triple_run"}
    return fours + (["In a row means ranks that follow one another, without the two."] if runs else [])


def lead(ruleset: Ruleset) -> list[str]:
    """Return who leads a deal, and with what."""
    return [*_leader(ruleset), *_must_include(ruleset)]


def _first_leader(ruleset: Ruleset) -> str:
    first = ruleset.first_lead
    if first == "random":
        return "a player drawn at random"
    if first != "lowest":
        return f"the holder of {first} (of the next higher card dealt, if that was not dealt)"
    return f"the holder of the lowest card dealt ({lowest_card(ruleset)}, if that was dealt)"


def _leader(ruleset: Ruleset) -> list[str]:
    led_by = _first_leader(ruleset)
    if ruleset.lead == "lowest":
        return [f"Every deal is led by {led_by}."]
    deals = "The first deal is"
    if ruleset.lowest_lead_every:
        second, third = 1 + ruleset.lowest_lead_every, 1 + 2 * ruleset.lowest_lead_every
        deals = f"Deals 1, {second}, {third} and so on are"
    decides = {"lowest": "the lowest card decides", "random": "one is drawn"}
    after = f" after a deal that nobody won, {decides.get(ruleset.first_lead, 'that card decides')}."
    after = after if ruleset.lead == "winner" else ""
    led = f"{deals} led by {led_by}, every other one by the {ruleset.lead} of the last deal"
    return [f"{led};{after}" if after else f"{led}."]


def _must_include(ruleset: Ruleset) -> list[str]:
    if ruleset.first_lead == "random":
        return []
    card = "the lowest card" if ruleset.first_lead == "lowest" else ruleset.first_lead
    how = {
        "alone": "must lead it alone, as a single card",
        True: "must play it in that lead, alone or in a combination",
        False: "need not play it in that lead",
    }[ruleset.lead_includes_lowest]
    return [f"Whoever leads by {card} {how}."]


def loser(ruleset: Ruleset) -> list[str]:
    """Return who is a deal's loser, if that matters for the next deal."""
    if "loser" not in (ruleset.lead, ruleset.dealer) and ruleset.exchange == "none":
        return []
    if ruleset.deal_ends == "last_holder":
        return ["The winner of a deal is whoever goes out first, the loser whoever holds cards to the end."]
    return [
        "The loser of a deal is whoever has the most cards left. Of several, each shows the best play that "
        "can be made of the cards left, most cards first, then the highest; the one whose play has the "
        "fewest cards, then the weakest, is the loser.",
        *showdown(ruleset),
    ]


def showdown(ruleset: Ruleset) -> list[str]:
    """Return how plays of five cards are compared where players show the best of what they have left."""
    if len(ruleset.five_card_order) < 2:
        return []
    order = weakest_first([bare(kind) for kind in ruleset.five_card_order])
    return [f"In this, five cards always go in the order {order}."]
