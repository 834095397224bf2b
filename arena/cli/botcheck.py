"""``arena bot check`` of the whole arena: the result is stored with a bot version."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from arena.bots import versions
from arena.bots.checks import SentReport
from arena.cli.bots import version_of
from arena.cli.context import asking
from arena.errors import StateError
from arena.operations import bots
from referee.cli.botcheck import (
    CheckOrder,
    Codes,
    Command,
    Listen,
    LogFile,
    ReportFile,
    Wait,
    check_order,
    run_check,
)
from referee.cli.output import AsJson
from referee.cli.starting import bot_command

if TYPE_CHECKING:
    from referee.check import Report


def check_(
    ctx: typer.Context,
    bot: Annotated[
        str,
        typer.Argument(
            metavar="OWNER/BOT[@VERSION]", help="The bot version; or a Python file, or a sample bot."
        ),
    ],
    command: Command = None,
    listen: Listen = "",
    scenario: Codes = None,
    wait: Wait = 60.0,
    log: LogFile = None,
    report: ReportFile = None,
    store: Annotated[
        bool,
        typer.Option(
            "--store/--no-store", help="Store the result of all scenarios together with the bot version."
        ),
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Check that a bot follows the protocol, by playing scripted scenarios with it.

    COMMAND starts the bot (ARENA_REFEREE and ARENA_TOKEN are set for it). Without it, start the
    bot with the address and the token that are printed. Exits with status 1 if the bot does not pass.
    Each result is shown as it comes. A signal ends the check, with a summary and the report of the
    results so far.
    """
    unnamed = bot_command(bot)
    order = check_order(CheckOrder(command or unnamed, listen, scenario or None, wait, log, report))
    local = unnamed is not None or (command and "/" not in bot)
    if not local:
        versions.check_bot(bot)
    if local or scenario or not store:
        run_check(order, bot, as_json=as_json)
        return
    with _kept_by(ctx, bot) as (name, store_report):
        run_check(order, name, as_json=as_json, store=store_report)


@contextmanager
def _kept_by(ctx: typer.Context, bot: str) -> Iterator[tuple[str, Callable[["Report"], object]]]:
    """Yield the version that is checked, and a function that stores the report."""
    with asking(ctx) as call:
        version = version_of(call, bot)
        [version_shown] = call(bots.show_bot, version, 1).versions
        if version_shown.revoked_at is not None:
            raise StateError(f"the token of {version} is revoked: it will not play any more")
        yield (
            version,
            lambda report: call(bots.store_check, version, SentReport.model_validate(report.to_object())),
        )
