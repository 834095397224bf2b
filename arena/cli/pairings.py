"""``arena tournament withdraw``, ``stop``, ``pairings``: who leaves, who meets whom, and why."""

from typing import Annotated

import typer

from arena.cli.doors import command_of
from arena.core.formats import FORMATS
from arena.core.pairing import Balance, Spread
from arena.operations import entries, tournaments
from arena.play.rounds.overview import PairingsNamed, RoundNamed
from arena.play.rounds.reasons import reason_lines
from arena.tournaments.answers import Changed, Withdrawn
from referee.cli.output import console, headline, say, warn
from referee.cli.tables import table

Name = Annotated[str, typer.Argument(metavar="TOURNAMENT", help="The tournament's name.")]
BotName = Annotated[str, typer.Argument(metavar="BOT", help="OWNER/BOT or OWNER/BOT@VERSION.")]


@command_of(entries.withdraw_bot)
def withdraw(done: Withdrawn) -> None:
    """Withdraw a bot from a tournament after the rounds already paired, if its format allows that."""
    last = done.last_round
    say(f"{done.bot} plays in {done.tournament} {f'up to round {last}' if last else 'in no round'}")


@command_of(tournaments.stop_tournament)
def stop(status: Changed) -> None:
    """Pair no more rounds: the tournament finishes when the rounds already paired have been played."""
    warn(*status.warnings)
    say(f"{status.tournament} ends with round {status.rounds}")


@command_of(tournaments.tournament_pairings)
def pairings(shown: PairingsNamed, explain: bool) -> None:
    """Show who met whom in which round, and how even the pairings are."""
    for one in shown.rounds:
        headline(f"Round {one.round} ({one.state.value})")
        _show_round(one, shown, explain)
    _show_balance(shown.balance)


def _show_round(one: RoundNamed, shown: PairingsNamed, explain: bool) -> None:
    if one.reasons:
        for at, reason in enumerate(one.reasons, start=1):
            say(f"Table {at}: {', '.join(map(shown.bots.__getitem__, reason.entrants))}")
            for line in reason_lines(reason, shown.bots):
                say(f"  {line}")
    else:
        rows = [(at, ", ".join(seated)) for at, seated in enumerate(one.tables, start=1)]
        console().print(table([">table", "bot versions"], rows))
        if explain:
            say("no other pairing was possible" if one.only else FORMATS[shown.format].schedule)
    if one.byes:
        say(f"sitting out: {', '.join(one.byes)}")
    say("")


def _show_balance(balance: Balance) -> None:
    met = ", ".join(f"{count} met {times}×" for times, count in enumerate(balance.pairs) if count)
    headline(f"Balance over {balance.rounds} rounds, {balance.entrants} bots")
    rows = [
        ("meetings of two", _span(balance.meetings), met),
        ("a position at the table", _span(balance.positions), ""),
        ("directly after another", _span(balance.neighbours), ""),
        ("sitting out", _span(balance.byes), ""),
    ]
    console().print(table(["each has had", ">times", "pairs"], rows))


def _span(spread: Spread) -> str:
    return str(spread.most) if spread.least == spread.most else f"{spread.least}–{spread.most}"
