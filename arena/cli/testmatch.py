"""``arena bot test``: a test match against house bots."""

from arena.cli.doors import command_of
from arena.operations import bots
from arena.tournaments.overview import TournamentStatus
from referee.cli.output import say


@command_of(bots.start_test, metavars={"against": "BOT"})
def play_house(status: TournamentStatus, bot: str) -> None:
    """Start an unrated match against house bots at once. `arena up` runs some."""
    say(
        f"{bot} plays a test match, {status.ruleset}: {status.tournament}",
        f"follow it with: arena tournament watch {status.tournament}",
        f"and then see it with: arena match show {status.tournament} 1 1",
    )
