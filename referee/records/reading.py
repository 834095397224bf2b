"""Reading a deal record from any JSON value: its fields' presence, types and ranges, not yet their truth."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, NoReturn, TypeVar

from referee.errors import RecordError, RulesetError
from referee.records.record import DIRECTIONS, FORMAT
from referee.rules.plays import Rules
from referee.rules.rulebook import rules_of
from referee.ruleset.model import FIELD_NAMES
from referee.validation import shown

T = TypeVar("T")

_ACTION = re.compile(r"([0-7])(?::-(?: \+.+)?|([:!])([^-].*))")
_SEED = re.compile(r"[0-9a-fA-F]{64}")


class ExchangeText(NamedTuple):
    """A record's ``exchange``."""

    loser: int
    winner: int
    given: str
    returned: str


class ActionText(NamedTuple):
    """One entry of a record's ``actions``."""

    seat: int
    cards: int
    """Mask, 0 for a pass."""
    out_of_turn: bool


class Record(NamedTuple):
    """A complete deal record; cards are still texts."""

    rules: Rules
    tournament: str
    round: int
    table: int
    session: int
    deal: int
    seats: Sequence[str]
    seed: bytes
    dealer: int
    step: int
    hands: Sequence[str]
    leftover: str
    exchange: ExchangeText | None
    leader: int | None
    """None only after a forfeit in an exchange."""
    actions: Sequence[str]
    out: Sequence[int]
    left: Sequence[str]
    points: Sequence[int]
    end: str
    forfeit: int | None
    """Seat that forfeited, None for nobody."""


def read_record(given: object) -> Record:
    """Return a record read from a JSON value; RecordError names the field that is wrong."""
    if not isinstance(given, Mapping):
        raise RecordError(None, f"a deal record must be an object, not {shown(given)}")
    fields = _Fields(given)
    if fields.text("format") != FORMAT:
        raise RecordError(None, f"format: must be {FORMAT!r}, not {shown(fields.field('format'))}")
    rules = _rules(fields.field("ruleset"))
    players = rules.ruleset.players
    record = Record(
        rules=rules,
        tournament=fields.text("tournament"),
        round=fields.number("round", 1),
        table=fields.number("table", 1),
        session=fields.number("session", 1),
        deal=fields.number("deal", 1),
        seats=fields.texts("seats", players),
        seed=_seed(fields.text("seed")),
        dealer=fields.number("dealer", 0, players - 1),
        step=_step(fields.text("direction")),
        hands=fields.texts("hands", players),
        leftover=fields.text("leftover"),
        exchange=_exchange(fields, players),
        leader=None if fields.field("leader") is None else fields.number("leader", 0, players - 1),
        actions=fields.texts("actions"),
        out=fields.numbers("out"),
        left=fields.texts("left", players),
        points=fields.numbers("points", players),
        end=fields.text("end"),
        forfeit=fields.number("forfeit", 0, players - 1) if fields.optional("forfeit") is not None else None,
    )
    _check_faults(fields.optional("faults"), record)
    return record


def parse_action(rules: Rules, text: str) -> ActionText:
    """Return an action read from its text, drawn cards aside; ValueError or CardError."""
    match = _ACTION.fullmatch(text)
    if match is None:
        raise ValueError(f"{shown(text)} is no action")
    seat, mark, cards = match.groups(default="")
    mask = rules.parse(cards)
    if mark and not mask:
        raise ValueError(f"{shown(text)} is no action")
    return ActionText(int(seat), mask, mark == "!")


