"""Sage: proofs first, then candidates by a score, then playouts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

from referee.helpers.decompose import Decomposer
from referee.helpers.unseen import Unseen
from referee.position import Position
from referee.rules.plays import Rules
from referee.sage.endings import Endings
from referee.sage.inference import Inference
from referee.sage.plans import planner_of
from referee.sage.playouts import is_quick
from referee.sage.policy import Scored
from referee.sage.search import Clock, Search, Tree


def run_out(rules: Rules, hand: int, codes: Sequence[int], decomposer: Decomposer, unseen: Unseen) -> int:
    """Return a legal play after which the hand surely goes out without losing the lead; 0 for none."""
    full = rules.full
    for code in sorted(codes, key=lambda code: -(code & full).bit_count()):
        left = rules.remove(hand, code & full)
        if not left:
            return code
        units = decomposer.best(left).plays
        if (len(units) == 1 or _without_boss(units, unseen) <= 1) and unseen.is_boss(code):
            return code
    return 0


def _without_boss(units: Iterable[int], unseen: Unseen) -> int:
    """Return how many of the units may be beaten."""
    return sum([unseen.may_beat(unit) for unit in units])


INFERENCE_S = 0.05
"""With so many seconds it infers from plays what the others hold and how they play."""
TREE_S = 0.4
"""With so many seconds it also learns in playouts how to go on."""


@dataclass(frozen=True, slots=True)
class Style:
    """Which parts of sage are used, so that the worth of each can be measured."""

    proves: bool = True
    """Whether it looks for a proof that it can play out its hand."""
    weighs_passes: bool = True
    """Whether it takes a pass as a sign that a seat cannot beat the play."""
    passes: bool = True
    """Whether it may pass when it could play."""
    solves: bool = True
    """Whether it plays the last cards out exactly."""
    relative: bool = True
    """Whether a search also counts the points of the others: a table is won by having more than they do."""
    infers: bool = True
    """Whether, with time for it, it infers from what the others did what they hold and how they play."""
    learns: bool = True
    """Whether, with time for it, playouts learn from earlier ones how it goes on."""
    candidates: int = 8
    """How many actions are played out at most."""
    pass_costs: float = 2.0
    """What a pass costs, in turns: without a search it is the last resort."""
    height_costs: float = 0.5
    """What spending the highest play costs, in turns."""
    card_saves: float = 0.02
    """What each card played is worth in addition, in turns."""


USUAL = Style()


class Sage:
    """Plays a seat, one deal after another."""

    def __init__(self, rules: Rules, random: Random, clock: Clock, style: Style = USUAL) -> None:
        """Prepare for a ruleset; ``random`` and ``clock``, in seconds, come from outside."""
        self._rules, self._random, self._clock, self._style = rules, random, clock, style
        self._planner, self._proves = planner_of(rules), style.proves and is_quick(rules)
        self._infers = style.infers and is_quick(rules) and rules.decks == 1
        self._decomposer, self._own = Decomposer(rules, 0), Scored(rules, self._score)
        self._endings = Endings(rules) if style.solves else None
        self._hand = 0
        self.search: Search | None = None
        """The search for the last decision; None if none was needed."""

    def choose(
        self,
        position: Position,
        seat: int,
        codes: Sequence[int],
        can_pass: bool,
        seconds: float,
    ) -> int:
        """Return the code to play, 0 for a pass.

        ``codes`` are the legal plays of ``seat``. With 0 ``seconds`` to think, the actions are only scored.
        """
        until = self._clock() + seconds
        self.search = None
        legal = [*codes, 0] if can_pass and (self._style.passes or not codes) else codes
        if len(legal) == 1:
            return legal[0]
        rules = self._rules
        hand = position.hands[seat]
        self._take(hand)
        if self._proves:
            others = [count for other, count in enumerate(position.counts) if other != seat]
            unseen = Unseen(rules, rules.mask(position.unseen), others)
            proved = run_out(rules, hand, codes, self._decomposer, unseen)
            if proved:
                return proved
        candidates = self.candidates(hand, legal)
        if seconds <= 0:
            return candidates[0]
        self.search = self._search(position, seat, candidates, self._style.relative, seconds)
        return self.search.best(self._clock, until)

    def prices(
        self, position: Position, seat: int, legal: Sequence[int], seconds: float
    ) -> dict[int, list[int]]:
        """Return what each of these actions is worth to ``seat``: the points of its playouts, world by world.

        ``legal`` has codes, and 0 for a pass. All are played out in the same worlds, so that their
        differences say more than their means.
        """
        until = self._clock() + seconds
        self._take(position.hands[seat])
        return self._search(position, seat, legal, False).prices(self._clock, until)

    def choose_unseen(self, hand: int, codes: Sequence[int], can_pass: bool) -> int:
        """Return the code to play, 0 for a pass, from the hand alone."""
        self._take(hand)
        return self.candidates(hand, [*codes, 0] if can_pass else codes)[0]

    def card_to_return(self, hand: int, singles: Sequence[int]) -> int:
        """Return the code of the card to return in an exchange: the one that the hand can best do without."""
        self._take(hand)
        full = self._rules.full
        return min(
            singles, key=lambda code: (self._decomposer.cost(self._rules.remove(hand, code & full)), code)
        )

    def candidates(self, hand: int, legal: Sequence[int]) -> list[int]:
        """Return the actions worth a search, the best score first; a legal pass is always among them."""
        self._take(hand)
        ordered = sorted(legal, key=lambda code: self._score(hand, code))
        best = ordered[: self._style.candidates]
        if 0 in legal and 0 not in best:
            best[-1] = 0
        return best

    def _search(
        self,
        position: Position,
        seat: int,
        codes: Sequence[int],
        relative: bool,
        seconds: float = 0.0,
    ) -> Search:
        rules, hand = self._rules, position.hands[seat]
        parts = {code: rules.remove(hand, code & rules.full) for code in codes}
        units = {code: self._decomposer.best(part).plays for code, part in parts.items()}
        sample = partial(position.worlds.sample, self._random, weighs_passes=self._style.weighs_passes)
        inference, tree = None, None
        if self._infers and seconds >= INFERENCE_S:
            tree = Tree(self._own, rules.full) if self._style.learns and seconds >= TREE_S else None
            own = tree or self._own
            inference = Inference(position, seat, sample(), self._planner, self._random, own)
        return Search(position, seat, units, sample, self._random, self._endings, relative, inference, tree)

    def _take(self, hand: int) -> None:
        """Prepare to decompose ``hand``; what was found remains valid as long as no cards come in."""
        if hand & ~self._hand:
            self._decomposer = Decomposer(self._rules, hand, self._planner.cost)
            self._own = Scored(self._rules, self._score)
        self._hand = hand

    def _score(self, hand: int, code: int) -> float:
        """Return about how many turns are left after an action; fewer is better."""
        style = self._style
        if not code:
            return self._decomposer.cost(hand) + style.pass_costs
        mask = code & self._rules.full
        left = self._decomposer.cost(self._rules.remove(hand, mask))
        return left + style.height_costs * self._planner.height[code] - style.card_saves * mask.bit_count()
