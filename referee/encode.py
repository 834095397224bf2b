"""The events that are sent all the time, as bytes: turns and the ends of deals.

Building a protobuf message field by field costs more than all else that the referee does for a decision. An
action is therefore encoded once and remembered, and a turn is set together from such pieces. What comes out
are the same messages as ``referee.wire`` builds.
"""

from functools import lru_cache

from google.protobuf.descriptor import Descriptor

from referee import wire
from referee.action import Entry
from referee.deal import Deal
from referee.events import DealEnded, Event, SessionInfo, Turn, log_length
from referee.memo import Memo
from referee.numbers import card_numbers
from referee.plays import Rules
from referee.v1 import play_pb2

_VARINT, _BYTES = 0, 2
"""Wire types of protobuf's encoding: numbers, and what has a length."""


def _key(message: Descriptor, field: str, wire_type: int) -> bytes:
    return _varint(message.fields_by_name[field].number << 3 | wire_type)


def _varint(number: int) -> bytes:
    """A number in protobuf's encoding: seven bits a byte, the lowest first."""
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


_NUMBERS = [_varint(number) for number in range(1 << 14)]
_MANY = len(_NUMBERS)


def _number(number: int) -> bytes:
    return _NUMBERS[number] if number < _MANY else _large(number)


@lru_cache(maxsize=1 << 14)
def _large(number: int) -> bytes:
    return _varint(number)


def _sized(data: bytes) -> bytes:
    return _number(len(data)) + data


_TURN, _ENDED = play_pb2.Turn.DESCRIPTOR, play_pb2.DealEnded.DESCRIPTOR
_EVENTS = _key(play_pb2.PlayResponse.DESCRIPTOR, "events", _BYTES)
_EVENT_TURN = _key(play_pb2.Event.DESCRIPTOR, "turn", _BYTES)
_EVENT_ENDED = _key(play_pb2.Event.DESCRIPTOR, "deal_ended", _BYTES)
_SESSION = _key(_TURN, "session", _VARINT)
_SEQUENCE = _key(_TURN, "sequence", _VARINT)
_KIND = {stage: _key(_TURN, "kind", _VARINT) + _varint(number) for stage, number in wire.TURN_KINDS.items()}
_ACTION = _key(_TURN, "actions", _BYTES)
_TO_BEAT = _key(_TURN, "to_beat", _BYTES)
_CAN_PASS = _key(_TURN, "can_pass", _VARINT) + b"\1"
_DECISION_MS = _key(_TURN, "decision_ms", _VARINT)
_MUST_INCLUDE = _key(_TURN, "must_include", _VARINT)
_NEXT_HAS_ONE = _key(_TURN, "next_has_one", _VARINT) + b"\1"
_TOP_CARD_BANNED = _key(_TURN, "top_card_banned", _VARINT) + b"\1"
_BANK_MS = _key(_TURN, "bank_ms", _VARINT)
_CREDIT_MS = _key(_TURN, "credit_ms", _VARINT)
_LEGAL_PLAYS = _key(_TURN, "legal_plays", _BYTES)
_PLAY_CARDS = _key(play_pb2.LegalPlay.DESCRIPTOR, "cards", _BYTES)
_ENDED_ACTION = _key(_ENDED, "actions", _BYTES)


