"""A check in words: each result as it comes, and a summary at the end."""

import re
import textwrap
from typing import TYPE_CHECKING

from referee.check.result import Result
from referee.lines import PANICKED

if TYPE_CHECKING:
    from referee.check.report import Report

INDENT = " " * 4
_RAISED = re.compile(r"^(?:\w+\.)*(\w+(?:Error|Exception|Failed|Exit|Interrupt|Stop\w*))(?::|$)")
"""The last line of a Python traceback, and similar lines of other languages."""


class Telling:
    """Turn results into lines of at most ``width`` columns (not fewer than 40), one after the other.

    Consecutive scenarios not run for the same reason are told as one, and what the bot printed is shown in
    full only for the first failure of each cause.
    """

    def __init__(self, width: int = 100) -> None:
        self._width = max(width, 40)
        self._not_run: list[Result] = []
        self._causes: dict[str, list[str]] = {}
        """The codes of scenarios that failed, by the cause that the bot printed."""

    def result(self, result: Result) -> list[str]:
        """Return the lines that can be told now that there is another result."""
        if self._not_run and (result.outcome, result.reason) != ("not_run", self._not_run[0].reason):
            return [*self._held(), *self.result(result)]
        if result.outcome == "not_run":
            self._not_run.append(result)
            return []
        cause = _cause(result) if result.outcome == "failed" else ""
        codes = self._causes.setdefault(cause, []) if cause else []
        codes.append(result.code)
        return self._lines(result, codes[0])

    def end(self, report: "Report") -> list[str]:
        """Return the lines at the end, with those that were held back."""
        lines = self._held()
        for cause, codes in self._causes.items():
            if len(codes) > 1:
                lines += ["", f"{cause} in {len(codes)} scenarios, in {codes[0]} first."]
        if report.stopped:
            lines += ["", f"The check stopped here: {report.stopped}."]
            lines += [f"{_scenarios(len(report.left_out))} not run."] if report.left_out else []
        if report.protocol_version or report.sdk:
            sdk = report.sdk or "no SDK named"
            lines += ["", f"{report.bot}, {sdk}, protocol version {report.protocol_version}"]
        return [*self._wrapped(lines), "", *self._wrapped([_verdict(report)])]

    def _wrapped(self, lines: list[str]) -> list[str]:
        return [line for part in lines for line in (textwrap.wrap(part, self._width) or [""])]

    def _held(self) -> list[str]:
        """Return the lines of the scenarios not run that were held back."""
        results, self._not_run = self._not_run, []
        if not results:
            return []
        if len(results) == 1:
            return self._lines(results[0], results[0].code)
        first, last = results[0], results[-1]
        head = f"{first.code} to {last.code}: {_scenarios(len(results))} not run: {first.reason}"
        return textwrap.wrap(head, self._width, subsequent_indent=INDENT)

    def _lines(self, result: Result, first: str) -> list[str]:
        """Return a result as lines; ``first`` is the first scenario that failed for the same cause."""
        head = f"{result.code:<10}{result.outcome.replace('_', ' '):<9}{result.title}"
        lines = textwrap.wrap(head, self._width, subsequent_indent=" " * 19)
        lines += textwrap.wrap(result.reason, self._width, initial_indent=INDENT, subsequent_indent=INDENT)
        if first != result.code:
            return [*lines, f"{INDENT}| {_cause(result)}, as in {first}"[: self._width]]
        for printed in result.output:
            start = f"{INDENT}| {printed[: len(printed) - len(printed.lstrip())]}"
            lines += textwrap.wrap(
                printed.lstrip(), self._width, initial_indent=start, subsequent_indent=f"{INDENT}|     "
            ) or [start.rstrip()]
        return lines


def _cause(result: Result) -> str:
    """Return the exception or the panic that ended the bot's program, or else the last line it printed."""
    for line in reversed(result.output):
        if panicked := PANICKED.match(line):
            return panicked[1] or panicked[2]
        if raised := _RAISED.match(line):
            return raised[1]
    return result.output[-1] if result.output else ""


def _verdict(report: "Report") -> str:
    counts = [f"{number} {outcome.replace('_', ' ')}" for outcome, number in report.counts.items() if number]
    verdict = "The bot passes" if report.passed else "The bot does not pass"
    if report.passed and report.left_out:
        verdict = "The bot passes so far, but not all was tried"
    asked = " the scenarios asked for" if report.part and counts else ""
    return f"{verdict}{asked}: {', '.join(counts) or 'nothing was tried'}."


def _scenarios(number: int) -> str:
    return f"{number} scenario" if number == 1 else f"{number} scenarios"
