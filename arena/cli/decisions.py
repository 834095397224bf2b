"""``arena tournament confirm`` and ``correct``: organisers' decisions about results after the end."""

from collections.abc import Sequence
from typing import Annotated

import typer

from arena.cli.asking import Yes
from arena.cli.asking import confirm as confirmed
from arena.cli.context import ask, asking
from arena.cli.pairings import BotName, Name
from arena.core.corrections import Correction, Kind, correction_text
from arena.jsonvalues import to_json
from arena.operations import tournaments
from referee.cli.output import MOST, AsJson, headline, print_json, say


def confirm(ctx: typer.Context, name: Name, yes: Yes = False, as_json: AsJson = False) -> None:
    """Confirm the results of a tournament that has ended; they are final from then on."""
    confirmed(f"Confirm the results of {name}, for good", yes)
    with asking(ctx) as call:
        status = call(tournaments.confirm_tournament, name)
        [*_, event] = call(tournaments.tournament_head, name).events
    if as_json:
        print_json(to_json(status))
    else:
        say(f"the results of {name} are final", f"signed with the key {event['details']['signed']['key']}")


def correct(
    ctx: typer.Context,
    name: Name,
    bot: BotName,
    reason: Annotated[str, typer.Option(help="The reason, which everybody can read.")],
    disqualify: Annotated[bool, typer.Option("--disqualify", help="Rank it behind all others.")] = False,
    reinstate: Annotated[bool, typer.Option("--reinstate", help="Undo its disqualification.")] = False,
    points: Annotated[
        int | None,
        typer.Option(min=-MOST, max=MOST, help="Points to add to its match; --points=-5 subtracts."),
    ] = None,
    round: Annotated[int | None, typer.Option(min=1, max=MOST, help="The match's round.")] = None,
    table: Annotated[int | None, typer.Option(min=1, max=MOST, help="The match's table.")] = None,
    as_json: AsJson = False,
) -> None:
    """Correct the standings of a tournament that has ended, by a public entry that gives the reason.

    Either --disqualify, --reinstate, or --points with --round and --table. Matches and ratings
    stay as they were.
    """
    if sum([disqualify, reinstate, points is not None]) != 1:
        raise typer.BadParameter("give one of --disqualify, --reinstate and --points")
    kind: Kind = "points" if points is not None else "disqualified" if disqualify else "reinstated"
    found = ask(ctx, tournaments.correct_standings, name, bot, kind, reason, round, table, points)
    if as_json:
        print_json({"tournament": name, **to_json(found)})
    else:
        say(correction_text(found), f"signed with the key {found.key}")


def show_corrections(found: Sequence[Correction]) -> None:
    """Print the organiser's corrections of the standings."""
    if found:
        headline("Corrections by the organiser")
        say(*map(correction_text, found))
