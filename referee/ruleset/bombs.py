"""The names of bombs, and of what they beat: a kind, runs of so many pairs, or cards of a chosen rank.

``quads`` is a kind; ``pair_run 4`` are the runs of four or more pairs, up to the next length that the ruleset
names; ``A A A`` are three aces, which are of the kind ``triple``; among what bombs beat, ``2S`` is
one card.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import TYPE_CHECKING, Annotated, Literal

from referee.cards import JOKER, JOKERS, RANK_SETS, SUITS
from referee.errors import Problem
from referee.reading.validation import Refused, shown, suggestion
from referee.ruleset.annotations import Fields, Step
from referee.ruleset.fields import KINDS, distinct_names

if TYPE_CHECKING:
    from referee.ruleset.model import Ruleset

EQUAL_CARDS = ("single", "pair", "triple", "bare_quads")
"""The kinds of one, two, three and four cards of one rank."""

_NAMES = (*KINDS, "royal_flush")
_SHORTEST_RUN, _LONGEST_RUN = 2, len(max(RANK_SETS, key=len))
_RUN = "pair_run "

BombsBeat = Literal["any"] | tuple[tuple[str, tuple[str, ...]], ...]
"""What bombs beat: ``any`` play that is no bomb, or by bomb the only plays that it beats out of its kind."""


def kind_of(name: str) -> str:
    """Return the kind of the plays that a name stands for."""
    first, *more = name.split()
    return first if first in _NAMES else EQUAL_CARDS[len(more)]


def rank_of(name: str) -> str:
    """Return the rank, or the single card, that a name chooses; empty for a kind and for runs."""
    first = name.split()[0]
    return "" if first in _NAMES else first


def is_card(name: str) -> bool:
    """Return whether a name stands for one single card, such as ``2S``."""
    return name in JOKERS or (name[-1] in SUITS and name[:-1] in _RANKS)


_RANKS = {*chain(*RANK_SETS)}
_CARD_PATTERN = f"^(({'|'.join(sorted(_RANKS))})[{''.join(SUITS)}]|{'|'.join(JOKERS)})$"


def run_lengths(name: str, bombs: Sequence[str], most: int) -> range:
    """Return the numbers of pairs, up to ``most``, of the runs that a name stands for where these are bombs.

    A bomb's runs are shorter than those of the next; ``pair_run`` stands for all runs if it is not a bomb.
    """
    shortest = _shortest(name)
    longer = [pairs for bomb in bombs if (pairs := _shortest(bomb)) > shortest] if name in bombs else []
    return range(shortest, min(longer, default=most + 1))


def cards_held(rank: str, removed_cards: Container[str], decks: int) -> int:
    """Return how many cards of a rank that is not the jokers' all packs have together."""
    return decks * sum(rank + suit not in removed_cards for suit in SUITS)


def limited(bombs_beat: BombsBeat) -> Mapping[str, Sequence[str]]:
    """Return what the bombs that do not beat any play beat, by bomb."""
    return {} if bombs_beat == "any" else dict(bombs_beat)


def problems(ruleset: "Ruleset") -> Iterator[Problem]:
    """Yield what in the fields on bombs contradicts the kinds that may be played, or each other."""
    bombs, limits = ruleset.bombs, limited(ruleset.bombs_beat)
    for name in bombs:
        kind = kind_of(name)
        if not _is_playable(ruleset, kind):
            yield Problem("bombs", f"has {name}, {_lacks(kind)}")
        if name != kind and kind in bombs and kind != "pair_run":
            yield Problem("bombs", f"has {name}, which {kind} includes")
    for field, names in (("bombs", bombs), ("bomb_order", ruleset.bomb_order)):
        runs = [_shortest(name) for name in names if kind_of(name) == "pair_run" and name not in limits]
        if runs != sorted(runs):
            yield Problem(field, "must have longer runs of pairs after shorter ones")
    if ruleset.bomb_order and {*ruleset.bomb_order} != {*bombs} - {*limits}:
        which = "that beat any play, " if limits else ""
        yield Problem("bomb_order", f"must hold the kinds of bombs {which}each once, or be empty")
    for name, targets in limits.items():
        if name not in bombs:
            yield Problem("bombs_beat", f"has {name}, which bombs lacks")
        if not targets:
            yield Problem("bombs_beat", f"leaves {name} nothing to beat")
        for target in targets:
            if refusal := _why_not(ruleset, name, target):
                yield Problem("bombs_beat", refusal)
    for name, other in combinations(sorted(limits), 2):
        if _beats_some(ruleset, name, other) and _beats_some(ruleset, other, name):
            yield Problem("bombs_beat", f"lets {name} and {other} beat each other")


