"""Computing again what an export says that cards were worth: of all deals, or of some drawn at random."""

from collections.abc import Mapping, Sequence
from random import Random, SystemRandom
from typing import Any, NamedTuple

from arena.core.parts import MatchPart, ReferencePart, SessionLine
from arena.trust.exports.lines import Difference, Export
from arena.trust.verify.head import Head
from arena.trust.verify.report import Report
from referee.reference.values import REFERENCE, record_values
from referee.rules.plays import compile_ruleset

SAMPLE = 100
"""How many deals are computed again if not all are; nobody can know which."""


class _Said(NamedTuple):
    """What an export says of a deal."""

    line: int
    place: str
    record: Mapping[str, Any]
    worth: tuple[int, ...]


class References:
    """Checks what cards were worth."""

    def __init__(
        self, lines: Export, report: Report, head: Head, *, compute_all: bool, rng: Random | None = None
    ) -> None:
        self._lines = lines
        self._report = report
        self._rules = compile_ruleset(head.ruleset)
        self._all = compute_all
        self._rng = SystemRandom() if rng is None else rng
        self._sample: list[_Said] = []
        self._betas: dict[int, int | None] = {}
        """By round."""

    def check(
        self, match: MatchPart, is_open: bool, records: Mapping[int, Sequence[Mapping[str, Any]]]
    ) -> None:
        """Read what the cards of a match were worth, if the export says it. Raise Difference.

        ``records`` has the deals of each session; ``is_open`` says whether its round is.
        """
        lines = self._lines
        if not lines.next_is(ReferencePart):
            return
        part = lines.take_part(ReferencePart)
        lines.same("round", part.round, match.round)
        lines.same("table", part.table, match.table)
        known = part.reference == REFERENCE.name
        if known:
            for name in ("hash", "plays", "parts"):
                lines.same(name, getattr(part, name), getattr(REFERENCE, name))
        if is_open:
            lines.same("beta", part.beta, None)
        lines.same("beta", part.beta, self._betas.setdefault(part.round, part.beta))
        by_number = {line.session: line for line in match.sessions}
        numbers = [session.session for session in part.sessions]
        if numbers != sorted({*numbers} & by_number.keys()):
            raise lines.wrong("sessions: their numbers are not in order, or not those of the match")
        said: list[_Said] = []
        for place, session in enumerate(part.sessions):
            where = f"sessions.{place}.worth"
            _check_size(lines, where, session.worth, by_number[session.session])
            for number, (record, worth) in enumerate(
                zip(records[session.session], session.worth, strict=True)
            ):
                said.append(_Said(lines.number, f"{where}.{number}", record, worth))
        lines.close(part, is_derived=True)
        if not known:
            self._report.unknown_references.add(part.reference)
            return
        for one in said:
            self._report.weighed += 1
            if self._all:
                self._compute(one)
            else:
                self._draw(one)

    def end(self) -> None:
        """Compute the deals that were drawn. Raise Difference for the first that is wrong."""
        for one in sorted(self._sample, key=lambda one: one.line):
            self._compute(one)

    def _draw(self, one: _Said) -> None:
        """Let each deal so far be among those drawn with the same chance."""
        if len(self._sample) < SAMPLE:
            self._sample.append(one)
        elif (place := self._rng.randrange(self._report.weighed)) < SAMPLE:
            self._sample[place] = one

    def _compute(self, one: _Said) -> None:
        self._report.computed += 1
        right = record_values(self._rules, one.record)
        if right != one.worth:
            raise Difference(f"line {one.line}: {one.place}: is {[*one.worth]}, should be {[*right]}")


def _check_size(lines: Export, where: str, worth: Sequence[Sequence[int]], session: SessionLine) -> None:
    lines.same(f"{where}: deals", len(worth), session.deals)
    for number, of_deal in enumerate(worth):
        lines.same(f"{where}.{number}: seats", len(of_deal), len(session.seating))
