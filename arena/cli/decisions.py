"""``arena tournament confirm`` and ``correct``: organisers' decisions about results after the end."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

import arena.client as api
from arena.cli import remote
from arena.cli.asking import Yes
from arena.cli.asking import confirm as ask
from arena.cli.context import actor_at_terminal, answer, settings_of
from arena.cli.pairings import BotName, Name
from arena.cli.watch import status_object
from arena.keys import arena_key
from arena.models import utc_now
from arena.standings.corrections import Correction, Kind, correction_text
from arena.storage import Storage
from arena.tournaments import corrections
from arena.tournaments.overview import TournamentStatus
from referee.cli.output import MOST, AsJson, headline, print_json, renamed, say

if TYPE_CHECKING:
    from arena.client import Client


def confirm(ctx: typer.Context, name: Name, yes: Yes = False, as_json: AsJson = False) -> None:
    """Confirm the results of a tournament that has ended; they are final from then on."""

    def here(storage: Storage) -> tuple[TournamentStatus, str]:
        key = arena_key(settings_of(ctx))
        ask(f"Confirm the results of {name}, for good", yes)
        return corrections.confirm(storage, actor_at_terminal(), name, utc_now(), key), key.public

    def there(arena: "Client") -> tuple[TournamentStatus, str]:
        ask(f"Confirm the results of {name}, for good", yes)
        changed = arena.send(api.tournaments.confirm_tournament(name))
        [*_, confirmed] = arena.send(api.tournaments.tournament_head(name)).events
        return remote.status_in(changed), confirmed["details"]["signed"]["key"]

    status, key = answer(ctx, here, there)
    if as_json:
        print_json(status_object(status))
    else:
        say(f"the results of {name} are final", f"signed with the key {key}")


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
    wanted = corrections.Wanted(bot, kind, reason, round, table, points)

    def here(storage: Storage) -> Correction:
        key = arena_key(settings_of(ctx))
        return corrections.correct(storage, actor_at_terminal(), name, wanted, utc_now(), key)

    found = answer(
        ctx, here, lambda arena: arena.send(api.tournaments.correct_standings(name, **asdict(wanted)))
    )
    if as_json:
        print_json({"tournament": name, **renamed(found)})
    else:
        say(correction_text(found), f"signed with the key {found.key}")


def show_corrections(found: Sequence[Correction]) -> None:
    """Print the organiser's corrections of the standings."""
    if found:
        headline("Corrections by the organiser")
        say(*map(correction_text, found))