def _why_not(ruleset: "Ruleset", name: str, target: str) -> str:
    """Return why the list of a bomb may not have this; empty if it may."""
    kind, limits = kind_of(target), limited(ruleset.bombs_beat)
    if target == name:
        return f"{name} has itself, and a stronger {name} beats it anyway"
    if not _is_playable(ruleset, kind):
        return f"{name} has {target}, {_lacks(kind)}"
    if {target, kind if rank_of(target) else target} & ({*ruleset.bombs} - {*limits}):
        return f"{name} has {target}, a bomb that beats any play"
    if target.startswith(_RUN) and target not in ruleset.bombs:
        return f"{name} has {target}, which bombs lacks"
    if _is_compared(kind_of(name), kind, ruleset.five_card_order if ruleset.kinds_compete else ()):
        return f"{name} has {target}, with which it is compared by strength, bomb or not"
    if kind == kind_of(name) == "pair_run" and _lengths(ruleset, target) <= _lengths(ruleset, name):
        return f"{name} has {target}, of which it names every run"
    return ""


def _is_playable(ruleset: "Ruleset", kind: str) -> bool:
    return kind in ruleset.plays or kind in ruleset.five_card_order


def _is_compared(kind: str, other: str, competing: Sequence[str]) -> bool:
    """Return whether plays of two kinds beat each other by strength; of runs, those of one length do."""
    return (kind == other != "pair_run") or (kind in competing and other in competing)


def _lengths(ruleset: "Ruleset", name: str) -> set[int]:
    """Return the numbers of pairs of the runs that a name stands for."""
    lengths = run_lengths(name, ruleset.bombs, len(ruleset.ranks))
    return {length for length in lengths if length >= ruleset.pair_run_from}


def _beats_some(ruleset: "Ruleset", name: str, other: str) -> bool:
    """Return whether the list of a bomb has plays of another bomb."""
    targets = [target for target in limited(ruleset.bombs_beat)[name] if kind_of(target) == kind_of(other)]
    if kind_of(other) == "pair_run":
        return any(_lengths(ruleset, target) & _lengths(ruleset, other) for target in targets)
    return any({rank_of(target), rank_of(other)} & {""} or target == other for target in targets)


def _lacks(kind: str) -> str:
    return f"which {'five_card_order' if kind == 'royal_flush' else 'plays'} lacks"


def _shortest(name: str) -> int:
    """Return the fewest pairs of the runs that a name stands for, 0 for another kind."""
    if kind_of(name) != "pair_run":
        return 0
    return int(name.removeprefix(_RUN)) if name.startswith(_RUN) else _SHORTEST_RUN


def _canonical_target(value: object, before: Fields, fewest: int) -> str:
    """Return the canonical form of a name; chosen ranks need ``fewest`` cards."""
    parts = value.split() if isinstance(value, str) else []
    ranks: Sequence[str] = before.get("ranks", ())
    named = (*ranks, JOKER) if before.get("jokers") else ranks
    if len(parts) == 1 and parts[0] in _NAMES:
        return parts[0]
    if len(parts) == 2 and parts[0] == "pair_run" and parts[1] in _NUMBERS[: len(ranks) - _SHORTEST_RUN]:
        return " ".join(parts)
    if len(set(parts)) == 1 and parts[0] in named and fewest <= len(parts) <= len(EQUAL_CARDS):
        return " ".join(parts)
    if fewest == 1 and isinstance(value, str) and value and is_card(value):
        return value
    hint = suggestion(value, _NAMES) if isinstance(value, str) else ""
    forms = f"a kind, {_RUN}N for runs of N or more pairs (3 to {len(ranks)}), or ranks such as 'A A A'"
    raise ValueError(f"must be {forms}, not {shown(value)}{hint}")


