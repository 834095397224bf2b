"""English for the parts of a ruleset."""

from collections.abc import Iterable, Iterator, Sequence

from referee.cards import JOKERS
from referee.ruleset import Ruleset, pack_size
from referee.ruleset.bombs import is_card, kind_of, rank_of, run_lengths

SUIT_NAMES = {"D": "diamonds", "C": "clubs", "H": "hearts", "S": "spades"}

JOKER_NAMES = {"BJ": "black joker", "RJ": "red joker"}

KIND_NAMES = {
    "single": "a single card",
    "pair": "a pair",
    "triple": "a triple",
    "two_pair": "two pairs with a fifth card",
    "straight": "a straight",
    "flush": "a flush",
    "full_house": "a full house",
    "quads": "four of a kind with a fifth card",
    "straight_flush": "a straight flush",
    "royal_flush": "a royal flush",
    "bare_quads": "bare four of a kind",
    "bare_two_pair": "two pairs",
    "run": "a run of cards",
    "suited_run": "a run of one suit",
    "pair_run": "a run of pairs",
    "dragon": "a dragon",
    "triple_run": "a run of triples",
    "triple_run_plus_pairs": "a run of triples with as many pairs",
    "triple_plus_two_pairs": "a triple with two pairs",
    "straight_flush_plus_two": "a straight flush with two more cards",
}
"""The names of the kinds of combinations, with an article if they take one."""

INSTANT_WINS = {
    "four_twos": "a two of every suit",
    "six_pairs": "six pairs",
    "five_pairs_and_triple": "five pairs and a triple",
    "five_pair_run": "five pairs in a row",
    "three_triple_run": "three triples in a row",
    "dragon_without_two": "a card of every rank but the two",
    "dragon": "a dragon",
}
"""The names of the hands that may win at once."""

_NUMBERS = (
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)


def number(count: int) -> str:
    """Return a count, in words if it is small."""
    return _NUMBERS[count] if 0 <= count < len(_NUMBERS) else str(count)


def counted(count: int, thing: str) -> str:
    """Return a count and what is counted, such as "one card" or "17 cards"."""
    return f"{number(count)} {thing}{'' if count == 1 else 's'}"


def listed(parts: Iterable[str], last: str = "and") -> str:
    """Return "a", "a and b" or "a, b and c"."""
    *most, final = parts
    return f"{', '.join(most)} {last} {final}" if most else final


def bare(kind: str) -> str:
    """Return a kind's name without its article."""
    return KIND_NAMES[kind].removeprefix("a ")


def bomb_name(name: str, ruleset: Ruleset) -> str:
    """Return a bomb of the ruleset, or what a bomb beats, with an article if it takes one."""
    kind, rank = kind_of(name), rank_of(name)
    if is_card(name):
        return f"the single {name}"
    if rank:
        return f"{_EQUAL[kind]} {_RANK_NAMES.get(rank, rank)}{'' if kind == 'single' else 's'}"
    if kind != "pair_run" or name not in ruleset.bombs:
        return KIND_NAMES[kind]
    lengths = run_lengths(name, ruleset.bombs, len(ruleset.ranks))
    if lengths.stop > len(ruleset.ranks):
        return f"a run of {number(lengths.start)} or more pairs"
    return f"a run of {listed(map(number, lengths), 'or')} pairs"


_EQUAL = {"single": "a single", "pair": "a pair of", "triple": "three", "bare_quads": "four"}
_RANK_NAMES = {"T": "ten", "J": "jack", "Q": "queen", "K": "king", "A": "ace", "2": "two"}


def weakest_first(parts: Sequence[str]) -> str:
    """Return an order, as "a < b < c"."""
    return " < ".join(parts)


def lowest_card(ruleset: Ruleset) -> str:
    """Return the text of the lowest card."""
    return next(_rising(ruleset))


def highest_card(ruleset: Ruleset) -> str:
    """Return the text of the highest card."""
    *_, highest = _rising(ruleset)
    return highest


def _rising(ruleset: Ruleset) -> Iterator[str]:
    for rank in ruleset.ranks:
        yield from (rank + suit for suit in ruleset.suits if rank + suit not in ruleset.removed_cards)
    yield from jokers(ruleset)


def jokers(ruleset: Ruleset) -> tuple[str, ...]:
    """Return the texts of the jokers in a pack, low to high."""
    return JOKERS[len(JOKERS) - ruleset.jokers :]


def last_card(ruleset: Ruleset) -> str:
    """Return what the rules about last cards concern: a card, or any of a rank or suit, with an article."""
    if ruleset.last_cards == "top":
        return highest_card(ruleset)
    if ruleset.last_cards in SUIT_NAMES:
        return f"a {SUIT_NAMES[ruleset.last_cards].removesuffix('s')}"
    article = "an" if ruleset.last_cards in ("8", "11", "A") else "a"
    return f"{article} {ruleset.last_cards}"


def cards_over(ruleset: Ruleset) -> int:
    """Return how many cards are left over when all hands are dealt."""
    if not isinstance(ruleset.hand_size, int):
        return 0
    return pack_size(ruleset) - ruleset.players * ruleset.hand_size
