"""Comparing two sets of cards: the pairs of which wrong rules say something else."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import pairwise
from typing import Any, NamedTuple

from referee.records.tools import compare
from referee.rules.plays import Classifier, Rules
from referee.rules.strength import Limited, Strength
from referee.ruleset import Ruleset
from tests.vectors.combos import card_sets, odd_sets
from tests.vectors.files import CARDS, FLAG, RULESET, TEXT, Case, VectorFile, maybe, record
from tests.vectors.rulesets import (
    COMBINING,
    DRAGON,
    PACK,
    TWO_PACKS,
    distinct,
    readings,
    rules_named,
    ruleset_named,
    sources,
)

LADDERS = ("chinese", "hong-kong", "hong-kong-relatives", "shanghai")
"""The rulesets of which neighbours in strength are compared."""

EQUALS = ("only-a-game-8", "chinese/jokers=2", "chinese/decks=3/players=8", TWO_PACKS)
"""Those of which only cards of one rank are: several packs, and jokers."""

Pair = tuple[str, str]
"""Two sets of cards to compare."""


def answer(given: Mapping[str, Any]) -> dict[str, object]:
    """Return what the rules tools say of two sets of cards."""
    return compare({**given, "ruleset": sources()[given["ruleset"]]})


def cases() -> Iterator[Case]:
    """Yield what is compared, ruleset by ruleset."""
    for name in distinct((*PACK, *COMBINING)):
        for (a, b), about in telling_pairs(name).items():
            yield about, {"ruleset": name, "a": a, "b": b}


@cache
def telling_pairs(name: str) -> Mapping[Pair, str]:
    """Return pairs of a ruleset, each with what it is about.

    For each wrong reading of a field, these are pairs that tell it from the right one: one that only the
    right one lets beat, one that only the wrong one lets beat, and one of another kind.
    """
    rules, texts = rules_named(name), card_sets(ruleset_named(name))
    masks = [*map(rules.parse, texts)]
    rivals = _rivals(texts)
    right = _verdicts(rules, ruleset_named(name), masks, rivals)
    chosen: dict[Pair, str] = {}
    for axis, other in readings(name, COMBINING):
        wrong = _verdicts(rules, other, masks, rivals)
        differing = [right.beats - wrong.beats, wrong.beats - right.beats]
        differing.append({(at, at) for at in range(len(texts)) if right.kinds[at] != wrong.kinds[at]})
        for places in filter(None, differing):
            pair = _one([(texts[a], texts[b]) for a, b in places], chosen)
            chosen.setdefault(pair, f"would differ with {axis} = {_shown(other, axis)}")
    if name in (*LADDERS, DRAGON):
        for text in odd_sets(ruleset_named(name)):
            chosen.setdefault((text, text), "resembles a combination")
    for (low, a), (high, b) in pairwise(_ladder(name, right.codes, texts)):
        if low == high or sum(map(ord, a)) % 2 or name in EQUALS:
            chosen.setdefault((b, a), "as strong" if low == high else "next in strength")
    return chosen


def _ladder(name: str, codes: Sequence[int], texts: Sequence[str]) -> list[tuple[int, str]]:
    """Return sets of cards by strength, the weakest first: all, or equal cards, or none."""
    width = rules_named(name).width
    ranked = sorted((code >> width, text) for code, text in zip(codes, texts, strict=True) if code)
    if name in EQUALS:
        return [(strength, text) for strength, text in ranked if len({card[0] for card in text.split()}) == 1]
    return ranked if name in LADDERS else []


class Verdicts(NamedTuple):
    """What a reading of the rules makes of sets of cards."""

    codes: list[int]
    kinds: list[str | None]
    beats: set[tuple[int, int]]
    """Those of the pairs, by place, of which the first beats the second."""


def _verdicts(
    rules: Rules, ruleset: Ruleset, masks: Sequence[int], rivals: Sequence[tuple[int, int]]
) -> Verdicts:
    strength = Strength(ruleset, rules.width)
    code = Classifier(rules, strength).code
    codes, full, first_bomb = [*map(code, masks)], rules.full, strength.first_bomb
    group_full = (1 << rules.width + strength.bits) - 1
    beats = {
        (a, b)
        for a, b in rivals
        if (one := codes[a]) > (other := codes[b]) | full
        and other
        and (one <= other | group_full or one >= first_bomb)
    }
    if ruleset.bombs_beat != "any":
        limited = Limited(ruleset, strength).beats
        beats |= {(a, b) for a, b in rivals if codes[b] and limited(codes[a], codes[b])}
    return Verdicts(codes, [strength.kind(code) if code else None for code in codes], beats)


def _shown(ruleset: Ruleset, axis: str) -> str:
    value = getattr(ruleset, axis)
    if axis in ("straights", "bombs_beat") and not isinstance(value, str):
        return "another value"
    return " ".join(value) or "none" if isinstance(value, tuple) else str(value).lower()


def _rivals(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Return pairs, by place, that some ruleset could let beat each other: of like shape, and some others."""
    shapes = [(text.count(" "), _shape(text)) for text in texts]
    pairs = ((a, b) for a in range(len(texts)) for b in range(len(texts)) if a != b)
    return [
        (a, b) for a, b in pairs if _may_beat(shapes[a], shapes[b], (31 * a + b) % 23) or texts[b] in _PROBES
    ]


def _may_beat(shape: tuple[int, int], other: tuple[int, int], lot: int) -> bool:
    """Return whether sets of these shapes are compared: a fourth of those of five cards, few of others."""
    if shape == other:
        return not shape[1] or lot < 6
    return lot == 0 and shape[0] > 0


def _shape(text: str) -> int:
    """Return how many ranks five cards have; of others, all are of one shape."""
    return len({card[:-1] for card in text.split()}) if text.count(" ") == 4 else 0


_PROBES = {"3D", "2D", "2S", "2D 2C", "3D 3C", "2D 2C 2H", "3D 3C 3H", "RJ", "3D 3C 3H 4D 4S"}


def _one(found: Sequence[Pair], chosen: Mapping[Pair, str]) -> Pair:
    """Return one of these pairs: one that is chosen already, or else one by lot, always the same."""
    return min(found, key=lambda pair: (pair not in chosen, sha256("|".join(pair).encode()).digest()))


FILE = VectorFile(
    name="compare",
    about="Two sets of cards: of which kind each is under the ruleset (null: no combination), and whether "
    "`a`, played on `b`, beats it.",
    answer=answer,
    cases=cases,
    input=record(ruleset=RULESET, a=CARDS, b=CARDS),
    expected=record(a=maybe(TEXT), b=maybe(TEXT), beats=FLAG),
)
