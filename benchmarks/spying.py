"""What a bot can infer from the time between its turns, and how it can exploit that. Nothing here does I/O.

Made for rulesets like ``chinese``: the first to go out ends the deal, a pass locks nobody out, and there are
no bombs.
"""

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Protocol

from referee.deals.deal import Deal
from referee.deals.dealing import Dealt
from referee.rules.plays import Rules

RUN = 0.45
"""The chance of playing all cards without losing the lead from which on the bot tries to."""
CHEAP = 3.0
"""What holding the lead with a weak play is worth to the bot, in cards shed."""
STEPS = 4
"""Classes of gaps for each doubling of the time."""
CLASSES = 64


def _span(rules: Rules, code: int) -> tuple[int, int]:
    """Return the least code that beats the play in its group, and the end of that group."""
    return (code | rules.full) + 1, (code | rules.group_full) + 1


@lru_cache(maxsize=100_000)
def _beating(rules: Rules, code: int, unseen: int) -> int:
    """Count the plays with the same number of cards (1 to 3) among the unseen that beat the play."""
    size = rules.count(code & rules.full)
    least, end = _span(rules, code)
    if size == 1:
        singles = (rules.code(mask) for mask in rules.choose(unseen, 1))
        return sum(least <= single < end for single in singles)
    ranks = (unseen & rank for rank in rules.rank_masks)
    return sum(
        least <= rules.code(mask) < end
        for rank in ranks
        if rules.count(rank) >= size
        for mask in rules.choose(rank, size)
    )


class Sight(Protocol):
    """What the patient opponent looks at, apart from its cards."""

    @property
    def rules(self) -> Rules: ...
    @property
    def seat(self) -> int: ...
    @property
    def counts(self) -> Sequence[int]: ...


class Counting:
    """Card counting: how likely a hidden hand has nothing to beat a play."""

    def __init__(self, rules: Rules, *, samples: int = 400) -> None:
        self._rules = rules
        rng, pack = Random(1), [1 << card for card in rules.pack]
        self._best = [
            sorted(self._strongest(sum(rng.sample(pack, cards))) for _ in range(samples))
            for cards in range(rules.ruleset.hand_size if isinstance(rules.ruleset.hand_size, int) else 13)
        ]
        self._best.append(sorted(self._strongest(sum(rng.sample(pack, 13))) for _ in range(samples)))

    def _strongest(self, hand: int) -> int:
        plays = self._rules.list_plays(hand)
        return plays[-1] if plays and self._rules.count(plays[-1] & self._rules.full) == 5 else 0

    def unable(self, code: int, cards: int, unseen: int) -> float:
        """Return the chance that ``cards`` cards out of those unseen hold nothing that beats the play.

        Singles are counted exactly, pairs and triples as if they were independent of one another; the best
        five cards of a hand are taken from a sample of hands from a full pack.
        """
        rules = self._rules
        size, hidden = rules.count(code & rules.full), rules.count(unseen)
        if cards < size:
            return 1.0
        if size == 5:
            best = self._best[cards]
            return bisect_left(best, _span(rules, code)[0]) / len(best)
        beating = _beating(rules, code, unseen)
        if size == 1:
            return math.comb(hidden - beating, cards) / math.comb(hidden, cards)
        return math.exp(-beating * math.perm(cards, size) / math.perm(hidden, size))


@dataclass(slots=True)
class Pass:
    """A pass of another seat."""

    index: int
    """Index in the deal's actions."""
    seat: int
    to_beat: int
    """Code of the play to beat."""
    unable: float
    """The chance, from card counting, that the seat had nothing to play."""
    prior: float = 0.0
    """The chance that it had nothing to play, ignoring the time."""
    forced: float = 0.0
    """The same chance, given the time."""


