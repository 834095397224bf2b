"""``arena bot test``: a test match against house bots."""

from typing import Annotated

import typer

import arena.client as api
from arena.cli.context import actor_at_terminal, answer, settings_of
from arena.cli.watch import status_object
from arena.matches.referees import asker
from arena.messages import wake
from arena.models import utc_now
from arena.storage import Storage
from arena.tournaments.overview import TournamentStatus
from arena.tournaments.testmatches import start_test_match
from referee.cli.output import AsJson, print_json, say


def play_house(
    ctx: typer.Context,
    bot: Annotated[
        str, typer.Argument(metavar="OWNER/BOT[@VERSION]", help="The bot, which has to be connected.")
    ],
    ruleset: Annotated[str, typer.Option(help="What to play: a preset.")] = "chinese",
    against: Annotated[
        list[str] | None,
        typer.Option(metavar="BOT", help="Seat this house bot at the table, such as sage; may be repeated."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Start an unrated match against house bots at once. `arena up` runs some."""

    def here(storage: Storage) -> TournamentStatus:
        settings = settings_of(ctx)
        status = start_test_match(
            storage, actor_at_terminal(), bot, ruleset, utc_now(), asker(settings), against or ()
        )
        wake(settings, status.id)
        return status

    status = answer(ctx, here, lambda arena: arena.send(api.bots.start_test(bot, ruleset, against or ())))
    if as_json:
        print_json(status_object(status))
    else:
        say(
            f"{bot} plays a test match, {status.ruleset}: {status.name}",
            f"follow it with: arena tournament watch {status.name}",
            f"and then see it with: arena match show {status.name} 1 1",
        )
