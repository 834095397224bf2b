"""A deal printed for people, from its record (docs/formats.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from referee.cli.tables import FittedTable, table

PASS = "-"


@dataclass(frozen=True, slots=True)
class Action:
    """One entry of a record's ``actions``."""

    seat: int
    cards: str
    """The cards played, or ``-`` for a pass."""
    note: str
    """A bomb out of turn, cards drawn; empty for most."""

    @property
    def text(self) -> str:
        """The action as tables show it."""
        return f"{self.cards} {self.note}".rstrip()


DONE_FOR = {
    "default_action": "the default action is taken",
    "stand_in": "the weakest legal play is made",
}
"""What is done for a bot that has forfeited, in words."""


def parse_action(text: str) -> Action:
    """Read an action as records write it: ``2:3D 3C``, ``1:-``, ``0!4D 4H 4S 4C 5D`` or ``1:- +7H``."""
    mark = ":" if ":" in text else "!"
    seat, _, rest = text.partition(mark)
    cards, _, drawn = rest.partition(" +")
    note = "(bomb out of turn)" if mark == "!" else f"(draws {drawn})" if drawn else ""
    return Action(int(seat), cards, note)


def tricks(record: Mapping[str, Any]) -> list[list[Action]]:
    """Return the actions of a record, trick by trick.

    A trick is over when everyone else who holds cards has passed since its last play (or since its lead,
    where a pass locks). Where bots may beat their own play, the seat that made it must have passed too. Under
    ``after_out: next_leads``, it is over as well when a seat has gone out.
    """
    ruleset = record["ruleset"]
    actions = [parse_action(text) for text in record["actions"]]
    last_of = {action.seat: at for at, action in enumerate(actions) if action.cards != PASS}
    tricks_so_far: list[list[Action]] = []
    passed: set[int] = set()
    top: int | None = None
    over = True
    for at, action in enumerate(actions):
        if over:
            tricks_so_far.append([])
            passed, top = set(), None
        tricks_so_far[-1].append(action)
        if action.cards == PASS:
            passed.add(action.seat)
        else:
            passed = passed - {action.seat} if ruleset["pass_locks"] else set()
            top = action.seat
        gone = {seat for seat in record["out"] if last_of.get(seat, -1) <= at}
        waiting = set(range(len(record["seats"]))) - passed - gone
        last_word = ruleset["beat_own"] and top is not None and top not in gone
        over = not waiting if last_word else top is not None and not waiting - {top}
        over = over or (top in gone and ruleset["after_out"] == "next_leads")
    return tricks_so_far


def laps(trick: Sequence[Action], order: Sequence[int]) -> list[dict[int, str]]:
    """Lay a trick out as rows, each from seat to what it did, with a new row whenever play comes round."""
    rows: list[dict[int, str]] = [{}]
    last = -1
    for action in trick:
        place = order.index(action.seat)
        if place <= last:
            rows.append({})
        rows[-1][action.seat] = action.text
        last = place
    return rows


def show_deal(record: Mapping[str, Any], out: Console) -> None:
    """Print a deal: the hands, the tricks with a column for each seat in the order of play, the points."""
    seats, ruleset = record["seats"], record["ruleset"]
    out.print(
        f"session {record['session']}, deal {record['deal']}: {ruleset['name']}@{ruleset['version']}, "
        f"{record['direction']}, dealer {seats[record['dealer']]}, seed {record['seed']}",
        soft_wrap=True,
    )
    tricks, names = _tricks(record, seats), seats
    if not tricks.fits(out.width):
        tricks = _tricks(record, [f"seat {seat}" for seat in range(len(seats))])
        names = [f"seat {seat}: {name}" for seat, name in enumerate(seats)]
    out.print(_hands(record, names), "")
    if exchange := record.get("exchange"):
        loser, winner = seats[exchange["loser"]], seats[exchange["winner"]]
        out.print(
            f"{loser} gave {exchange['given']} to {winner} and got {exchange['returned']}\n", soft_wrap=True
        )
    if record["actions"]:
        out.print(tricks, "")
    out.print(_points(record), "")
    out.print("\n".join([*_faults(record), *_forfeits(record), f"{_end(record)}.\n"]), soft_wrap=True)


def _hands(record: Mapping[str, Any], names: Sequence[str]) -> FittedTable:
    rows = [(name, hand, len(hand.split())) for name, hand in zip(names, record["hands"], strict=True)]
    if record["leftover"]:
        rows.append(("left over", record["leftover"], len(record["leftover"].split())))
    return table(["seat", "hand as dealt", ">cards"], rows)


def _tricks(record: Mapping[str, Any], seats: Sequence[str]) -> FittedTable:
    step = 1 if record["direction"] == "clockwise" else -1
    first = record["leader"] if record["leader"] is not None else 0
    order = [(first + step * place) % len(seats) for place in range(len(seats))]
    rows = []
    for number, trick in enumerate(tricks(record), start=1):
        for lap, row in enumerate(laps(trick, order)):
            rows.append(("" if lap else number, *(row.get(seat, "") for seat in order)))
    return table([">trick", *(seats[seat] for seat in order)], rows)


def _points(record: Mapping[str, Any]) -> FittedTable:
    rows = zip(record["seats"], record["left"], record["points"], strict=True)
    return table(["seat", "left", ">points"], rows)


def _faults(record: Mapping[str, Any]) -> list[str]:
    return [
        f"fault of {record['seats'][fault['seat']]} at action {fault['action']}: {fault['kind']}"
        for fault in record.get("faults", ())
    ]


def _forfeits(record: Mapping[str, Any]) -> list[str]:
    """Return lines that say which actions were not the bots' own."""
    return [
        f"{record['seats'][end['seat']]} forfeited the session ({end['why']}): from deal {end['deal']}, "
        f"action {end['action']} on, {DONE_FOR[end['by']]} for it"
        for end in record.get("played_for", ())
    ]


def _end(record: Mapping[str, Any]) -> str:
    out = " and ".join(record["seats"][seat] for seat in record["out"])
    match record["end"]:
        case "out":
            return f"{out} went out"
        case "dragon":
            return f"{out} held a dragon"
        case "instant_win":
            return f"{out} held a hand that wins at once"
        case "last_top_card":
            return "It ended with a card left that loses as the last one"
        case _:
            return f"{record['seats'][record['forfeit']]} forfeited"
