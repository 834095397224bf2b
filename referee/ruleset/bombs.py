"""The names of bombs, and of what they beat: a kind, runs of so many pairs, or cards of a chosen rank.

``quads`` is a kind; ``pair_run 4`` are the runs of four or more pairs, up to the next length that the ruleset
names; ``A A A`` are three aces, which are of the kind ``triple``.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import chain
from typing import Annotated, Literal

from referee.cards import JOKER, RANK_SETS
from referee.errors import Problem
from referee.ruleset.annotations import Fields, Step
from referee.ruleset.fields import KINDS, distinct_names
from referee.validation import Refused, shown, suggestion

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
    """Return the rank that a name chooses; empty for a kind and for runs."""
    first = name.split()[0]
    return "" if first in _NAMES else first


def run_lengths(name: str, bombs: Sequence[str], most: int) -> range:
    """Return the numbers of pairs, up to ``most``, of the runs that a name stands for where these are bombs.

    A bomb's runs are shorter than those of the next; ``pair_run`` stands for all runs if it is not a bomb.
    """
    shortest = _shortest(name)
    longer = [pairs for bomb in bombs if (pairs := _shortest(bomb)) > shortest] if name in bombs else []
    return range(shortest, min(longer, default=most + 1))


def limited(bombs_beat: BombsBeat) -> Mapping[str, Sequence[str]]:
    """Return what the bombs that do not beat any play beat, by bomb."""
    return {} if bombs_beat == "any" else dict(bombs_beat)


def problems(
    bombs: Sequence[str], bomb_order: Sequence[str], bombs_beat: BombsBeat, playable: Container[str]
) -> Iterator[Problem]:
    """Yield what in these fields contradicts the kinds that may be played, or each other."""
    limits = limited(bombs_beat)
    for name in bombs:
        kind = kind_of(name)
        if kind not in playable:
            yield Problem("bombs", f"has {name}, {_lacks(kind)}")
        if name != kind and kind in bombs and kind != "pair_run":
            yield Problem("bombs", f"has {name}, which {kind} includes")
    for field, names in (("bombs", bombs), ("bomb_order", bomb_order)):
        runs = [_shortest(name) for name in names if kind_of(name) == "pair_run" and name not in limits]
        if runs != sorted(runs):
            yield Problem(field, "must have longer runs of pairs after shorter ones")
    if bomb_order and set(bomb_order) != set(bombs) - set(limits):
        which = "that beat any play, " if limits else ""
        yield Problem("bomb_order", f"must hold the kinds of bombs {which}each once, or be empty")
    for name, targets in limits.items():
        if name not in bombs:
            yield Problem("bombs_beat", f"has {name}, which bombs lacks")
        for target in targets:
            kind = kind_of(target)
            if target == name:
                yield Problem("bombs_beat", f"{name} has itself, and a stronger {name} beats it anyway")
            elif kind not in playable:
                yield Problem("bombs_beat", f"{name} has {target}, {_lacks(kind)}")
            elif {target, kind if rank_of(target) else target} & ({*bombs} - {*limits}):
                yield Problem("bombs_beat", f"{name} has {target}, a bomb that beats any play")
            elif target.startswith(_RUN) and target not in bombs:
                yield Problem("bombs_beat", f"{name} has {target}, which bombs lacks")


def _lacks(kind: str) -> str:
    return f"which {'five_card_order' if kind == 'royal_flush' else 'plays'} lacks"


def _shortest(name: str) -> int:
    """Return the fewest pairs of the runs that a name stands for, 0 for another kind."""
    if kind_of(name) != "pair_run":
        return 0
    return int(name.removeprefix(_RUN)) if name.startswith(_RUN) else _SHORTEST_RUN


def _read(given: object, before: Fields, fewest: int) -> str:
    """Return the canonical form of a name; chosen ranks need ``fewest`` cards."""
    parts = given.split() if isinstance(given, str) else []
    ranks: Sequence[str] = before.get("ranks", ())
    named = (*ranks, JOKER) if before.get("jokers") else ranks
    if len(parts) == 1 and parts[0] in _NAMES:
        return parts[0]
    if len(parts) == 2 and parts[0] == "pair_run" and parts[1] in _LENGTHS[: len(ranks) - _SHORTEST_RUN]:
        return " ".join(parts)
    if len(set(parts)) == 1 and parts[0] in named and fewest <= len(parts) <= len(EQUAL_CARDS):
        return " ".join(parts)
    hint = suggestion(given, _NAMES) if isinstance(given, str) else ""
    forms = f"a kind, {_RUN}N for runs of N or more pairs (3 to {len(ranks)}), or ranks such as 'A A A'"
    raise ValueError(f"must be {forms}, not {shown(given)}{hint}")


_LENGTHS = [str(pairs) for pairs in range(_SHORTEST_RUN + 1, _LONGEST_RUN + 1)]


def _bomb(given: object, before: Fields) -> str:
    return _read(given, before, fewest=2)


def _bombs_beat(given: object, before: Fields) -> BombsBeat:
    if given == "any":
        return "any"
    bombs: Sequence[str] = before.get("bombs", ())
    if given == "twos":
        return _sorted({name: _twos(place, bombs, before) for place, name in enumerate(bombs)})
    if not isinstance(given, Mapping):
        raise ValueError(f"must be 'any', 'twos', or an object of what each bomb beats, not {shown(given)}")
    wrong: list[Problem] = []
    beaten: dict[str, Sequence[str]] = {}
    for bomb, targets in given.items():
        try:
            if not isinstance(targets, list | tuple) or not targets:
                raise ValueError(f"must be a list of what {shown(bomb)} beats, not {shown(targets)}")
            beaten[_bomb(bomb, before)] = [_read(target, before, fewest=1) for target in targets]
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
    """Return the plays of twos alone, and the weaker bombs, which the bomb at this place beats."""
    plays, ranks = before.get("plays", ()), before.get("ranks", ())
    twos = [" ".join([*ranks[-1:]] * (size + 1)) for size, kind in enumerate(EQUAL_CARDS) if kind in plays]
    return [name for name in (*twos, *bombs[:place]) if name not in bombs[place:]]


def _form(fewest: int) -> Mapping[str, object]:
    """Return the JSON Schema of the name of a bomb, or of what it beats: ``fewest`` or more of a rank."""
    ranks = "|".join(sorted({JOKER, *chain(*RANK_SETS)}))
    return {
        "anyOf": [
            {"enum": list(_NAMES)},
            {"type": "string", "pattern": f"^{_RUN}({'|'.join(_LENGTHS)})$"},
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