_NUMBERS = [str(pairs) for pairs in range(_SHORTEST_RUN + 1, _LONGEST_RUN + 1)]


def _bomb(value: object, before: Fields) -> str:
    return _canonical_target(value, before, fewest=2)


def _bombs_beat(value: object, before: Fields) -> BombsBeat:
    if value == "any":
        return "any"
    bombs: Sequence[str] = before.get("bombs", ())
    if value == "twos":
        return _sorted({name: _twos(place, bombs, before) for place, name in enumerate(bombs)})
    if not isinstance(value, Mapping):
        raise ValueError(f"must be 'any', 'twos', or an object of what each bomb beats, not {shown(value)}")
    wrong: list[Problem] = []
    beaten: dict[str, Sequence[str]] = {}
    for bomb, targets in value.items():
        try:
            if not isinstance(targets, list | tuple) or not targets:
                raise ValueError(f"must be a list of what {shown(bomb)} beats, not {shown(targets)}")
            beaten[_bomb(bomb, before)] = [_canonical_target(target, before, fewest=1) for target in targets]
        except ValueError as error:
            wrong.append(Problem("", str(error)))
            if len(wrong) == _MOST_WRONG:
                break
    if wrong:
        raise Refused(*wrong)
    return _sorted(beaten)


_MOST_WRONG = 20


def _sorted(beaten: Mapping[str, Sequence[str]]) -> BombsBeat:
    return tuple((bomb, tuple(sorted(set(beaten[bomb])))) for bomb in sorted(beaten)) or "any"


def _twos(place: int, bombs: Sequence[str], before: Fields) -> Sequence[str]:
    """Return the plays of twos alone, and the weaker bombs, which the bomb at this place beats.

    Plays with which it is compared by strength, and twos that are stronger bombs, are not among them.
    """
    plays, two = before.get("plays", ()), "".join(before.get("ranks", ())[-1:])
    held = cards_held(two, before.get("removed_cards", ()), before.get("decks", 1))
    five = before.get("five_card_order", ()) if before.get("kinds_compete") else ()
    twos = [" ".join([two] * size) for size, kind in enumerate(EQUAL_CARDS[:held], 1) if kind in plays]
    stronger = {*bombs[place:], *[kind_of(bomb) for bomb in bombs[place:] if not rank_of(bomb)]}
    own = kind_of(bombs[place])
    return [
        name
        for name in (*[name for name in twos if not {name, kind_of(name)} & stronger], *bombs[:place])
        if not _is_compared(own, kind_of(name), five)
    ]


def _form(fewest: int) -> Mapping[str, object]:
    """Return the JSON Schema of the name of a bomb, or of what it beats: ``fewest`` or more of a rank."""
    ranks = "|".join(sorted({JOKER, *chain(*RANK_SETS)}))
    return {
        "anyOf": [
            {"enum": list(_NAMES)},
            *([{"type": "string", "pattern": _CARD_PATTERN}] if fewest == 1 else []),
            {"type": "string", "pattern": f"^{_RUN}({'|'.join(_NUMBERS)})$"},
            {"type": "string", "pattern": rf"^({ranks})( \1){{{fewest - 1},{len(EQUAL_CARDS) - 1}}}$"},
        ]
    }


Bombs = Annotated[tuple[Annotated[str, Step(_bomb, "instead", _form(2))], ...], distinct_names]
BeatenByBombs = Annotated[
    BombsBeat,
    Step(
        _bombs_beat,
        "instead",
        {
            "anyOf": [
                {"enum": ["any", "twos"]},
                {
                    "type": "object",
                    "propertyNames": _form(2),
                    "additionalProperties": {"type": "array", "minItems": 1, "items": _form(1)},
                    "minProperties": 1,
                },
            ]
        },
    ),
]
