"""Checking deal records: everything in a record that follows from its seed and actions is derived again.

That is the hands (redealt if the rules say so), who leads, every action's legality and turn, the cards drawn,
the end, the points and the cards left (the public format, docs/formats.md).
"""

from collections.abc import Mapping, Sequence
from sys import intern
from typing import Any

from referee.deals.deal import Deal, Stage
from referee.deals.session import Legacy, Setup, direction, legacy, lowest_leads, setup, substitute
from referee.errors import CardError, PlayError, RecordError
from referee.reading.validation import short
from referee.records.reading import Record, read_record
from referee.records.record import DIRECTIONS, ActionText, action_text, parse_action

Place = tuple[str, int, int, int, int, str]
"""What identifies a deal: tournament, round, table, session, number, and its ruleset's hash."""


class Replayer:
    """Checks records one after the other, each against its predecessor if that was read and right."""

    def __init__(self, *, strict: bool = False) -> None:
        """Begin; if ``strict``, records may have no fields that are not theirs."""
        self._strict = strict
        self._seen: dict[Place, tuple[Legacy, int]] = {}
        """What each deal left to the next, and the attempt that dealt it."""

    def check(self, value: object, choices: list[bool] | None = None) -> Deal:
        """Replay a record and return its deal; add to ``choices`` as ``replay`` does.

        Raise RecordError for the first thing that is wrong.
        """
        record = read_record(value, strict=self._strict)
        last, attempt = self._seen.get(_place(record, record.deal - 1), (None, 1))
        if record.attempt < attempt:
            raise RecordError(None, f"attempt: is {record.attempt}, but the deal before is of {attempt}")
        deal = replay(record, last, choices)
        self._seen[_place(record, record.deal)] = legacy(deal), record.attempt
        return deal


def replay(record: Record, last: Legacy | None, choices: list[bool] | None = None) -> Deal:
    """Replay a record and return its deal. Raise RecordError for the first thing that is wrong.

    ``last`` is what the deal before left. If that is None and the deal is not the first, dealer and exchange
    seats are taken as given, and so is the leader unless the lowest card decides. For each action it is added
    to ``choices`` whether it was in turn and the seat had more than one answer.
    """
    deal = start(record, last)
    for index, text in enumerate(record.actions):
        for fault in record.faults:
            if fault["action"] == index and fault.get("turn") != "exchange":
                _check_fault(deal, index, fault, text)
        for ending in record.played_for:
            if text.startswith(str(ending["seat"])) and is_played_for(
                ending, record.deal, index, record.faults
            ):
                _check_substitute(deal, index, ending, text)
        if choices is not None:
            choices.append(_has_choice(deal, text))
        carry_out(deal, index, text)
    _check_last_faults(record)
    if record.forfeit is not None:
        _forfeit(deal, record.forfeit)
    _check_end(record, deal)
    return deal


def start(record: Record, last: Legacy | None) -> Deal:
    """Return a record's deal before its first action. Raise RecordError for the first thing that is wrong.

    ``last`` is as for ``replay``.
    """
    begin = _begin(record, last)
    _compare(None, "dealer", record.dealer, begin.dealer)
    _compare(None, "direction", DIRECTIONS[record.step], DIRECTIONS[begin.step])
    deal = Deal(
        record.rules,
        record.seed,
        record.deal,
        begin.dealer,
        begin.step,
        leader=begin.leader,
        exchange=begin.exchange,
    )
    _check_start(record, deal)
    return deal


def _place(record: Record, number: int) -> Place:
    content = intern(record.rules.ruleset.hash)
    return intern(record.tournament), record.round, record.table, record.session, number, content


# The beginning


def _begin(record: Record, last: Legacy | None) -> Setup:
    ruleset = record.rules.ruleset
    if last is not None or record.deal == 1:
        return setup(ruleset, record.deal, last)
    leader = None if lowest_leads(ruleset, record.deal) else record.leader
    exchange = _exchange_seats(record) if ruleset.exchange != "none" else None
    return Setup(record.dealer, direction(ruleset, record.deal), leader, exchange)


def _exchange_seats(record: Record) -> tuple[int, int] | None:
    if record.exchange is not None:
        return record.exchange.loser, record.exchange.winner
    if record.rules.ruleset.last_top_card == "loses" and record.leader is not None:
        return None  # the deal before may have had no winner
    # A hand won before it, a forfeit undid it, or it is missing: whose it was does not matter.
    return 0, 1


def _check_start(record: Record, deal: Deal) -> None:
    rules = deal.rules
    for seat, hand in enumerate(deal.dealt):
        _compare(None, f"hands[{seat}]", record.hands[seat], rules.text(hand))
    leftover = " ".join([rules.card_text(card) for card in deal.leftover])
    _compare(None, "leftover", record.leftover, leftover)
    if deal.stage is Stage.EXCHANGE and not _forfeited_here(record):
        _exchange(record, deal)
    elif record.exchange is not None:
        raise RecordError(None, "exchange: this deal has none")
    _compare(None, "leader", record.leader, None if deal.stage is Stage.EXCHANGE else deal.leader)


def _forfeited_here(record: Record) -> bool:
    """Return whether the record is one of a forfeit in the exchange."""
    return record.forfeit is not None and record.exchange is None and not record.actions


