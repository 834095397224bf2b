"""Computing again what an export says that cards were worth: of all deals, or of some drawn at random."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from random import Random, SystemRandom
from typing import Any, NamedTuple

from arena.core.luck import AT_FIRST, FEW
from arena.core.parts import MatchPart, ReferencePart, SessionLine
from arena.trust.exports.lines import Difference, Export
from arena.trust.verify.head import Head
from arena.trust.verify.report import Report
from referee.deals.session import Setup
from referee.reference.values import (
    PIECES,
    REFERENCE,
    has_reference,
    place_of,
    place_piece,
    record_values,
)
from referee.rules.plays import Rules, compile_ruleset

SAMPLE = 100
"""How many deals are computed again if not all are; nobody can know which."""

SECONDS = 60.0
"""How long these may take together, and about one piece of what places are worth more."""


Beginnings = Callable[[int, int], Mapping[str, Any]]
"""Returns as much of a deal's record as the reference takes; by session, and the deal's index there."""


class _Said(NamedTuple):
    """What an export says of a deal."""

    line: int
    place: str
    record: Mapping[str, Any]
    worth: tuple[int, ...]


class _OutOfTime(Exception):
    """Raised if no more is to be computed."""


class References:
    """Checks what cards were worth.

    Under a ruleset without a reference nothing is computed. Deals that were drawn are left out once they have
    taken ``SECONDS`` by the ``clock``.
    """

    def __init__(
        self,
        lines: Export,
        report: Report,
        head: Head,
        *,
        compute_all: bool,
        rng: Random | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lines = lines
        self._report = report
        self._rules = compile_ruleset(head.ruleset)
        self._clock = clock
        self._ends = math.inf
        """When no more is computed."""
        self._known: dict[Setup, tuple[int, ...]] = {}
        """What places are worth."""
        self._all = compute_all
        self._rng = SystemRandom() if rng is None else rng
        self._sample: list[_Said] = []
        self._betas: dict[int, tuple[int | None, int | None]] = {}
        """By round."""

    def check(
        self, match: MatchPart, is_open: bool, beginnings: Beginnings, *, computed: bool
    ) -> ReferencePart | None:
        """Read what the cards of a match were worth, if the export says it, and return that.

        Raise Difference.

        ``is_open`` says whether the round is; ``computed`` whether it was computed again already, and is
        right.
        """
        lines = self._lines
        if not lines.next_is(ReferencePart):
            return None
        part = lines.take_part(ReferencePart)
        lines.same("round", part.round, match.round)
        lines.same("table", part.table, match.table)
        is_own = part.reference == REFERENCE.name
        if is_own:
            for name in ("hash", "plays", "parts"):
                lines.same(name, getattr(part, name), getattr(REFERENCE, name))
        self._check_beta(part, is_open)
        by_number = {line.session: line for line in match.sessions}
        numbers = [session.session for session in part.sessions]
        if numbers != sorted({*numbers} & by_number.keys()):
            raise lines.wrong("sessions: their numbers are not in order, or not those of the match")
        for place, session in enumerate(part.sessions):
            _check_size(lines, f"sessions.{place}.worth", session.worth, by_number[session.session])
        lines.close(part, is_derived=True)
        if not is_own:
            self._report.unknown_references.add(part.reference)
            return None
        for place, session in enumerate(part.sessions):
            for number, worth in enumerate(session.worth):
                self._report.weighed += 1
                if computed:
                    self._report.computed += 1
                elif (slot := self._slot()) is not None:
                    where = f"sessions.{place}.worth.{number}"
                    record = beginnings(session.session, number)
                    self._weigh(slot, _Said(lines.number, where, record, worth))
        return part

    def _check_beta(self, part: ReferencePart, is_open: bool) -> None:
        """Check beta as far as it follows from the tournament alone. Raise Difference."""
        lines = self._lines
        if is_open:
            lines.same("beta", part.beta, None)
        lines.same("beta_after: is there", part.beta_after is not None, part.beta is not None)
        beta, after = self._betas.setdefault(part.round, (part.beta, part.beta_after))
        lines.same("beta", part.beta, beta)
        lines.same("beta_after", part.beta_after, after)
        if part.beta is not None and (part.beta_after or 0) < FEW:
            lines.same("beta", part.beta, AT_FIRST)

    def end(self) -> None:
        """Compute the deals that were drawn. Raise Difference for the first that is wrong."""
        self._ends = self._clock() + SECONDS
        for deal in sorted(self._sample, key=lambda deal: deal.line):
            self._compute(deal)

    def _slot(self) -> int | None:
        """Return the place of the next deal among those drawn, None if it is not drawn.

        Each deal so far is among them with the same chance; if all are computed, each is.
        """
        if self._all or len(self._sample) < SAMPLE:
            return len(self._sample)
        place = self._rng.randrange(self._report.weighed)
        return place if place < SAMPLE else None

    def _weigh(self, slot: int, deal: _Said) -> None:
        """Compute a deal at once if all are computed, or else keep it in its place among those drawn."""
        if self._all:
            self._compute(deal)
        else:
            self._sample[slot : slot + 1] = [deal]

    def _compute(self, deal: _Said) -> None:
        try:
            if not has_reference(self._rules):
                raise _OutOfTime
            self._require_time()
            right = record_values(self._rules, deal.record, self._places)
        except _OutOfTime:
            self._report.left_out += 1
            return
        self._report.computed += 1
        if right != deal.worth:
            raise Difference(f"line {deal.line}: {deal.place}: is {[*deal.worth]}, should be {[*right]}")

    def _require_time(self) -> None:
        """Raise _OutOfTime if no more is to be computed."""
        if self._clock() >= self._ends:
            raise _OutOfTime

    def _places(self, rules: Rules, setup: Setup) -> tuple[int, ...]:
        """Return what places are worth. Raise _OutOfTime."""
        if setup not in self._known:
            pieces = []
            for piece in range(PIECES):
                self._require_time()
                pieces.append(place_piece(rules, setup, piece))
            self._known[setup] = place_of(pieces)
        return self._known[setup]


def _check_size(lines: Export, where: str, worth: Sequence[Sequence[int]], session: SessionLine) -> None:
    lines.same(f"{where}: deals", len(worth), session.deals)
    for number, of_deal in enumerate(worth):
        lines.same(f"{where}.{number}: seats", len(of_deal), len(session.seating))