class _Fields:
    """A JSON object of which fields are asked for by type."""

    def __init__(self, given: Mapping[str, object], where: str = "") -> None:
        self._given = given
        self._where = where

    def field(self, name: str) -> object:
        if name not in self._given:
            raise RecordError(None, f"{self._where}{name}: is missing")
        return self._given[name]

    def optional(self, name: str) -> object:
        """Return the field's value, None where it is absent; null is refused."""
        if name in self._given and self._given[name] is None:
            self._refuse(name, "absent where there is none")
        return self._given.get(name)

    def number(self, name: str, low: int | None = None, high: int | None = None) -> int:
        value = _whole(self.field(name))
        if value is None or (low is not None and value < low) or (high is not None and value > high):
            return self._refuse(name, f"a whole number{_range(low, high)}")
        return value

    def text(self, name: str) -> str:
        value = self.field(name)
        return value if isinstance(value, str) else self._refuse(name, "a text")

    def texts(self, name: str, count: int | None = None) -> Sequence[str]:
        return self._all(name, "texts", count, lambda item: item if isinstance(item, str) else None)

    def numbers(self, name: str, count: int | None = None) -> Sequence[int]:
        return self._all(name, "whole numbers", count, _whole)

    def _all(
        self, name: str, what: str, count: int | None, read: Callable[[object], T | None]
    ) -> Sequence[T]:
        values = self.field(name)
        items = [read(value) for value in values] if isinstance(values, list) else [None]
        found = [item for item in items if item is not None]
        if len(found) < len(items) or count not in (None, len(found)):
            return self._refuse(name, f"a list of {what if count is None else f'{count} {what}'}")
        return found

    def _refuse(self, name: str, wanted: str) -> NoReturn:
        raise RecordError(None, f"{self._where}{name}: must be {wanted}, not {shown(self._given[name])}")


def _whole(value: object) -> int | None:
    return value if type(value) is int else None


def _range(low: int | None, high: int | None) -> str:
    if high is not None:
        return f" from {low} to {high}"
    return "" if low is None else f" from {low} on"


def _rules(source: object) -> Rules:
    if not isinstance(source, Mapping):
        raise RecordError(None, f"ruleset: must be a ruleset object, not {shown(source)}")
    try:
        rules = rules_of(source)
    except RulesetError as error:
        raise RecordError(None, f"ruleset: {error}") from error
    _check_resolved(source)
    return rules


def _check_resolved(ruleset: Mapping[str, object]) -> None:
    """A record must not mean something else where other presets are installed."""
    if "extends" in ruleset:
        raise RecordError(None, "ruleset.extends: a record holds a resolved ruleset, which extends nothing")
    for name in FIELD_NAMES:
        if name not in ruleset:
            raise RecordError(None, f"ruleset.{name}: is missing; a record holds a resolved ruleset")
    if isinstance(ruleset["straights"], str):
        raise RecordError(None, "ruleset.straights: must be written out in a record")


def _seed(text: str) -> bytes:
    if not _SEED.fullmatch(text):
        raise RecordError(None, f"seed: must be 64 hexadecimal digits, not {shown(text)}")
    return bytes.fromhex(text)


def _step(text: str) -> int:
    for step, name in DIRECTIONS.items():
        if name == text:
            return step
    raise RecordError(None, f"direction: must be clockwise or anticlockwise, not {shown(text)}")


def _exchange(fields: _Fields, players: int) -> ExchangeText | None:
    given = fields.optional("exchange")
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise RecordError(None, f"exchange: must be an object, not {shown(given)}")
    inner = _Fields(given, "exchange.")
    loser, winner = inner.number("loser", 0, players - 1), inner.number("winner", 0, players - 1)
    if loser == winner:
        raise RecordError(None, f"exchange: loser and winner are both seat {loser}")
    return ExchangeText(loser, winner, inner.text("given"), inner.text("returned"))


def _check_faults(given: object, record: Record) -> None:
    if given is None:
        return
    if not isinstance(given, list):
        raise RecordError(None, f"faults: must be a list, not {shown(given)}")
    for index, fault in enumerate(given):
        where = f"faults[{index}]"
        if not isinstance(fault, Mapping):
            raise RecordError(None, f"{where}: must be an object, not {shown(fault)}")
        fields = _Fields(fault, f"{where}.")
        fields.number("action", 0, len(record.actions))
        fields.number("seat", 0, len(record.seats) - 1)
        fields.text("kind")
