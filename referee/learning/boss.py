"""Which plays are boss: nobody can beat them with the cards that a seat has not seen."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import combinations

from referee.deals.dealing import landmarks
from referee.memo import Memo
from referee.rules.plays import Rules
from referee.ruleset.axes.bombs import EQUAL_CARDS, kind_of, rank_of
from referee.ruleset.axes.sequences import MANY, RUNS

_MOST = 1 << 14
"""How many sets of unseen cards are remembered, with the strongest play in each."""


class Bosses:
    """Finds the strongest play of each kind among unseen cards."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        ruleset = rules.ruleset
        kinds = {*ruleset.plays, *ruleset.five_card_order}
        limits = ruleset.bomb_limits
        free = [name for name in (ruleset.bomb_order or ruleset.bombs) if name not in limits]
        self._bombs = tuple(free)
        rest = [kind for kind in ruleset.five_card_order if kind not in free]
        five = tuple(reversed(rest)) if ruleset.kinds_compete else ()
        self._rivals: dict[str, tuple[str, ...]] = {kind: five if kind in five else (kind,) for kind in kinds}
        """By kind, the kinds of its group, strongest first."""
        finders = _Finders(rules)
        self._strongest: dict[str, Callable[[int], int]] = {
            name: Memo(finders.of(name), _MOST).__getitem__ for name in {*kinds, *ruleset.bombs}
        }
        self._runs: dict[str, Memo[int, dict[int, int]]] = {
            kind: Memo(partial(self._by_length, kind), _MOST) for kind in kinds & RUNS.keys()
        }
        """By kind and unseen cards: the strongest run of each length, by ``Rules.end_of_kind``."""
        self._exist = bool(free)
        self._beyond = 1 << rules.first_bomb.bit_length() + 1
        """A number above all codes."""
        self.limits = bool(limits)
        """Whether plays of one kind may be beaten by different bombs."""

    def against(self, code: int, kind: str, unseen: int, most: int) -> int:
        """Return a threshold; a play like ``code`` can be beaten if its highest code is below it.

        It is the code of the strongest play among the unseen cards that could rival one of this kind and
        length, or 0 if there is none. The others hold up to ``most`` cards each.
        """
        full = self._rules.full
        cards = (code & full).bit_count()
        if self.limits and self._may_be_bombed(code, unseen):
            return self._beyond
        if not self._exist and cards > most:
            return 0
        if kind in self._runs:
            rival = self._runs[kind][unseen].get(self._rules.end_of_kind(code), 0)
        else:
            rival = self._in_group(kind, unseen)
        # A bomb is above all other groups, and a rival is of the same group.
        return max(self._best_bomb(unseen), rival)

    def _in_group(self, kind: str, unseen: int) -> int:
        """Return the code of the strongest play among these cards in the group of ``kind``, 0 for none."""
        strongest = self._strongest
        for rival in self._rivals[kind]:
            boss = strongest[rival](unseen)
            if boss:
                return boss
        return 0

    def _best_bomb(self, unseen: int) -> int:
        """Return the code of the strongest bomb among these cards, 0 for none."""
        strongest = [self._strongest[name](unseen) for name in self._bombs]
        return max([code for code in strongest if code >= self._rules.first_bomb], default=0)

    def _may_be_bombed(self, code: int, unseen: int) -> bool:
        """Return whether the cards hold a bomb that beats only some plays, this one among them."""
        rules = self._rules
        for first, _ in rules.limited.over(code) if rules.limited else ():
            kind = rules.kind(first)
            if kind in self._runs:
                strongest = self._runs[kind][unseen].get(rules.end_of_kind(first), 0)
            else:
                strongest = self._strongest[kind](unseen)
            if strongest >= first:
                return True
        return False

    def _by_length(self, kind: str, unseen: int) -> dict[int, int]:
        ends = self._rules.end_of_kind
        return {ends(code): code for code, _ in sorted(self._rules.tally_of(kind, unseen))}


