"""Checking who meets whom in an export, by the functions that paired the tournament."""

from bisect import bisect_right
from collections.abc import Callable, Sequence

from arena.core.formats import Rated, Situation
from arena.core.pairing import Batches, Pairing, Past
from arena.core.parts import RoundPart
from arena.core.ranking import MatchOutcome, Results
from arena.trust.exports.lines import Export
from arena.trust.verify.head import Head


class Pairings:
    """Pairs a tournament again, round by round."""

    def __init__(
        self,
        lines: Export,
        head: Head,
        outcomes: Callable[[], Sequence[MatchOutcome]],
        results: Callable[[], Results],
    ) -> None:
        """Pair again what follows from how the matches ended so far, and what standings follow from."""
        self._lines = lines
        self._head = head
        self._outcomes = outcomes
        self._results = results
        self._count = 0
        """How many rounds were checked."""
        self._past = Past()
        """These rounds, where they are paired one after another."""
        self._batches = Batches()
        self._early: dict[int, RoundPart] = {}
        """By number, the batches that were rated before one with a lower number."""
        self._planned: list[Pairing] = []
        """Later rounds that already follow from what has been played."""
        self._entered = sorted(entrant.entered_at_round for entrant in head.tournament.entrants)

    def check_round(self, part: RoundPart) -> Pairing:
        """Check a round that was paired after all rounds before it had ended, and return its pairing."""
        return self._check(part, self._next())

    def add_batch(self, part: RoundPart) -> None:
        """Check a batch of a continuous tournament, once all with lower numbers have been checked."""
        self._early[part.round] = part
        while (following := self._early.pop(self._count + 1, None)) is not None:
            self._check_batch(following)

    def check_batches(self) -> None:
        """Check the batches that are left because one with a lower number is missing."""
        for number in sorted(self._early):
            self._check_batch(self._early[number])

    def _check_batch(self, part: RoundPart) -> None:
        """Check a batch against the bots that were free and their ratings."""
        paired = self._head.format.next(self._head.setup, self._batch_situation(part))
        self._batches.add(self._check(part, paired[0] if paired else None))

    def check_number(self, stopped: int | None) -> None:
        """Check that a finished tournament has all its rounds, and no others."""
        played, head = self._count, self._head
        total = stopped if stopped is not None else head.format.total(head.setup, len(head.names))
        if played == total:
            return
        goes_on = total is None or head.format.in_batches or self._next() is not None
        if stopped is not None or goes_on or (total is not None and played > total):
            raise self._lines.wrong(f"{played} rounds stand before the end, should be {total or 'more'}")

    def _next(self) -> Pairing | None:
        """Return the next round; None if there is none."""
        if not self._planned:
            number = self._count + 1
            present = [entry.number for entry in self._head.tournament.entrants if entry.plays_in(number)]
            situation = self._situation(number, present)
            self._planned = self._head.format.next(self._head.setup, situation)
        return self._planned.pop(0) if self._planned else None

    def _situation(self, number: int, present: Sequence[int]) -> Situation:
        """Return the situation in which the round of this number was paired."""
        entrants = [
            entry.number for entry in self._head.tournament.entrants if entry.entered_at_round <= number
        ]
        return Situation(
            entrants=entrants,
            present=present,
            paired=self._count,
            past=self._past,
            owners={entry: self._head.owners[entry] for entry in entrants},
            outcomes=self._outcomes,
            results=self._results,
        )

    def _batch_situation(self, part: RoundPart) -> Situation:
        """Return the situation in which a batch of a continuous tournament was paired."""
        free = part.free or ()
        present = [bot.entrant for bot in free]
        entrants = bisect_right(self._entered, part.round)
        return Situation(
            entrants=range(1, entrants + 1),
            present=present,
            paired=self._count,
            owners={bot: self._head.owners[bot] for bot in present if bot in self._head.owners},
            ratings=lambda: {bot.entrant: Rated(bot.rating, bot.weight) for bot in free},
            recent=lambda: self._batches.recent(entrants, present),
        )

    def _check(self, part: RoundPart, expected: Pairing | None) -> Pairing:
        where = f"round {part.round}"
        if expected is None:
            raise self._lines.wrong(f"{where}: no entrant is left to be paired")
        if len(part.tables) != len(expected.tables):
            raise self._lines.wrong(
                f"{where}: tables: are {len(part.tables)}, should be {len(expected.tables)}"
            )
        for place, (table, right) in enumerate(zip(part.tables, expected.tables, strict=True)):
            self._lines.same(f"{where}: tables.{place}", table, right)
        self._lines.same(f"{where}: byes", part.byes, expected.byes)
        self._count += 1
        if not self._head.format.in_batches:
            self._past.add(expected)
        return expected
