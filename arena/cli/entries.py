"""Who plays in a tournament and meets whom: ``arena tournament enter``, ``invite``, ``pairings``, …"""

from typing import Annotated

import typer

from arena.cli.context import ask, asking
from arena.cli.doors import command_of
from arena.core.formats import FORMATS
from arena.core.pairing import Balance, Spread
from arena.jsonvalues import to_json
from arena.operations import entries as operations
from arena.operations import tournaments
from arena.operations.entries import Entered, Withdrawn
from arena.operations.tournaments import Changed
from arena.play.rounds.overview import PairingsNamed, RoundNamed, reason_lines
from arena.queries.softplay import SoftPlay
from arena.tournaments.admission import EntriesShown, RequestShown
from referee.cli.output import AsJson, console, headline, moment, print_json, say, show, warn
from referee.cli.tables import table

Name = Annotated[str, typer.Argument(metavar="TOURNAMENT", help="The tournament's name.")]
BotName = Annotated[str, typer.Argument(metavar="BOT", help="OWNER/BOT or OWNER/BOT@VERSION.")]


@command_of(operations.withdraw_bot)
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
def pairings(page: PairingsNamed, explain: bool) -> None:
    """Show who met whom in which round, and how even the pairings are."""
    for part in page.rounds:
        headline(f"Round {part.round} ({part.state.value})")
        _show_round(part, page, explain)
    if page.balance is not None:
        _show_balance(page.balance)


@command_of(tournaments.list_soft_play, csv="pairs")
def soft_play(page: SoftPlay) -> None:
    """Show which bots give way to one other more often than to the rest; for the tournament's organiser.

    A chance is a turn at which a bot could have beaten the other's play at no cost. Pairs with a star stand
    out: look at their deals. This is not a verdict.
    """
    say(f"pairs of a bot and one other that were looked at: {page.looked_at}")
    rows = [
        (
            *("*" if line.stands_out else "", line.bot, line.other, line.deals, line.chances),
            *(f"{line.passed / line.chances:.1%}", f"{line.rest:.1%}"),
            f"{line.difference:+.1%} ({line.low:+.1%} to {line.high:+.1%})",
        )
        for line in page.pairs
    ]
    columns = [
        "",
        "bot version",
        "other",
        ">deals",
        ">chances",
        ">passed",
        ">against the rest",
        ">difference",
    ]
    show(columns, rows, "no rounds have been looked at yet: workers do that when they have time")
    if page.pairs:
        say(
            f"differences up to {page.allowed:.0%} may have honest reasons",
            "the interval allows for all pairs that were looked at: "
            f"in a tournament of honest bots, one or more stand out in {page.level:.1%} of cases at most",
        )


def _show_round(part: RoundNamed, page: PairingsNamed, explain: bool) -> None:
    if part.reasons:
        for at, reason in enumerate(part.reasons, start=1):
            say(f"Table {at}: {', '.join(map(page.bots.__getitem__, reason.entrants))}")
            for line in reason_lines(reason, page.bots):
                say(f"  {line}")
    else:
        rows = [(at, ", ".join(seated)) for at, seated in enumerate(part.tables, start=1)]
        console().print(table([">table", "bot versions"], rows))
        if explain:
            say("no other pairing was possible" if part.only else FORMATS[page.format].schedule)
    if part.byes:
        say(f"sitting out: {', '.join(part.byes)}")
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


TakeBack = Annotated[
    bool, typer.Option("--take-back", help="Invite them no longer; those that are in it already stay.")
]

MAY = {
    "enter": "may enter",
    "ask": "may ask to enter",
    "invite": "can be invited, as it is not open to you, to",
    "no": "cannot enter",
}

Invited = Annotated[list[str], typer.Argument(metavar="OWNER|OWNER/BOT...", help="Owners, or bots.")]


@command_of(operations.enter_bot)
def enter(entered: Entered) -> None:
    """Enter a bot into a tournament; after the start, only if its format allows that."""
    warn(*entered.warnings)
    if entered.state == "asked":
        say(f"{entered.bot} has asked to enter {entered.tournament}; its organiser decides")
    elif entered.state == "invited":
        say(f"{entered.bot} is invited to {entered.tournament}; it plays once its author enters it")
    else:
        say(f"{entered.bot} plays in {entered.tournament} from round {entered.first_round} on")


def may_enter(ctx: typer.Context, name: Name, bot: BotName, as_json: AsJson = False) -> None:
    """Say whether a bot may enter a tournament now, and everything that prevents it. Changes nothing.

    Exits with status 1 if the bot cannot enter.
    """
    answer = ask(ctx, operations.may_enter, name, bot)
    if as_json:
        print_json(to_json(answer))
    else:
        from_round = f" from round {answer.first_round} on" if answer.first_round else ""
        say(f"{answer.bot} {MAY[answer.answer]} {answer.tournament}{from_round}", *answer.reasons)
    if answer.answer == "no":
        raise typer.Exit(1)


def invite(
    ctx: typer.Context, name: Name, invited: Invited, take_back: TakeBack = False, as_json: AsJson = False
) -> None:
    """Invite owners, or single bots, to a tournament; their authors are shown that, and may enter them."""
    with asking(ctx) as call:
        if take_back:
            for bot in invited:
                call(operations.uninvite_bot, name, bot)
            entries = call(operations.list_entries, name)
        else:
            entries = call(operations.invite_bots, name, invited)
    say_invited(entries, as_json)


def say_invited(entries: EntriesShown, as_json: bool) -> None:
    """Print who is invited to a tournament or a league."""
    if as_json:
        print_json(to_json(entries))
    else:
        names = ", ".join(invitation.invited for invitation in entries.invitations)
        say(f"invited to {entries.name}: {names or 'nobody'}")


@command_of(operations.list_entries)
def entries(page: EntriesShown) -> None:
    """Show who is invited to a tournament, which bots have asked to enter it, and what they were answered."""
    show_entries(page, "no bot has asked to enter")


def show_entries(entries: EntriesShown, none: str) -> None:
    """Print who is invited to a tournament or a league, and who has asked, or that nobody has."""
    limit = f"; at most {entries.owner_limit} bots of an owner" if entries.owner_limit else ""
    say(f"entries: {entries.entries}{limit}")
    if entries.invitations:
        headline("Invited")
        invited = [(line.invited, line.invited_by, moment(line.invited_at)) for line in entries.invitations]
        show(["owner or bot", "by", "on"], invited, "")
    headline("Requests")
    rows = [
        (
            *(line.bot, line.state.value, line.asked_by, moment(line.asked_at)),
            *(line.answered_by or "", moment(line.answered_at), line.reason or ""),
        )
        for line in entries.requests
    ]
    columns = ["bot version", "state", "asked by", "on", "answered by", "on", "reason"]
    show(columns, rows, none)


@command_of(operations.approve_bot, metavars={"bot": "BOT"})
def approve(entered: Entered) -> None:
    """Approve a bot that has asked to enter a tournament."""
    say(f"{entered.bot} plays in {entered.tournament} from round {entered.first_round} on")


@command_of(operations.decline_bot, options=["reason"], metavars={"bot": "BOT"})
def decline(request: RequestShown) -> None:
    """Decline a bot that has asked to enter a tournament."""
    say(f"{request.bot} is declined: {request.reason}")