class Seen:
    """A deal as one seat sees it."""

    def __init__(self, rules: Rules, counting: Counting, seat: int, hand: int, counts: Sequence[int]) -> None:
        self.rules = rules
        self.seat = seat
        self.counting = counting
        self.counts = list(counts)
        self.unseen = rules.ones & ~hand
        self.to_beat = 0
        self.index = 0
        self.notes: dict[int, list[Pass]] = defaultdict(list)
        """By seat: its passes that still say something about its hand."""
        self._in_a_row = 0

    def take(self, seat: int, mask: int) -> Pass | None:
        """Take in an action; return a note of it if it is a pass of another seat."""
        self.index += 1
        if mask:
            self.to_beat, self._in_a_row = self.rules.code(mask), 0
            self.counts[seat] -= self.rules.count(mask)
            self.unseen &= ~mask
            # What the seat passed on and beats now, it could have beaten with this play.
            self.notes[seat] = [
                note for note in self.notes[seat] if not self.rules.beats(self.to_beat, note.to_beat)
            ]
            return None
        self._in_a_row += 1
        code = self.to_beat
        if self._in_a_row == len(self.counts) - 1:
            self.to_beat, self._in_a_row = 0, 0
        if seat == self.seat:
            return None
        unable = self.counting.unable(code, self.counts[seat], self.unseen)
        note = Pass(self.index - 1, seat, code, unable)
        self.notes[seat].append(note)
        return note

    def holds(self, code: int, *, noted: bool = True) -> float:
        """Return the chance that nobody beats the play, given the noted passes, or ignoring them."""
        chance = 1.0
        for seat, cards in enumerate(self.counts):
            if seat != self.seat:
                chance *= self._unable(seat, cards, code, noted)
        return chance

    def _unable(self, seat: int, cards: int, code: int, noted: bool) -> float:
        unable = self.counting.unable(code, cards, self.unseen)
        group = _span(self.rules, code)[1]
        notes = [note for note in self.notes[seat] if _span(self.rules, note.to_beat)[1] == group]
        if not notes or not noted:
            return unable
        bounds = [
            (note.to_beat, self.counting.unable(note.to_beat, cards, self.unseen), note.forced)
            for note in notes
        ]
        return after_passes(code, unable, bounds)


def after_passes(code: int, unable: float, passes: Sequence[tuple[int, float, float]]) -> float:
    """Return the chance that a seat cannot beat a play, once it has passed on others of the same group.

    ``unable`` is that chance as if it had not passed. Each pass has the code that it passed on, the chance
    that it cannot beat that code as if it had not passed, and the chance that it had to pass.
    """
    bounds = sorted({(code, unable), *((to_beat, chance) for to_beat, chance, _ in passes), (math.inf, 1.0)})
    below = total = before = 0.0
    low: float = 0
    for bound, chance in bounds:  # the seat's strongest play lies from low up to bound
        share, before = max(0.0, chance - before), max(chance, before)
        for to_beat, was_unable, forced in passes:
            if low < to_beat:
                share *= forced / was_unable if was_unable else 1.0
            else:
                share *= (1 - forced) / (1 - was_unable) if was_unable < 1 else 1.0
        total += share
        if bound <= code:
            below += share
        low = bound
    return below / total if total else unable


class Inference:
    """Learns from finished deals how long gaps are and who passes when, and uses that to interpret gaps."""

    def __init__(self, *, reads: bool = True) -> None:
        """Create an inference; unless ``reads``, it judges whether passes were forced without the time."""
        self._reads = reads
        self._passes: dict[tuple[str, int, int], list[float]] = defaultdict(lambda: [1.0, 1.0])
        self._gaps: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
        self._sums: Counter[tuple[int, int]] = Counter()

    def prior(self, bot: str, rules: Rules, note: Pass) -> float:
        """Return the chance that a pass was forced, from what this bot did in similar positions before."""
        chosen, forced = self._passes[self._place(bot, rules, note)]
        return forced / (chosen + forced)

    def read(self, seconds: float, plays: int, priors: Sequence[float]) -> list[float]:
        """Return the chances that passes were forced, given the time that they and ``plays`` plays took."""
        if not self._reads:
            return list(priors)
        actions = plays + len(priors)
        likelihood = [
            self._likelihood(seconds, actions, decisions) for decisions in range(plays, actions + 1)
        ]
        return posterior(priors, likelihood)

    def learn_pass(self, bot: str, rules: Rules, note: Pass, forced: bool) -> None:
        """Learn from a pass, now that it is known whether it was forced."""
        self._passes[self._place(bot, rules, note)][forced] += 1

    def learn_gap(self, seconds: float, actions: int, decisions: int) -> None:
        """Learn from a gap, now that it is known how many of the others' actions in it had a choice."""
        self._gaps[actions, decisions][gap_class(seconds)] += 1
        self._sums[actions, decisions] += 1

    def _likelihood(self, seconds: float, actions: int, decisions: int) -> float:
        seen, at = self._gaps[actions, decisions], gap_class(seconds)
        near = seen[at] + 0.25 * (seen[at - 1] + seen[at + 1])
        return (near + 0.05) / (1.5 * self._sums[actions, decisions] + 0.05 * CLASSES)

    @staticmethod
    def _place(bot: str, rules: Rules, note: Pass) -> tuple[str, int, int]:
        return bot, rules.count(note.to_beat & rules.full), int(note.unable * 10)


