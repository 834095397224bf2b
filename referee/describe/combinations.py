"""The combinations, their order and the bombs, in words."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import combinations, pairwise, product

from referee.describe.words import KIND_NAMES, bare, bomb_name, listed, number, weakest_first
from referee.ruleset import Ruleset
from referee.ruleset.bombs import kind_of, limited, run_lengths
from referee.ruleset.runs import run_order
from referee.ruleset.straights import StraightOrder, cycle, straight_order

_SEQUENCES = {"straight", "straight_flush", "straight_flush_plus_two"}


def kinds(ruleset: Ruleset) -> list[str]:
    """Return which combinations there are, and how those of one kind compare."""
    ordered = [kind for kind in KIND_NAMES if kind in ruleset.plays]
    sentences = [
        f"The combinations are {listed([KIND_NAMES[kind] for kind in ordered])}.",
        "A stronger play of the same kind and number of cards beats a weaker one; an equal play does not.",
        "Single cards go by rank." if ruleset.equal_suits else "Single cards go by rank, then by suit.",
    ]
    sentences += [text(ruleset) for kind, text in _KINDS.items() if kind in ruleset.plays]
    return sentences + _runs(ruleset)


def _runs(ruleset: Ruleset) -> list[str]:
    """Return how runs of any kind compare."""
    kinds = [kind for kind in _OF_MANY_LENGTHS if kind in ruleset.plays]
    if not kinds:
        return []
    lengths = {length for kind in kinds for length in run_order(ruleset, kind)}
    # Of less than five ranks, different orders may be the same; runs of five may be straights instead.
    telling = 6 if 5 not in lengths and max(lengths) > 5 else 5
    ranks = {
        length: f"of {number(length)} ranks {_sequences(order, ruleset.ranks)}"
        for length in sorted({min(lengths), max(min(lengths), telling)})
        for order in [straight_order(ruleset.run_order, ruleset.ranks, length)]
    }
    equal = " (those joined by = are of equal strength)" if "=" in "".join(ranks.values()) else ""
    orders = f"{'; '.join(ranks.values())}{equal}; and of other numbers likewise"
    sentences = [f"Runs of the same length go by their ranks: {orders}."]
    highest = ruleset.straight_suit_of == "highest"
    cards = [("the card of the highest rank" if highest else "the last card")] if "run" in kinds else []
    cards += ["the card"] if kinds == ["suited_run"] else []
    cards += ["the last pair"] if "pair_run" in kinds else []
    cards += ["the last triple"] if ruleset.decks > 1 and any("triple" in kind for kind in kinds) else []
    if cards and not ruleset.equal_suits:
        sentences.append(f"Between equal runs the highest suit of {listed(cards, 'or')} decides.")
    return sentences


def _matching(ruleset: Ruleset, cards: str) -> str:
    suit = f", then by the highest suit of {cards}" if ruleset.decks > 1 and not ruleset.equal_suits else ""
    return f"by the rank of {cards}{suit}"


def _two_pair(ruleset: Ruleset) -> str:
    both = " and of the lower" if ruleset.two_pair_order == "ranks_then_suit" else ""
    then = "" if ruleset.equal_suits else ", then by the highest suit of the higher pair"
    fifth = "a fifth card counts for nothing"
    return f"Two pairs with a card of a third rank go by the rank of the higher pair{both}{then}; {fifth}."


def _bare_two_pair(ruleset: Ruleset) -> str:
    return (
        _two_pair(ruleset)
        .replace(" with a card of a third rank", "")
        .replace("; a fifth card counts for nothing", "")
    )


def _quads(ruleset: Ruleset) -> str:
    fives = " Five cards of one rank are the same kind." if ruleset.decks > 1 else ""
    return f"Four of a kind take any fifth card and go {_matching(ruleset, 'the four')}.{fives}"


def _run(ruleset: Ruleset) -> str:
    orders = run_order(ruleset, "run")
    five = "" if 5 in orders else ", but not five"
    apart = (
        "; one all of one suit is a run of one suit and nothing else" if "suited_run" in ruleset.plays else ""
    )
    return f"A run of cards is {number(min(orders))} or more cards of consecutive ranks{five}{apart}."


def _suited_run(ruleset: Ruleset) -> str:
    orders = run_order(ruleset, "suited_run")
    five = "" if 5 in orders else ", but not five"
    return f"A run of one suit is {number(min(orders))} or more cards of consecutive ranks in one suit{five}."


def _pair_run(ruleset: Ruleset) -> str:
    return f"A run of pairs is {number(ruleset.pair_run_from)} or more pairs of consecutive ranks."


def _triple_run(_: Ruleset) -> str:
    return "A run of triples is two or more triples of consecutive ranks."


def _triple_run_plus_pairs(ruleset: Ruleset) -> str:
    run = "" if "triple_run" in ruleset.plays else f" {_triple_run(ruleset)}"
    return f"With a run of triples go as many pairs of different other ranks, which count for nothing.{run}"


def _triple_plus_two_pairs(ruleset: Ruleset) -> str:
    beside = "with pairs of two other ranks, which count for nothing"
    return f"A triple {beside}, goes {_matching(ruleset, 'the triple')}."


_KINDS: dict[str, Callable[[Ruleset], str]] = {
    "pair": lambda ruleset: (
        f"Pairs go by rank{'' if ruleset.equal_suits else ', then by their higher suit'}."
    ),
    "triple": lambda ruleset: f"Triples go {_matching(ruleset, 'the three')}.",
    "two_pair": _two_pair,
    "full_house": lambda ruleset: f"Full houses go {_matching(ruleset, 'the triple')}.",
    "quads": _quads,
    "bare_quads": lambda ruleset: f"Bare four of a kind go {_matching(ruleset, 'the four')}.",
    "bare_two_pair": _bare_two_pair,
    "run": _run,
    "suited_run": _suited_run,
    "pair_run": _pair_run,
    "dragon": lambda ruleset: (
        f"A dragon is one card of every rank; dragons go by the suit of the {ruleset.ranks[-1]}."
    ),
    "triple_run": _triple_run,
    "triple_run_plus_pairs": _triple_run_plus_pairs,
    "triple_plus_two_pairs": _triple_plus_two_pairs,
    "straight_flush_plus_two": lambda _: "Straight flushes take any two more cards, which count for nothing.",
}
"""What to say about a kind in rulesets that play it; straights and flushes have their own sections."""


def five_cards(ruleset: Ruleset) -> list[str]:
    """Return the order of the kinds of five cards, with examples."""
    limits = limited(ruleset.bombs_beat)
    kinds = [kind for kind in ruleset.five_card_order if kind not in ruleset.bombs or kind in limits]
    if not kinds:
        return _whole_order(ruleset, kinds)
    apart = ", bombs apart" if len(kinds) < len(ruleset.five_card_order) else ""
    every = _whole_order(ruleset, kinds)
    if len(kinds) == 1:
        return [f"The only kind of five cards{apart} is {_with_example(ruleset, kinds[0])}.", *every]
    if ruleset.kinds_compete:
        order = weakest_first([_with_example(ruleset, kind) for kind in kinds])
        return [f"Five cards of a stronger kind beat five of a weaker one{apart}: {order}.", *every]
    names = listed([_with_example(ruleset, kind) for kind in kinds])
    return [f"Five cards are beaten only by five of the same kind{apart}. The kinds are {names}.", *every]


def _whole_order(ruleset: Ruleset, kinds: Sequence[str]) -> list[str]:
    """Return the order of all kinds of five cards where it is not that of those ``kinds``, then bombs."""
    order = ruleset.five_card_order
    bombs = [kind for kind in ruleset.bomb_order or ruleset.bombs if kind in order and kind not in kinds]
    usual = [*kinds, *bombs] if ruleset.kinds_compete else [kind for kind in order if kind in kinds] + bombs
    if [*order] == usual:
        return []
    return [f"The whole order, bombs included, is {weakest_first([*map(bare, order)])}."]


def _with_example(ruleset: Ruleset, kind: str) -> str:
    cards = example(ruleset, kind)
    return f"{bare(kind)} ({cards})" if cards else bare(kind)


def example(ruleset: Ruleset, kind: str) -> str:
    """Return five cards of the kind, as text; empty if one pack does not have such cards."""
    ranks = ruleset.ranks
    match kind:
        case "two_pair":
            low = _equal(ruleset, 6, 2, "DCHS")
            high = _equal(ruleset, 8, 2, "HSDC", {card[:-1] for card in low})
            return _joined(ruleset, low + high, 3, 1, "CDHS") if low and high else ""
        case "full_house":
            return _joined(ruleset, _equal(ruleset, 6, 3, "DCHS"), 8, 2, "CSDH")
        case "quads":
            return _joined(ruleset, _equal(ruleset, 7, 4, "DCHS"), 3, 1, "CDHS")
        case "royal_flush":
            return _suited(ruleset, [ranks[-6:-1]], "HDCS")
        case "flush":
            return _suited(ruleset, _out_of_sequence(ruleset), "HDCS")
    middle = len(ruleset.straights) // 2
    sequences = [level[0].split() for level in (*ruleset.straights[middle:], *ruleset.straights[:middle])]
    if kind != "straight":
        return _suited(ruleset, sequences, "DCHS")
    suits = [first + "DCHS".replace(first, "") for first in "CHSDC"]
    mixed = (
        five
        for ranks in sequences
        for five in product(*(_present(ruleset, *cards) for cards in zip(ranks, suits, strict=True)))
        if len({card[-1] for card in five}) > 1
    )
    return " ".join(next(mixed, ()))


def _joined(ruleset: Ruleset, equal: list[str], first: int, count: int, suits: str) -> str:
    """Return equal cards and so many of another rank, as text; empty if there are none of either."""
    others = _equal(ruleset, first, count, suits, {card[:-1] for card in equal})
    return " ".join(equal + others) if equal and others else ""


def _equal(ruleset: Ruleset, first: int, count: int, suits: str, but: Collection[str] = ()) -> list[str]:
    """Return so many cards of one rank: of the rank at ``first``, or one that follows and has so many."""
    ranks = (*ruleset.ranks[first:], *ruleset.ranks[:first])
    held = (_present(ruleset, rank, suits) for rank in ranks if rank not in but)
    return next((cards[:count] for cards in held if len(cards) >= count), [])


def _suited(ruleset: Ruleset, sets: Iterable[Sequence[str]], suits: str) -> str:
    """Return the cards of the first of these sets of ranks that are in the pack in one suit."""
    fives = (
        [card for rank in ranks for card in _present(ruleset, rank, suit)] for ranks in sets for suit in suits
    )
    return " ".join(next((five for five in fives if len(five) == 5), []))


def _present(ruleset: Ruleset, rank: str, suits: str) -> list[str]:
    return [rank + suit for suit in suits if rank + suit not in ruleset.removed_cards]


def _out_of_sequence(ruleset: Ruleset) -> Iterator[Sequence[str]]:
    legal = {frozenset(sequence.split()) for level in ruleset.straights for sequence in level}
    fives = combinations(ruleset.ranks[2:11:2] + ruleset.ranks, 5)
    return (five for five in fives if len(set(five)) == 5 and frozenset(five) not in legal)


def straights(ruleset: Ruleset) -> list[str]:
    """Return the legal sequences and their order."""
    if not _SEQUENCES & set(ruleset.plays):
        return []
    sentences = [
        f"The sequences are, from weakest to strongest: {_sequences(ruleset.straights, ruleset.ranks)}."
    ]
    if any(len(level) > 1 for level in ruleset.straights):
        sentences.append("Those joined by = are of equal strength.")
    if not ruleset.equal_suits:
        card = "last card" if ruleset.straight_suit_of == "top" else "card of the highest rank"
        sentences.append(f"Between equal sequences the suit of the {card} decides.")
    return sentences + _in_suit(ruleset)


def _in_suit(ruleset: Ruleset) -> list[str]:
    if "straight_flush" in ruleset.plays:
        sentences = ["A sequence all of one suit is a straight flush and nothing else."]
        if "royal_flush" in ruleset.five_card_order:
            *_, last = (*cycle(ruleset.ranks), ruleset.ranks[-2])
            ranks = " ".join((*ruleset.ranks[-6:-2], last))
            suit = "" if ruleset.equal_suits else "; its suit decides"
            sentences.append(f"Of one suit, {ranks} is a royal flush, a kind of its own{suit}.")
        return sentences
    plain = [kind for kind in ruleset.five_card_order if kind in ("straight", "flush")]
    alone = "Five cards of one suit in sequence"
    return [f"{alone} are {KIND_NAMES[plain[-1]]}."] if plain else [f"{alone} are not a play of their own."]


def _sequences(levels: StraightOrder, ranks: tuple[str, ...]) -> str:
    """Write out the levels, weakest first; of a long run rank by rank, only the ends."""
    order = cycle(ranks)
    follows = [False, *(_follows(before, level, order) for before, level in pairwise(levels)), False]
    parts: list[str] = []
    for place, level in enumerate(levels):
        if not all(follows[max(place - 1, 0) : place + 2]):
            parts.append(" = ".join(level))
        elif parts[-1] != "…":
            parts.append("…")
    return weakest_first(parts)


def _follows(level: tuple[str, ...], later: tuple[str, ...], order: tuple[str, ...]) -> bool:
    if len(level) > 1 or len(later) > 1:
        return False
    return [(order.index(rank) + 1) % len(order) for rank in level[0].split()] == [
        order.index(rank) for rank in later[0].split()
    ]


def flushes(ruleset: Ruleset) -> list[str]:
    """Return how flushes compare."""
    if "flush" not in ruleset.plays:
        return []
    order = {
        "suit_then_top": "by suit, then by the highest rank",
        "top_then_suit": "by the highest rank, then by suit",
        "ranks_then_suit": "by all their ranks from the highest down, then by suit",
    }[ruleset.flush_order]
    if ruleset.equal_suits:
        by_all = ruleset.flush_order == "ranks_then_suit"
        order = "by all their ranks from the highest down" if by_all else "by the highest rank"
    sentences = [f"Flushes, five cards of one suit, go {order}."]
    if ruleset.decks > 1:
        sentences.append("A flush may hold two of the same card.")
    return sentences + _also_flushes(ruleset)


def _also_flushes(ruleset: Ruleset) -> list[str]:
    """Return what five cards are that are of one suit and a kind by their ranks, as several packs have."""
    order = ruleset.five_card_order
    both = [kind for kind, decks in _IN_ONE_SUIT.items() if decks <= ruleset.decks and kind in order]
    stronger = [kind for kind in both if order.index(kind) > order.index("flush")]
    weaker = [kind for kind in both if kind not in stronger]
    sentences = (
        [f"In one suit, {listed([KIND_NAMES[kind] for kind in weaker])} are a flush."] if weaker else []
    )
    if stronger:
        sentences.append(f"In one suit, {listed([KIND_NAMES[kind] for kind in stronger])} are not a flush.")
    return sentences


_IN_ONE_SUIT = {"two_pair": 2, "full_house": 3, "quads": 4}
"""By kind, how many packs it takes to have one in one suit."""


def bombs(ruleset: Ruleset) -> list[str]:
    """Return which plays beat plays of other kinds and sizes."""
    if not ruleset.bombs:
        return []
    limits = limited(ruleset.bombs_beat)
    order = [name for name in ruleset.bomb_order or ruleset.bombs if name not in limits]
    some = [name for name in ruleset.bombs if name in limits]
    sentences = [f"Bombs are {_bombs([*order, *some], ruleset)}."]
    if order:
        subject, rival = (
            ("They", "a bomb") if not limits else (_sentence(_bombs(order, ruleset)), "such a bomb")
        )
        sentences.append(f"{subject} beat any play, of whatever kind and size, that is not {rival}.")
    if len(order) > 1:
        among = "these" if limits else "bombs"
        parts = [_bare_bomb(name, ruleset) for name in order]
        sentences.append(f"Among {among} the order is: {weakest_first(parts)}.")
    for name in some:
        beaten = _bombs(limits[name], ruleset)
        if _is_run(name):
            beaten = beaten.replace(KIND_NAMES["pair_run"], "any other run of pairs")
        verb = (
            "beats" if name == kind_of(name) not in ("two_pair", "bare_two_pair") or _is_run(name) else "beat"
        )
        sentences.append(f"{_sentence(_bombs([name], ruleset))} {verb} {beaten}.")
    if limits:
        sentences.append("Against all other plays these go by their kind.")
    runs = [run_lengths(name, ruleset.bombs, len(ruleset.ranks)) for name in ruleset.bombs if _is_run(name)]
    if any(len(lengths) > 1 for lengths in runs):
        among = "" if len(runs) == 1 else "Of the same bomb, "
        sentences.append(_sentence(f"{among}a longer run of pairs beats a shorter one."))
    sentences += [
        f"A longer {bare(kind)} beats a shorter one."
        for kind in _OF_MANY_LENGTHS
        if kind in ruleset.bombs and not _is_run(kind)
    ]
    if ruleset.bombs_out_of_turn:
        sentences.append(
            "After every play, before the next turn, any other player may bomb it out of turn, the next to "
            "play first of all; play goes on from the bomber."
        )
    return sentences


def _bombs(names: Sequence[str], ruleset: Ruleset) -> str:
    return listed([bomb_name(name, ruleset) for name in names])


_OF_MANY_LENGTHS = ("run", "suited_run", "pair_run", "triple_run", "triple_run_plus_pairs")


def _is_run(name: str) -> bool:
    return kind_of(name) == "pair_run"


def _bare_bomb(name: str, ruleset: Ruleset) -> str:
    return bomb_name(name, ruleset).removeprefix("a ") if kind_of(name) == name else bomb_name(name, ruleset)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"
