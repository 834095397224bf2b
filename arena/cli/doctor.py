"""``arena doctor``: what is well in an arena, what is not, and what to do about it."""

import typer

from arena.cli.context import Given
from arena.cli.output import AsJson, print_json, say
from arena.models import utc_now
from arena.operations.doctor import Finding, Level, examine

WIDTH = 12
"""Of the names of checks."""


def doctor(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Check this arena: settings, versions, database, broker, referees, clocks, disk, leases, queue.

    Changes nothing. Exits with status 1 if a check fails, but not for warnings.
    """
    given: Given = ctx.obj
    findings = examine({} if given.data is None else {"data": given.data}, utc_now)
    if as_json:
        print_json({"findings": findings})
    else:
        say(*map(_line, findings))
    if any(finding.level is Level.FAIL for finding in findings):
        raise typer.Exit(1)


def _line(finding: Finding) -> str:
    advice = f" → {finding.advice}" if finding.advice else ""
    return f"{finding.level.value:<5} {finding.check:<{WIDTH}} {finding.found}{advice}"