def gap_class(seconds: float) -> int:
    """Return a gap's class, on a logarithmic scale that begins at a tenth of a millisecond."""
    return min(CLASSES - 1, max(0, int(STEPS * math.log2(max(seconds, 1e-4) / 1e-4))))


def posterior(priors: Sequence[float], likelihood: Sequence[float]) -> list[float]:
    """Return each pass's chance of being forced; ``likelihood`` is the gap's by the number chosen."""
    found = []
    for at, prior in enumerate(priors):
        others = [1.0]
        for other in (*priors[:at], *priors[at + 1 :]):
            longer = [0.0, *((1 - other) * chance for chance in others)]
            others = [
                a + b for a, b in zip([*(other * chance for chance in others), 0.0], longer, strict=True)
            ]
        forced = prior * sum(a * b for a, b in zip(others, likelihood, strict=False))
        chosen = (1 - prior) * sum(a * b for a, b in zip(others, likelihood[1:], strict=True))
        found.append(forced / (forced + chosen) if forced + chosen else prior)
    return found


def forced_actions(
    rules: Rules, hands: Sequence[int], dealer: int, step: int, masks: Sequence[int]
) -> list[bool]:
    """Return for each action of a deal (cards as masks, 0 for a pass) whether the seat had no choice."""
    deal = Deal(rules, b"", 1, dealer, step, dealt=Dealt(tuple(hands), (), tuple(hands)))
    found = []
    for mask in masks:
        found.append(deal.forced(deal.turn))
        deal.act(deal.turn, mask)
    return found


# A bot that counts plays, and goes for a run when it believes that nobody can stop it


def choose(seen: Seen, hand: int, legal: Sequence[int], can_pass: bool) -> int:
    """Return the mask of the cards to play, 0 for a pass."""
    rules = seen.rules
    if not legal:
        return 0
    options = list(legal)
    if not can_pass:
        planned = set(partition(rules.list_plays(hand), hand, rules.full))
        options = [code for code in legal if code in planned] or options
    best_run, runner, costs = 0.0, 0, []
    for code in options:
        left = rules.remove(hand, code & rules.full)
        rest = partition(rules.list_plays(left), left, rules.full) if left else []
        chance = run_chance(seen, code, rest)
        if chance > best_run:
            best_run, runner = chance, code
        costs.append((len(rest), code))
    if best_run >= RUN:
        return runner & rules.full
    others = [count for seat, count in enumerate(seen.counts) if seat != seen.seat]
    if min(others) <= 2:
        return max(options, key=lambda code: (rules.count(code & rules.full), code)) & rules.full
    if not can_pass:
        return max(options, key=lambda code: (_lead_value(seen, code), -code)) & rules.full
    needed, code = min(costs)
    if needed >= len(partition(rules.list_plays(hand), hand, rules.full)):
        return 0
    return code & rules.full


def _lead_value(seen: Seen, code: int) -> float:
    """Return the cards shed, plus the value of winning a trick with a play that is not strong in itself."""
    gain = seen.holds(code) - seen.holds(code, noted=False)
    return seen.rules.count(code & seen.rules.full) + CHEAP * gain


def run_chance(seen: Seen, code: int, rest: Sequence[int]) -> float:
    """Return the chance that nobody beats the play, nor any of the rest, led one by one, except the last."""
    if not rest:
        return 1.0
    holding = sorted(seen.holds(play) for play in rest)
    return seen.holds(code) * math.prod(holding[1:])


def partition(codes: Sequence[int], hand: int, full: int) -> list[int]:
    """Return plays that together shed the hand, the largest first."""
    found = []
    for code in sorted(codes, key=lambda code: (-(code & full).bit_count(), code)):
        mask = code & full
        if mask & ~hand == 0:
            hand &= ~mask
            found.append(code)
    return found


def patient(seen: Sight, hand: int, legal: Sequence[int], can_pass: bool) -> int:
    """Choose as an opponent that often passes by choice, breaks nothing up, and keeps its aces and twos."""
    rules = seen.rules
    if not legal:
        return 0
    others = [count for seat, count in enumerate(seen.counts) if seat != seen.seat]
    planned = partition(rules.list_plays(hand), hand, rules.full)
    if min(others) <= 3 or rules.count(hand) <= 5:
        return max(legal) & rules.full if can_pass else max(planned, key=rules.count) & rules.full
    high = rules.rank_masks[-1] | rules.rank_masks[-2]
    wanted = [code for code in planned if code in set(legal) and not code & rules.full & high]
    if not wanted:
        return 0 if can_pass else min(legal) & rules.full
    return min(wanted, key=lambda code: (-rules.count(code & rules.full), code)) & rules.full