def _exchange(record: Record, deal: Deal) -> None:
    exchange, rules, expected = record.exchange, deal.rules, deal.exchange
    assert expected is not None
    if exchange is None:
        raise RecordError(None, "exchange: is missing")
    _compare(None, "exchange.loser", exchange.loser, expected.loser)
    _compare(None, "exchange.winner", exchange.winner, expected.winner)
    _compare(None, "exchange.given", exchange.given, rules.text(expected.given))
    lowest = deal.default(expected.winner)
    try:
        returned = rules.parse(exchange.returned)
        deal.act(expected.winner, returned)
    except (CardError, PlayError) as error:
        raise RecordError(None, f"exchange.returned: {error}") from error
    for forfeit in record.played_for:
        gone = forfeit["deal"] < record.deal or forfeit["why"] == "absent"
        if gone and forfeit["seat"] == expected.winner and returned != lowest:
            raise RecordError(None, "played_for: what was returned is not the winner's lowest card")
    for fault in record.faults:
        if fault.get("turn") == "exchange" and (fault["seat"] != expected.winner or returned != lowest):
            raise RecordError(None, "faults: what was returned is not the winner's lowest card")


# Actions and end


def carry_out(deal: Deal, index: int, text: str) -> None:
    """Carry out the action of this index. Raise RecordError if it is not legal or not what happened."""
    try:
        action = parse_action(deal.rules, text)
        deal.follow(*action)
    except (ValueError, CardError, PlayError) as error:
        raise RecordError(index, str(error)) from error
    _compare(index, "action", text, action_text(deal.rules, deal.log[index]))


def _check_fault(deal: Deal, index: int, fault: Mapping[str, Any], text: str) -> None:
    """Raise RecordError unless the seat was asked here and took the default action."""
    seat = fault["seat"]
    if fault.get("turn") == "bomb":
        if deal.stage is not Stage.BOMBS or seat not in deal.owing() or text.startswith(f"{seat}!"):
            raise RecordError(index, f"faults: seat {seat} did not decline to bomb here")
        return
    state = _in_turn(deal)
    if state.turn != seat:
        raise RecordError(index, f"faults: it is not the turn of seat {seat}")
    acted = _parsed(deal, index, text)
    if acted.seat != seat or acted.cards != state.default(seat):
        raise RecordError(index, f"faults: the action is not the default one of seat {seat}")


def is_played_for(
    played_for: Mapping[str, Any], deal: int, index: int, faults: Sequence[Mapping[str, Any]]
) -> bool:
    """Return whether a seat's action of this index in a deal was taken for it because its bot had forfeited.

    The action at the last of its ``faults``, by which it forfeits, is the default one in any case.
    """
    if played_for["deal"] < deal:
        return True
    last = {"seat": played_for["seat"], "action": index}
    at_fault = any(last.items() <= fault.items() and "turn" not in fault for fault in faults)
    return index >= played_for["action"] and not at_fault


def _check_substitute(deal: Deal, index: int, played_for: Mapping[str, Any], text: str) -> None:
    """Raise RecordError unless the action is the one taken for a seat whose bot has forfeited."""
    seat, by = played_for["seat"], played_for["by"]
    acted, state = _parsed(deal, index, text), _in_turn(deal)
    if acted.out_of_turn or state.turn != seat or acted.cards != substitute(state, seat, by):
        raise RecordError(index, f"played_for: the action is not what {by} does for seat {seat}")


def _in_turn(deal: Deal) -> Deal:
    """Return a deal as it stands at the next action in turn: a bomb window closes before that."""
    if deal.stage is not Stage.BOMBS:
        return deal
    state = deal.copy()
    for other in state.owing():
        state.act(other, 0)
    return state


def _has_choice(deal: Deal, text: str) -> bool:
    """Return whether the next action is in turn, and its seat has more than one answer."""
    if text[1:2] == "!" or deal.over:
        return False
    state = _in_turn(deal)
    return state.turn >= 0 and not state.forced(state.turn)


def _parsed(deal: Deal, index: int, text: str) -> ActionText:
    try:
        return parse_action(deal.rules, text)
    except (ValueError, CardError) as error:
        raise RecordError(index, str(error)) from error


def _check_last_faults(record: Record) -> None:
    """Raise RecordError for a fault after the last action, except those that end in a forfeit."""
    for fault in record.faults:
        last = fault["action"] == len(record.actions) and fault.get("turn") != "exchange"
        ends = record.forfeit is not None and (fault["seat"] == record.forfeit or fault.get("turn") == "bomb")
        if last and not ends:
            raise RecordError(None, f"faults: seat {fault['seat']} has no action after it")


def _forfeit(deal: Deal, seat: int) -> None:
    try:
        deal.forfeit(seat)
    except PlayError as error:
        raise RecordError(None, f"forfeit: {error}") from error


def _check_end(record: Record, deal: Deal) -> None:
    if not deal.over:
        raise RecordError(None, "the actions stop before the deal is over")
    _compare(None, "end", record.end, deal.end)
    _compare(None, "out", list(record.out), deal.out)
    for seat, hand in enumerate(deal.left):
        _compare(None, f"left[{seat}]", record.left[seat], deal.rules.text(hand))
    _compare(None, "points", list(record.points), list(deal.points))


def _compare(action: int | None, name: str, value: object, expected: object) -> None:
    if value != expected:
        raise RecordError(action, f"{name}: is {short(value)}, should be {short(expected)}")
