"""Checking an export: everything in it that follows from the rest is recomputed.

The deals' seeds and hands follow from the seed; every turn, end and point from these and the actions;
sessions, matches, pairings, standings and rating changes from the points. Everything else, such as the
limits, is covered by the commitment and by digests.
"""

import time
from collections.abc import Callable, Iterable
from functools import partial
from random import Random

from arena.core.corrections import CorrectionError, adjust, demoted, disqualified_by
from arena.core.parts import EndPart, RoundPart, standing_object
from arena.core.ranking import ranked
from arena.trust.exports.lines import Difference, Export
from arena.trust.verify.ahead import Ahead, Terms
from arena.trust.verify.events import Summary, check_events
from arena.trust.verify.head import Head, check_head
from arena.trust.verify.pooled import Numbers
from arena.trust.verify.references import References
from arena.trust.verify.report import Report
from arena.trust.verify.rounds import Rounds


def check_export(
    texts: Iterable[bytes],
    seen: Callable[[int, int], None] = lambda _bytes, _deals: None,
    session_names: frozenset[str] = frozenset(),
    *,
    references: bool = False,
    rng: Random | None = None,
    clock: Callable[[], float] = time.monotonic,
    processes: int = 1,
    linked: bool = True,
    pool: Numbers | None = None,
) -> Report:
    """Check the lines of one export, down to the first difference.

    ``seen`` is called after each line with the bytes and the deals so far; ``session_names`` are public names
    of the sessions that the report is to include. What cards were worth is computed again for all deals with
    ``references``, else for some that ``rng`` draws, within a minute by the ``clock``. With more than one of
    ``processes`` these check the deals; the report is the same. Only if it is to be ``linked`` to those of
    other exports does it have all ratings, and only with numbers of the bots in a ``pool`` what boards are
    checked with.
    """
    report = Report(session_names=session_names, is_linked=linked, pool=pool)
    with Ahead(texts, processes) as ahead:
        try:
            lines = Export(ahead, lambda size: seen(size, report.deals))
            _check(lines, report, ahead, references, partial(References, rng=rng, clock=clock))
        except Difference as difference:
            report.problem = str(difference)
        except RecursionError:
            report.problem = "a value in the export is nested too deeply"
    return report


def _check(
    lines: Export, report: Report, ahead: Ahead, references: bool, make: Callable[..., References]
) -> None:
    head = check_head(lines, report)
    summary = check_events(lines, report, head)
    ahead.begin(Terms(head.without_entrants, (*report.keys,), report.session_names, references))
    worth = make(lines, report, head, compute_all=references)
    rounds = Rounds(lines, report, head, summary, worth, ahead.find_right)
    while lines.next_is(RoundPart):
        rounds.check_next()
    _check_end(lines, head, summary, rounds)
    lines.end()
    worth.end()


def _check_end(lines: Export, head: Head, summary: Summary, rounds: Rounds) -> None:
    part = lines.take_part(EndPart)
    rounds.check_number(summary.stopped)
    for round, table in summary.void:
        raise lines.wrong(f"the events name attempts at round {round}, table {table}, which is not there")
    for round, table in summary.named:
        if not rounds.has(round, table):
            raise lines.wrong(f"the events name round {round}, table {table}, which is not there")
    results = rounds.results()
    try:
        adjust(results.totals.__getitem__, rounds.outcomes, summary.corrections)
    except CorrectionError as error:
        raise lines.wrong(f"the events name a correction of nothing: {error}") from None
    expected = [
        standing_object(line, head.names[line.entrant])
        for line in demoted(
            ranked(list(head.names), results, head.part.table_size, head.format.criteria),
            disqualified_by(summary.corrections),
        )
    ]
    lines.same("standings: lines", len(part.standings), len(expected))
    for place, (row, right) in enumerate(zip(part.standings, expected, strict=True)):
        lines.same(f"standings.{place}: fields", sorted(row), sorted(right))
        for name, value in right.items():
            where = f"standings.{place}.{name}"
            if isinstance(value, float) and type(row[name]) in (int, float):
                lines.near(where, row[name], value)
            else:
                lines.same(where, row[name], value)
    lines.same("parts", part.parts, lines.parts)
    lines.close(part)