class _Finders:
    """Functions from unseen cards to the code of the strongest play of a kind among them, 0 for none."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._falling = tuple(reversed(landmarks(rules).rising))
        self._ranks = tuple(reversed(rules.rank_masks))
        self._rank_masks = dict(zip(rules.ruleset.rank_names, rules.rank_masks, strict=True))

    def of(self, kind: str) -> Callable[[int], int]:
        """Return the function for a kind, or for the cards of a chosen rank."""
        if rank_of(kind):
            held, size = self._rank_masks[rank_of(kind)], 1 + EQUAL_CARDS.index(kind_of(kind))
            return lambda unseen: self._equal(unseen & held, size)
        kind = kind_of(kind)
        if kind in MANY:
            return lambda unseen: max((code for code, _ in self._rules.tally_of(kind, unseen)), default=0)
        sets = {"pair": 2, "triple": 3, "bare_quads": 4}
        if kind in sets:
            return lambda unseen: self._equal(unseen, sets[kind])
        named: dict[str, Callable[[int], int]] = {
            "single": self._single,
            "full_house": lambda unseen: self._with(unseen, 3, 2, "full_house"),
            "quads": lambda unseen: self._with(unseen, 4, 1, "quads"),
            "flush": self._flush,
            "straight": self._straight,
            "dragon": self._dragon,
            "straight_flush_plus_two": self._plus_two,
        }
        return named.get(kind) or (lambda unseen: self._suited(unseen, kind))

    def _single(self, unseen: int) -> int:
        return next((self._rules.code(card) for card in self._falling if card & unseen), 0)

    def _equal(self, unseen: int, size: int) -> int:
        rules = self._rules
        for rank in self._ranks:
            if (unseen & rank).bit_count() >= size:
                return max(map(rules.code, rules.choose(unseen & rank, size)))
        return 0

    def _with(self, unseen: int, size: int, others: int, kind: str) -> int:
        """Return the strongest play of ``size`` equal cards with ``others`` more, which are equal too."""
        rules = self._rules
        for rank in self._ranks:
            if (unseen & rank).bit_count() < size:
                continue
            more = [unseen & other for other in self._ranks if other != rank]
            rest = next((rules.choose(held, others)[0] for held in more if held.bit_count() >= others), 0)
            sets = rules.choose(unseen & rank, size)
            codes = [rules.code(equal | rest) for equal in sets] if rest else []
            if kind == "quads":
                codes += map(rules.code, rules.choose(unseen & rank, size + 1))
            if codes:
                return max(codes)
        return 0

    def _suited(self, unseen: int, kind: str) -> int:
        return next((code for code, mask in _suited(self._rules).get(kind, ()) if not mask & ~unseen), 0)

    def _flush(self, unseen: int) -> int:
        return max([self._flush_of(unseen & suit) for suit in self._rules.suit_masks])

    def _flush_of(self, held: int) -> int:
        rules = self._rules
        cards = rules.cards(held)[::-1]
        for five in combinations(cards, 5):  # strongest first
            code = rules.code(rules.mask(five))
            if code and rules.kind(code) == "flush":
                return code
        return 0

    def _straight(self, unseen: int) -> int:
        plain = self._plain_straight(unseen)
        return max(plain, self._suited(unseen, "straight"))

    def _plain_straight(self, unseen: int) -> int:
        """Return the strongest straight of more than one suit."""
        rules = self._rules
        for level in _levels(rules):
            codes = [code for ranks in level for code in self._mixed(unseen, ranks)]
            best = max((code for code in codes if code and rules.kind(code) == "straight"), default=0)
            if best:
                return best
        return 0

    def _mixed(self, unseen: int, ranks: Sequence[int]) -> Iterator[int]:
        """Yield the codes of enough sets of one card of each rank to include the strongest straight.

        One card decides which is strongest, and any other card of a second suit makes it a straight.
        """
        rules = self._rules
        sets = [0]
        for rank in ranks:
            cards = sorted(rules.choose(unseen & rank & rules.ones, 1), key=rules.code)[-2:]
            sets = [chosen | card for chosen in sets for card in cards]
        yield from map(rules.code, sets)

    def _dragon(self, unseen: int) -> int:
        rules = self._rules
        held = [rules.choose(unseen & rank & rules.ones, 1) for rank in landmarks(rules).ranks]
        return rules.code(sum(max(cards, key=rules.code) for cards in held)) if all(held) else 0

    def _plus_two(self, unseen: int) -> int:
        rules = self._rules
        if unseen.bit_count() < 7:
            return 0
        for mask in _fives(rules):
            if not mask & ~unseen:
                rest = rules.cards(rules.remove(unseen, mask))[:2]
                return rules.code(rules.add(mask, rules.mask(rest)))
        return 0


@lru_cache(maxsize=32)
def _levels(rules: Rules) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return the rank masks of the legal sequences by level, strongest first."""
    ruleset = rules.ruleset
    return tuple(
        tuple(
            tuple(rules.rank_masks[ruleset.ranks.index(rank)] for rank in sequence.split())
            for sequence in level
        )
        for level in reversed(ruleset.straights)
    )


@lru_cache(maxsize=32)
def _fives(rules: Rules) -> tuple[int, ...]:
    """Return the masks of all sequences in one suit, strongest first."""
    suits = sorted(zip(rules.ruleset.suits, range(4), strict=True), key=lambda pair: -pair[1])
    masks = [rules.suit_masks["DCHS".index(suit)] for suit, _ in suits]
    fives = [
        [rank & suit & rules.ones for rank in ranks]
        for level in _levels(rules)
        for suit in masks
        for ranks in level
    ]
    return tuple(sum(five) for five in fives if all(five))


@lru_cache(maxsize=32)
def _suited(rules: Rules) -> dict[str, list[tuple[int, int]]]:
    """Return the codes and masks of the plays in sequence and suit, by kind, strongest first."""
    suited: dict[str, list[tuple[int, int]]] = {}
    for mask in _fives(rules):
        code = rules.code(mask)
        if code:
            suited.setdefault(rules.kind(code), []).append((code, mask))
    for codes in suited.values():
        codes.sort(reverse=True)
    return suited
