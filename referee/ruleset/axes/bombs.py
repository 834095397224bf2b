"""The names of bombs, and of what they beat: a kind, runs of so many pairs, or cards of a chosen rank.

``quads`` is a kind; ``pair_run 4`` are the runs of four or more pairs, up to the next length that the ruleset
names; ``A A A`` are three aces, which are of the kind ``triple``; among what bombs beat, ``2S`` is
one card.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import TYPE_CHECKING, Annotated, Literal

from referee.cards import JOKER, JOKERS, RANK_SETS, SUITS
from referee.errors import Problem
from referee.reading.validation import Refused, short, suggestion
from referee.ruleset.annotations import Fields, Flag, Step, distinct_names
from referee.ruleset.axes.kinds import KINDS
from referee.ruleset.axes.pack import MOST_RANKS, cards_held, rising
from referee.ruleset.axes.sequences import OF_MANY_LENGTHS
from referee.ruleset.axis import Axis, Numbers, Section, place_in
from referee.ruleset.words import KIND_NAMES, bare, listed, number, weakest_first

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


def _why_not(ruleset: "Ruleset", name: str, target: str) -> str:
    """Return why the list of a bomb may not have this; empty if it may."""
    kind, limits = kind_of(target), ruleset.bomb_limits
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
    targets = [target for target in ruleset.bomb_limits[name] if kind_of(target) == kind_of(other)]
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


def _target(value: object, before: Fields, fewest: int = 2) -> str:
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
    raise ValueError(f"must be {forms}, not {short(value)}{hint}")


_NUMBERS = [str(pairs) for pairs in range(_SHORTEST_RUN + 1, _LONGEST_RUN + 1)]


def _bombs_beat(value: object, before: Fields) -> BombsBeat:
    if value == "any":
        return "any"
    bombs: Sequence[str] = before.get("bombs", ())
    if value == "twos":
        return _sorted({name: _twos(place, bombs, before) for place, name in enumerate(bombs)})
    if not isinstance(value, Mapping):
        raise ValueError(f"must be 'any', 'twos', or an object of what each bomb beats, not {short(value)}")
    wrong: list[Problem] = []
    beaten: dict[str, Sequence[str]] = {}
    for bomb, targets in value.items():
        try:
            if not isinstance(targets, list | tuple) or not targets:
                raise ValueError(f"must be a list of what {short(bomb)} beats, not {short(targets)}")
            beaten[_target(bomb, before)] = [_target(target, before, fewest=1) for target in targets]
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
    gone = before.get("removed_cards", ())
    held = before.get("decks", 1) * sum(two + suit not in gone for suit in SUITS)
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


_BOMBS_BEAT = {
    "anyOf": [
        {"enum": ["any", "twos"]},
        {
            "type": "object",
            "propertyNames": _form(2),
            "additionalProperties": {"type": "array", "minItems": 1, "items": _form(1)},
            "minProperties": 1,
        },
    ]
}

_Names = Annotated[tuple[Annotated[str, Step(_target, "instead", _form(2))], ...], distinct_names]


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Bombs:
    """The fields on plays that beat other kinds and sizes."""

    __slots__ = ()

    bombs: _Names
    """Plays that beat other kinds and sizes: kinds, ``pair_run N`` (N or more pairs), ranks (``A A A``)."""
    bombs_beat: Annotated[BombsBeat, Step(_bombs_beat, "instead", _BOMBS_BEAT)]
    """What bombs beat: ``any`` play that is no bomb, ``twos`` only, or by bomb the list of what it beats."""
    bomb_order: _Names
    """The bombs that beat any play, weakest first; empty for the order of ``bombs``."""
    bombs_out_of_turn: Flag
    """Whether any seat may bomb a play before the next turn."""

    @property
    def bomb_limits(self) -> Mapping[str, Sequence[str]]:
        """What the bombs that do not beat any play beat, by bomb."""
        return {} if self.bombs_beat == "any" else dict(self.bombs_beat)

    @property
    def free_bombs(self) -> Sequence[str]:
        """The bombs that beat any play, weakest first."""
        return [name for name in self.bomb_order or self.bombs if name not in self.bomb_limits]


def _bomb_conflicts(ruleset: "Ruleset") -> Iterator[str]:
    bombs = ruleset.bombs
    for name in bombs:
        kind = kind_of(name)
        yield from _not_in_pack(ruleset, name)
        if not _is_playable(ruleset, kind):
            yield f"has {name}, {_lacks(kind)}"
        if name != kind and kind in bombs and kind != "pair_run":
            yield f"has {name}, which {kind} includes"
    yield from _unordered_runs(ruleset, bombs)


def _order_conflicts(ruleset: "Ruleset") -> Iterator[str]:
    yield from _unordered_runs(ruleset, ruleset.bomb_order)
    if ruleset.bomb_order and not _is_ordered(ruleset):
        which = "that beat any play, " if ruleset.bomb_limits else ""
        yield f"must hold the kinds of bombs {which}each once, or be empty"


def _is_ordered(ruleset: "Ruleset") -> bool:
    return {*ruleset.bomb_order} == {*ruleset.bombs} - {*ruleset.bomb_limits}


def _unordered_runs(ruleset: "Ruleset", names: Sequence[str]) -> Iterator[str]:
    limits = ruleset.bomb_limits
    runs = [_shortest(name) for name in names if kind_of(name) == "pair_run" and name not in limits]
    if runs != sorted(runs):
        yield "must have longer runs of pairs after shorter ones"


def _limit_conflicts(ruleset: "Ruleset") -> Iterator[str]:
    limits = ruleset.bomb_limits
    for name in dict.fromkeys(target for targets in limits.values() for target in targets):
        yield from _not_in_pack(ruleset, name)
    for name, targets in limits.items():
        if name not in ruleset.bombs:
            yield f"has {name}, which bombs lacks"
        if not targets:
            yield f"leaves {name} nothing to beat"
        yield from filter(None, [_why_not(ruleset, name, target) for target in targets])
    for name, other in combinations(sorted(limits), 2):
        if _beats_some(ruleset, name, other) and _beats_some(ruleset, other, name):
            yield f"lets {name} and {other} beat each other"


def _not_in_pack(ruleset: "Ruleset", name: str) -> Iterator[str]:
    """Yield why the pack has no cards, or too few, of the rank or the card that a name chooses."""
    rank = rank_of(name)
    if is_card(name):
        if ruleset.equal_suits and rank[:-1] in ruleset.ranks:
            yield f"has {name}, but with equal_suits all cards of a rank are equal"
        elif name not in rising(ruleset):
            yield f"has {name}, which is not in the pack"
    elif rank and (held := cards_held(ruleset, rank)) < len(name.split()):
        yield f"has {name}, but the pack has only {held} of that rank"


def _encode_bombs(ruleset: "Ruleset") -> Numbers:
    kinds = [*map(kind_of, ruleset.bomb_order or ruleset.bombs)]
    for kind in _NAMES:
        yield f"bombs.{kind}", place_in(kinds, kind)
    for rank in range(MOST_RANKS + 1):
        ranks = ruleset.rank_names[rank : rank + 1]
        chosen = [len(name.split()) for name in ruleset.bombs if rank_of(name) in ranks]
        yield f"bombs.rank.{rank}", max(chosen, default=0) / 4
    runs = [run_lengths(name, (), 0).start for name in ruleset.bombs if kind_of(name) == "pair_run"]
    yield "bombs.pairs", min(runs, default=MOST_RANKS) / MOST_RANKS


def _encode_limits(ruleset: "Ruleset") -> Numbers:
    limits = ruleset.bomb_limits
    for twos in range(1, 5):
        name = " ".join(ruleset.ranks[-1:] * twos)
        beating = [bomb for bomb in ruleset.bombs if bomb not in limits or name in limits[bomb]]
        yield f"bombs_beat.twos.{twos}", len(beating) / max(len(ruleset.bombs), 1)
    yield "bombs_beat.card", float(any(is_card(name) for names in limits.values() for name in names))
    yield "bombs_beat.any", float(len(limits) < len(ruleset.bombs))


AXES = {
    "bombs": Axis(
        settled=lambda ruleset: (*ruleset.free_bombs, *sorted(ruleset.bomb_limits)),
        conflicts=_bomb_conflicts,
        encode=_encode_bombs,
    ),
    "bombs_beat": Axis(
        "any",
        needs=lambda ruleset: {*ruleset.bomb_limits} <= {*ruleset.bombs},
        conflicts=_limit_conflicts,
        encode=_encode_limits,
        written=lambda ruleset: {bomb: list(beaten) for bomb, beaten in ruleset.bomb_limits.items()} or "any",
    ),
    "bomb_order": Axis(
        (),
        idle=lambda _: True,
        needs=_is_ordered,
        conflicts=_order_conflicts,  # bombs then has it
    ),
    "bombs_out_of_turn": Axis(
        False,
        needs=lambda ruleset: bool(ruleset.bombs),
        refusal="needs bombs",
        turn="bombs",
        words={
            True: "After every play, before the next turn, any other player may bomb it out of turn, the "
            "next to play first of all; play goes on from the bomber."
        },
    ),
}


def _bomb_words(ruleset: "Ruleset") -> Iterator[str]:
    if not ruleset.bombs:
        return
    limits, order = ruleset.bomb_limits, ruleset.free_bombs
    some = [name for name in ruleset.bombs if name in limits]
    yield f"Bombs are {_bombs([*order, *some], ruleset)}."
    if order:
        subject = _sentence(_bombs(order, ruleset)) if limits else "They"
        rival = "such a bomb" if limits else "a bomb"
        yield f"{subject} beat any play, of whatever kind and size, that is not {rival}."
    if len(order) > 1:
        parts = [
            name.removeprefix("a ") if kind_of(bomb) == bomb else name
            for bomb, name in zip(order, [_bomb_name(bomb, ruleset) for bomb in order], strict=True)
        ]
        yield f"Among {'these' if limits else 'bombs'} the order is: {weakest_first(parts)}."
    for name in some:
        beaten = _bombs(limits[name], ruleset)
        if _shortest(name):
            beaten = beaten.replace(KIND_NAMES["pair_run"], "any other run of pairs")
        is_one = name == kind_of(name) not in ("two_pair", "bare_two_pair") or _shortest(name)
        yield f"{_sentence(_bombs([name], ruleset))} {'beats' if is_one else 'beat'} {beaten}."
    if limits:
        yield "Against all other plays these go by their kind."
    runs = [run_lengths(name, ruleset.bombs, len(ruleset.ranks)) for name in ruleset.bombs if _shortest(name)]
    if any(len(lengths) > 1 for lengths in runs):
        yield f"{'A' if len(runs) == 1 else 'Of the same bomb, a'} longer run of pairs beats a shorter one."
    for kind in OF_MANY_LENGTHS:
        if kind in ruleset.bombs and not _shortest(kind):
            yield f"A longer {bare(kind)} beats a shorter one."


def _bombs(names: Sequence[str], ruleset: "Ruleset") -> str:
    return listed([_bomb_name(name, ruleset) for name in names])


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def _bomb_name(name: str, ruleset: "Ruleset") -> str:
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


def _briefly(ruleset: "Ruleset") -> Iterator[str]:
    if ruleset.bombs:
        out_of_turn = ", also out of turn" if ruleset.bombs_out_of_turn else ""
        bombs = [_bomb_name(name, ruleset).removesuffix(" with a fifth card") for name in ruleset.bombs]
        some = "" if ruleset.bombs_beat == "any" else " against some plays"
        yield f"{listed(bombs, 'or')} is a bomb{some}{out_of_turn}"


SECTIONS = {"Bombs": Section((_bomb_words, "bombs_out_of_turn"), (_briefly,))}
