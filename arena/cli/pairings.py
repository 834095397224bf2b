"""``arena tournament withdraw``, ``stop``, ``pairings``: who leaves, who meets whom, and why."""

from typing import Annotated

import typer

import arena.client as api
from arena.cli import remote
from arena.cli.context import actor_at_terminal, answer
from arena.cli.watch import status_object
from arena.formats import FORMATS
from arena.models import utc_now
from arena.pairing import Balance, Spread
from arena.rounds.overview import PairingsNamed, RoundNamed, named
from arena.rounds.overview import pairings as find_pairings
from arena.rounds.reasons import reason_lines
from arena.tournaments import entry, lifecycle
from referee.cli.output import MOST, AsJson, console, headline, print_json, renamed, say
from referee.cli.tables import table

Name = Annotated[str, typer.Argument(metavar="TOURNAMENT", help="The tournament's name.")]
BotName = Annotated[str, typer.Argument(metavar="BOT", help="OWNER/BOT or OWNER/BOT@VERSION.")]


def withdraw(ctx: typer.Context, name: Name, bot: BotName, as_json: AsJson = False) -> None:
    """Withdraw a bot from a tournament after the rounds already paired, if its format allows that."""
    last = answer(
        ctx,
        lambda storage: entry.withdraw(storage, actor_at_terminal(), name, bot, utc_now()),
        lambda arena: arena.send(api.entries.withdraw_bot(name, bot)).last_round,
    )
    if as_json:
        print_json({"tournament": name, "bot": bot, "last_round": last})
    else:
        say(f"{bot} plays in {name} {f'up to round {last}' if last else 'in no round'}")


def stop(ctx: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Pair no more rounds: the tournament finishes when the rounds already paired have been played."""
    status = answer(
        ctx,
        lambda storage: lifecycle.stop(storage, actor_at_terminal(), name, utc_now()),
        lambda arena: remote.status_in(arena.send(api.tournaments.stop_tournament(name))),
    )
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
    shown = answer(
        ctx,
        lambda storage: named(name, find_pairings(storage, name, round, explained=explain)),
        lambda arena: arena.send(api.tournaments.tournament_pairings(name, round, explain)),
    )
    if as_json:
        print_json(renamed(shown))
        return
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
