"""``arena tournament withdraw``, ``stop``, ``pairings``: who leaves, who meets whom, and why."""

from typing import Annotated

import typer

from arena.cli.context import actor_at_terminal, storage_of
from arena.cli.output import MOST, AsJson, console, headline, print_json, renamed, say
from arena.cli.tables import table
from arena.cli.watch import status_object
from arena.formats import FORMATS
from arena.models import utc_now
from arena.pairing import Balance, Spread
from arena.rounds.overview import PairingsShown, RoundShown, named
from arena.rounds.overview import pairings as find_pairings
from arena.rounds.reasons import reason_lines
from arena.tournaments import entry, lifecycle

Name = Annotated[str, typer.Argument(metavar="TOURNAMENT", help="The tournament's name.")]
BotName = Annotated[str, typer.Argument(metavar="BOT", help="OWNER/BOT or OWNER/BOT@VERSION.")]


def withdraw(ctx: typer.Context, name: Name, bot: BotName, as_json: AsJson = False) -> None:
    """Withdraw a bot from a tournament after the rounds already paired, if its format allows that."""
    with storage_of(ctx) as storage:
        last = entry.withdraw(storage, actor_at_terminal(), name, bot, utc_now())
    if as_json:
        print_json({"tournament": name, "bot": bot, "last_round": last})
    else:
        say(f"{bot} plays in {name} {f'up to round {last}' if last else 'in no round'}")


def stop(ctx: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Pair no more rounds: the tournament finishes when the rounds already paired have been played."""
    with storage_of(ctx) as storage:
        status = lifecycle.stop(storage, actor_at_terminal(), name, utc_now())
    if as_json:
        print_json(status_object(status))
    else:
        say(f"{name} ends with round {status.rounds}")


def pairings(
    ctx: typer.Context,
    name: Name,
    round: Annotated[int | None, typer.Option(min=1, max=MOST, help="Only this round.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Explain why each table of a Swiss round is as it is.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show who met whom in which round, and how even the pairings are."""
    with storage_of(ctx) as storage:
        shown = find_pairings(storage, name, round, explained=explain)
    if as_json:
        print_json(renamed(named(name, shown)))
        return
    for one in shown.rounds:
        headline(f"Round {one.number} ({one.state.value})")
        _show_round(one, shown, explain)
    _show_balance(shown.balance)


def _show_round(one: RoundShown, shown: PairingsShown, explain: bool) -> None:
    names = shown.names
    if one.reasons:
        for at, reason in enumerate(one.reasons, start=1):
            say(f"Table {at}: {', '.join(map(names.__getitem__, reason.entrants))}")
            for line in reason_lines(reason, shown.names):
                say(f"  {line}")
    else:
        tables = enumerate(one.pairing.tables, start=1)
        rows = [(at, ", ".join(names[entrant] for entrant in seated)) for at, seated in tables]
        console().print(table([">table", "bot versions"], rows))
        if explain:
            say("no other table was possible" if one.only else FORMATS[shown.format].schedule)
    if one.pairing.byes:
        say(f"sitting out: {', '.join(names[entrant] for entrant in one.pairing.byes)}")
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
