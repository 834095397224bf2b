"""``arena doctor`` and ``arena config``: the settings, what is in order, what is not, and what to do."""

import typer

from arena.cli.context import GlobalOptions, client_of, is_here, settings_of
from arena.host.settings import PREFIX
from arena.operations import operator
from arena.running.doctor import examine
from arena.running.findings import Finding, Level
from arena.store.models import utc_now
from referee.cli.output import AsJson, console, print_json, say
from referee.cli.tables import table


def config(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Show the settings; secrets are hidden."""
    values = settings_of(ctx).shown()
    if as_json:
        print_json({"settings": values})
    else:
        rows = [(name, text, f"{PREFIX}{name.upper()}") for name, text in values.items()]
        console().print(table(["setting", "value", "variable"], rows))


def doctor(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Check this arena: settings, versions, database, broker, referees, clocks, disk, leases, queue.

    Changes nothing. Exits with status 1 if a check fails, but not for warnings.
    """
    findings = _findings(ctx)
    if as_json:
        print_json({"findings": findings})
    else:
        width = max(len(finding.check) for finding in findings)
        say(*(_line(finding, width) for finding in findings))
    if any(finding.level is Level.FAIL for finding in findings):
        raise typer.Exit(1)


def _findings(ctx: typer.Context) -> list[Finding]:
    options: GlobalOptions = ctx.obj
    if is_here(ctx):
        return examine({} if options.data is None else {"data": options.data}, utc_now)
    with client_of(ctx) as arena:
        return arena.call(operator.findings).findings


def _line(finding: Finding, width: int) -> str:
    advice = f" → {finding.advice}" if finding.advice else ""
    return f"{finding.level.value:<5} {finding.check:<{width}} {finding.found}{advice}"
