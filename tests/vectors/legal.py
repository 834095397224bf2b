"""What is legal in a turn: at the edge of what beats the table, and where another rule bears on it."""

from collections.abc import Iterator, Mapping
from typing import Any

from referee.deals.dealing import landmarks
from referee.deals.shuffle import shuffle
from referee.records.tools import legal
from referee.rules.plays import Rules
from referee.ruleset import preset_names
from tests.vectors.compare import telling_pairs
from tests.vectors.files import CARDS, FLAG, RULESET, Case, VectorFile, array, maybe, record
from tests.vectors.rulesets import (
    ALLOWING,
    COMBINING,
    GUARDED_WITH_BOMBS,
    PACK,
    distinct,
    rules_named,
    sources,
)

Input = dict[str, Any]


def answer(given: Mapping[str, Any]) -> dict[str, object]:
    """Return what the rules tools say is legal."""
    return legal({**given, "ruleset": sources()[given["ruleset"]]})


def cases() -> Iterator[Case]:
    """Yield hands and what lies on the table."""
    combining = distinct((*PACK, *COMBINING))
    for name in combining:
        yield from _beside_boundaries(name)
    for name in combining:
        if name in preset_names():
            yield from _whole_hands(name)
    for name in ("chinese/decks=3/players=8", "chinese/decks=4/players=8"):
        for hand in (
            "3D 3D 3D 4C",
            "3D 3D 3D 3D 4C",
            "3D 3D 3C 3C 4C",
            "3D 3D 3D 3C 4C 4C",
            "3D 3D 3D 3C 3C",
        ):
            if max(map(hand.split().count, hand.split())) <= rules_named(name).decks:
                yield "identical cards", _turn(name, hand, None)
    royal = next(name for name in sources() if name.endswith("straights=3-4-5-6-7+9-T-J-Q-K"))
    for hand in ("TS JS QS KS AS 9S", "TS JS QS KS AC 9S", "3S 4S 5S 6S 7S TS JS QS KS AS"):
        yield (
            "a royal flush whose sequence is no straight",
            _turn(royal, _sorted(rules_named(royal), hand), None),
        )
    for name in [*distinct((*ALLOWING, "equal_suits")), GUARDED_WITH_BOMBS]:
        yield from _restricted(name)


def _turn(ruleset: str, hand: str, table: str | None, **also: object) -> Input:
    usual = {"must_include": None, "next_has_one": False, "last_trick_player_is_self": False}
    return {"ruleset": ruleset, "hand": hand, "table": table, **usual, **also}


def _beside_boundaries(name: str) -> Iterator[Case]:
    """Yield turns in which the hand is one set of a pair, and two cards more, and the table the other."""
    rules = rules_named(name)
    low = [rules.mask([card]) for card in rules.pack[:2]]
    for (a, b), about in telling_pairs(name).items():
        if about.startswith("would") and a != b and rules.code(rules.parse(b)):
            hand = rules.parse(a)
            for card in low:
                hand = hand if card & hand else rules.add(hand, card)
            yield about, _turn(name, rules.text(hand), b)


def _whole_hands(name: str) -> Iterator[Case]:
    """Yield a dealt hand that leads, and that follows a single, a pair and five cards."""
    rules = rules_named(name)
    cards = list(rules.pack)
    shuffle(bytes(32), f"vectors/{name}", cards)
    hand = rules.text(rules.mask(sorted(cards[:11])))
    yield "a lead: every combination in a hand", _turn(name, hand, None)
    ranks = rules.ruleset.ranks
    suited = " ".join([*(rank + "S" for rank in ranks[:6]), ranks[2] + "D", ranks[2] + "C", ranks[-1] + "D"])
    yield "a lead: straights in one suit and others", _turn(name, _sorted(rules, suited), None)
    for size in (1, 2, 5):
        codes = [
            code for code in rules.list_plays(rules.mask(sorted(cards[11:33]))) if _size(rules, code) == size
        ]
        if codes:
            table = rules.text(codes[len(codes) // 4] & rules.full)
            yield f"a whole hand on {size}", _turn(name, hand, table)


def _size(rules: Rules, code: int) -> int:
    return rules.count(code & rules.full)


def _restricted(name: str) -> Iterator[Case]:
    """Yield turns on which rules about leads, last cards and the next seat bear."""
    rules = rules_named(name)
    marks = landmarks(rules)
    rank = [rules.text(cards & rules.ones).split() for cards in marks.ranks]
    lowest, top = rules.text(marks.rising[0]), rules.text(marks.top)
    low = " ".join(rank[0])
    for hand in (low, f"{lowest} {rank[1][0]} {rank[2][0]} {rank[3][1]} {rank[4][0]} {rank[-1][0]}"):
        yield (
            "the lead must contain the lowest card",
            _turn(name, _sorted(rules, hand), None, must_include=lowest),
        )
    both = f"{rank[0][0]} {rank[5][1]} {rank[5][2]} {rank[-2][0]}"
    singles = f"{rank[0][0]} {rank[5][1]} {rank[8][2]} {rank[-2][0]} {rank[-2][1]}".rsplit(" ", 1)[0]
    quads = f"{singles} {' '.join(rank[2])}"
    for hand in (both, singles, quads):
        for table in (None, rank[1][0], rank[-2][-1], f"{rank[1][0]} {rank[1][1]}"):
            for own in (False, True):
                given = _turn(
                    name, _sorted(rules, hand), table, next_has_one=True, last_trick_player_is_self=own
                )
                yield "the next seat has one card", given
    yield (
        "the next seat has one card, and the lead must contain a card that is not the highest",
        _turn(name, _sorted(rules, singles), None, next_has_one=True, must_include=rank[0][0]),
    )
    yield (
        "the play on the table is the seat's own",
        _turn(name, both, rank[1][0], last_trick_player_is_self=True),
    )
    for card in dict.fromkeys([top, rank[-1][0], rank[0][-1], rank[-2][0]]):
        for table in (None, rank[0][0]):
            yield "the last card", _turn(name, card, table)
    pair = _sorted(rules, f"{rank[-1][0]} {rank[-1][-1]}")
    for table in (None, f"{rank[1][0]} {rank[1][1]}", rank[1][0]):
        yield "a pair of the highest rank as the last play", _turn(name, pair, table)


def _sorted(rules: Rules, text: str) -> str:
    return rules.text(rules.parse(text))


FILE = VectorFile(
    name="legal",
    about="A turn: every legal play of the hand, sorted by number of cards and then by code point, and "
    "whether the seat may pass. `table` is the play to beat (null: a lead), `must_include` the card "
    "that the lead must contain; `next_has_one` says that the next seat has one card left, "
    "`last_trick_player_is_self` that the table is the seat's own play. Others hold more than one "
    "card that may not be the last.",
    answer=answer,
    cases=cases,
    input=record(
        ruleset=RULESET,
        hand=CARDS,
        table=maybe(CARDS),
        must_include=maybe(CARDS),
        next_has_one=FLAG,
        last_trick_player_is_self=FLAG,
    ),
    expected=record(plays=array(CARDS), pass_=FLAG),
)