class _Pieces:
    """Encoded pieces of one compiled ruleset."""

    def __init__(self, rules: Rules) -> None:
        self._numbers = card_numbers(rules)
        self._draws = rules.ruleset.leftover == "stock"
        self._actions = Memo[Entry, bytes](lambda entry: self._encode(entry, seat=-1))
        """Actions as others than their seats see them: fields of a turn."""
        self.cards = Memo[int, bytes](lambda mask: _sized(bytes(self._numbers.numbers(mask))))
        """The cards of a mask, packed, with their length."""
        self.plays = Memo[int, bytes](lambda mask: _sized(_PLAY_CARDS + self.cards[mask]))
        """Legal plays, with their length."""

    def _encode(self, entry: Entry, seat: int) -> bytes:
        action = play_pb2.Action()
        wire.write_action(action, self._numbers, entry, seat)
        return _ACTION + _sized(action.SerializeToString())

    def number(self, mask: int) -> int:
        """The number of the lowest card of a mask."""
        return self._numbers.numbers(mask)[0]

    def actions(self, deal: Deal, since: int, seat: int, encoded: list[bytes] | None) -> list[bytes]:
        """The deal's log from ``since`` on, as ``seat`` may see it: fields of a turn."""
        log = deal.log
        if encoded is None:
            encoded = []
        if len(encoded) < len(log):
            actions = self._actions
            encoded += [actions[entry] for entry in log[len(encoded) :]]
        if deal.exchange is None:
            parts = encoded[since:]
            first = since
        else:
            parts = []
            steps = wire.exchange_steps(deal)
            for step in steps[since:]:
                action = play_pb2.Action()
                wire.add_exchange(action, self._numbers, step, seat)
                parts.append(_ACTION + _sized(action.SerializeToString()))
            first = max(0, since - len(steps))
            parts += encoded[first:]
        if self._draws:  # the seat sees what it drew
            for index in range(first, len(log)):
                if log[index][2] and log[index][0] == seat:
                    parts[index - len(log)] = self._encode(log[index], seat)
        return parts


@lru_cache(maxsize=64)
def _pieces(rules: Rules) -> _Pieces:
    return _Pieces(rules)


def turn_event(turn: Turn, list_plays: bool) -> bytes:
    """A PlayResponse with one turn; such messages set one after the other are one with all of them."""
    info, seat, sequence, stage, deal, since, time_ms, bank_ms, credit_ms, encoded = turn
    pieces = _pieces(info.rules)
    parts = [_SESSION, _number(info.handle), _SEQUENCE, _number(sequence), _KIND[stage]]
    parts += pieces.actions(deal, since, seat, encoded)
    if deal.to_beat:
        parts += _TO_BEAT, pieces.cards[deal.to_beat & info.rules.full]
    if deal.can_pass(seat):
        parts.append(_CAN_PASS)
    if time_ms:
        parts += _DECISION_MS, _number(time_ms)
    if list_plays:
        full = info.rules.full
        for code in deal.legal(seat):
            parts += _LEGAL_PLAYS, pieces.plays[code & full]
    if not deal.is_plain(seat):
        parts += _constraints(deal, seat, pieces)
    if bank_ms:
        parts += _BANK_MS, _number(bank_ms)
    if credit_ms:
        parts += _CREDIT_MS, _number(credit_ms)
    return _response(_EVENT_TURN, b"".join(parts))


def _constraints(deal: Deal, seat: int, pieces: _Pieces) -> list[bytes]:
    """What bears on the turn and cannot be told from the cards alone."""
    position = deal.position(seat)
    parts: list[bytes] = []
    if position.include:
        parts += _MUST_INCLUDE, _number(pieces.number(position.include))
    if position.guarded:
        parts.append(_NEXT_HAS_ONE)
    if position.banned:
        parts.append(_TOP_CARD_BANNED)
    return parts


def other_event(event: Event) -> bytes:
    """A PlayResponse with one event that is no turn."""
    if isinstance(event, DealEnded):
        info, deal = event.info, event.deal
        actions = _pieces(info.rules).actions(deal, event.since, event.seat, event.encoded)
        fields = [_ENDED_ACTION + action[len(_ACTION) :] for action in actions]
        return _response(_EVENT_ENDED, b"".join(fields) + _ended_for_all(info, deal, event.scores))
    response = play_pb2.PlayResponse()
    wire.add_event(response, event)
    return response.SerializeToString()


@lru_cache(maxsize=1024)
def _ended_for_all(info: SessionInfo, deal: Deal, scores: tuple[int, ...]) -> bytes:
    """What the end of a deal says to all of its seats: everything but the actions."""
    message = play_pb2.DealEnded()
    wire.write_deal_ended(message, DealEnded(info, -1, deal, log_length(deal), scores))
    return message.SerializeToString()


def _response(key: bytes, data: bytes) -> bytes:
    return _EVENTS + _sized(key + _sized(data))
