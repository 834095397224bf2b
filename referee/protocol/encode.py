"""The most frequent events as bytes: turns, and the starts and ends of deals.

Building a protobuf message field by field costs more than everything else that the referee does for a
decision. An action is therefore encoded once and cached, and a turn is assembled from such fragments. The
result is the same as what ``referee.protocol.wire`` builds.
"""

from collections.abc import Callable
from functools import partial

from referee.deals.action import Entry
from referee.deals.deal import Deal, Stage
from referee.matches.connection import Wants
from referee.matches.events import (
    DealEnded,
    DealStarted,
    Encodings,
    Event,
    Seen,
    Sight,
    Turn,
)
from referee.memo import Memo
from referee.protocol import wire
from referee.protocol.numbers import BYTES, NUMBERS, VARINT, card_numbers, field, head, key, sized, varint
from referee.rules.plays import Rules
from referee.v1 import bots_pb2, spectators_pb2


def _event(name: str) -> Memo[int, bytes]:
    """Return what precedes the fields of an event in a PlayResponse."""
    events = key(bots_pb2.PlayResponse.DESCRIPTOR, "events", BYTES)
    return head(events, key(bots_pb2.Event.DESCRIPTOR, name, BYTES))


def _update(name: str) -> Memo[int, bytes]:
    """Return what precedes the fields of an update in a WatchMatchResponse."""
    updates = key(spectators_pb2.WatchMatchResponse.DESCRIPTOR, "updates", BYTES)
    return head(updates, key(spectators_pb2.WatchUpdate.DESCRIPTOR, name, BYTES))


_TURN = bots_pb2.Turn.DESCRIPTOR
_TURN_HEAD = _event("turn")
_SESSION = field(key(_TURN, "session", VARINT))
_SEQUENCE = field(key(_TURN, "sequence", VARINT))
_KIND = {stage: key(_TURN, "kind", VARINT) + varint(number) for stage, number in wire.TURN_KINDS.items()}
_PLAY, _KIND_PLAY = Stage.PLAY, _KIND[Stage.PLAY]
_SEQUENCE_PLAY = Memo[int, bytes](lambda sequence: _SEQUENCE[sequence] + _KIND_PLAY)
"""The sequence of a turn to play, and its kind: two fields of a turn."""
_ACTION = key(_TURN, "actions", BYTES)
_TO_BEAT = key(_TURN, "to_beat", BYTES)
_CAN_PASS = key(_TURN, "can_pass", VARINT) + b"\1"
_DECISION_MS = field(key(_TURN, "decision_ms", VARINT))
_MUST_INCLUDE = field(key(_TURN, "must_include", VARINT))
_NEXT_HAS_ONE = key(_TURN, "next_has_one", VARINT) + b"\1"
_TOP_CARD_BANNED = key(_TURN, "top_card_banned", VARINT) + b"\1"
_BANK_MS = field(key(_TURN, "bank_ms", VARINT))
_CREDIT_MS = field(key(_TURN, "credit_ms", VARINT))
_TURN_HAND = key(_TURN, "hand", BYTES)
_TURN_HAND_SIZES = key(_TURN, "hand_sizes", BYTES)
_LEGAL_PLAYS = key(_TURN, "legal_plays", BYTES)
_PLAY_CARDS = key(bots_pb2.LegalPlay.DESCRIPTOR, "cards", BYTES)

_STARTED = bots_pb2.DealStarted.DESCRIPTOR
_STARTED_HEAD = _event("deal_started")
_STARTED_HAND = head(key(_STARTED, "hand", BYTES))

_ENDED = bots_pb2.DealEnded.DESCRIPTOR
_ENDED_HEAD = _event("deal_ended")
_ENDED_ACTION = key(_ENDED, "actions", BYTES)
_CARDS = key(bots_pb2.Hand.DESCRIPTOR, "cards", BYTES)
_HAND = head(key(_ENDED, "hands", BYTES), _CARDS)
_LEFT = head(key(_ENDED, "left", BYTES), _CARDS)
_NONE_LEFT = key(_ENDED, "left", BYTES) + b"\0"

_SEEN_HEAD, _SEEN_STARTED_HEAD, _SEEN_ENDED_HEAD = map(_update, ("action", "deal_started", "deal_ended"))
_SEEN_SESSION = field(key(spectators_pb2.WatchAction.DESCRIPTOR, "session", VARINT))


class _Fragments:
    """Encoded fragments of one compiled ruleset."""

    def __init__(self, rules: Rules) -> None:
        self._numbers = card_numbers(rules)
        self.packed = self._numbers.packed
        self.draws = rules.ruleset.leftover == "stock"
        actions = Memo[Entry, bytes](lambda entry: self._encode(entry, seat=-1))
        self.action: Callable[[Entry], bytes] = actions.__getitem__
        """Encode an action as a field of a turn, the way other seats see it."""
        self.to_beat = Memo[int, bytes](lambda code: _TO_BEAT + self.cards(code & rules.full))
        """The play to beat, by its code: a field of a turn."""
        self.following = Memo[int, bytes](lambda code: self.to_beat[code] + _CAN_PASS)
        """The same, and that the seat may pass, as it nearly always may: two fields of a turn."""
        self.legal = Memo[int, bytes](lambda code: _LEGAL_PLAYS + self._play(code & rules.full))
        """A legal play, by its code: a field of a turn."""

        self.seen = Memo[Entry, bytes](self._seen)
        """Actions as spectators see them, without the session."""

    def _seen(self, entry: Entry) -> bytes:
        action = spectators_pb2.WatchAction()
        wire.write_seen(action, self._numbers, entry)
        return action.SerializeToString()

    def _encode(self, entry: Entry, seat: int) -> bytes:
        action = bots_pb2.Action()
        wire.write_action(action, self._numbers, entry, seat)
        return _ACTION + sized(action.SerializeToString())

    def _play(self, mask: int) -> bytes:
        return sized(_PLAY_CARDS + self.cards(mask))

    def cards(self, mask: int) -> bytes:
        """Return the cards of a mask, packed and preceded by their length."""
        return sized(self._numbers.packed(mask))

    def number(self, mask: int) -> int:
        """Return the number of the lowest card of a mask."""
        return self._numbers.numbers(mask)[0]

    def _public(self, log: list[Entry], encodings: Encodings) -> list[bytes]:
        """Return a deal's log as everybody sees it; each action is encoded once for all seats."""
        made = encodings.log
        if len(made) < len(log):
            made += map(self.action, log[len(made) :])
        return made

    def actions(self, deal: Deal, since: int, seat: int, encodings: Encodings) -> list[bytes]:
        """Return the deal's log from ``since`` on, as ``seat`` may see it: fields of a turn."""
        log = deal.log
        if deal.exchange is None:
            parts = self._public(log, encodings)[since:]
            if not self.draws:
                return parts
            first = since
        else:
            parts = []
            steps = wire.exchange_steps(deal)
            for step in steps[since:]:
                action = bots_pb2.Action()
                wire.add_exchange(action, self._numbers, step, seat)
                parts.append(_ACTION + sized(action.SerializeToString()))
            first = max(0, since - len(steps))
            parts += self._public(log, encodings)[first:]
        if self.draws:  # the seat sees what it drew
            for index in range(first, len(log)):
                if log[index][2] and log[index][0] == seat:
                    parts[index - len(log)] = self._encode(log[index], seat)
        return parts


_FRAGMENTS: Memo[Rules, _Fragments] = Memo(_Fragments, limit=64)


def turn_event(turn: Turn, wants: Wants | None = None) -> bytes:
    """Return a PlayResponse with one turn; concatenated, such messages are one with all the turns."""
    info, deal, seat = turn.info, turn.deal, turn.seat
    fragments, stage = _FRAGMENTS[info.rules], deal.stage
    if stage is _PLAY:
        parts = [_SESSION[info.handle], _SEQUENCE_PLAY[turn.sequence]]
    else:
        parts = [_SESSION[info.handle], _SEQUENCE[turn.sequence], _KIND[stage]]
    if fragments.draws or deal.exchange is not None:
        parts += fragments.actions(deal, turn.since, seat, turn.encodings)
    else:  # as ``actions``, without two calls
        made, log = turn.encodings.log, deal.log
        if len(made) < len(log):
            made += map(fragments.action, log[len(made) :])
        parts += made[turn.since :]
    to_beat, plain = deal.bearing(seat)
    if not plain:
        parts += _bearing(deal, seat, fragments)
    elif to_beat:
        parts.append(fragments.following[to_beat])
    if turn.time_ms:
        parts.append(_DECISION_MS[turn.time_ms])
    if turn.bank_ms is not None:
        parts.append(_BANK_MS[turn.bank_ms])
    if turn.credit_ms:
        parts.append(_CREDIT_MS[turn.credit_ms])
    if wants is not None:
        parts += _requested_parts(wants, deal, seat, fragments)
    data = b"".join(parts)
    return _TURN_HEAD[len(data)] + data


def _requested_parts(wants: Wants, deal: Deal, seat: int, fragments: _Fragments) -> list[bytes]:
    """Return what the bot wants with each turn: legal plays, its hand, the number of cards of each seat."""
    parts: list[bytes] = []
    if wants.legal_plays:
        parts += map(fragments.legal.__getitem__, deal.legal(seat))
    if wants.hands:
        sizes = b"".join([NUMBERS[hand.bit_count()] for hand in deal.hands])
        parts += [_TURN_HAND, fragments.cards(deal.hands[seat]), _TURN_HAND_SIZES, sized(sizes)]
    return parts


def _bearing(deal: Deal, seat: int, fragments: _Fragments) -> list[bytes]:
    """Return the play to beat, whether the seat may pass, and what does not follow from the cards alone."""
    constraints = deal.constraints(seat)
    parts: list[bytes] = []
    if deal.to_beat:
        parts.append(fragments.to_beat[deal.to_beat])
    if deal.can_pass(seat):
        parts.append(_CAN_PASS)
    if constraints.include:
        parts.append(_MUST_INCLUDE[fragments.number(constraints.include)])
    if constraints.guarded:
        parts.append(_NEXT_HAS_ONE)
    if constraints.banned:
        parts.append(_TOP_CARD_BANNED)
    return parts


def other_event(event: Event) -> bytes:
    """Return a PlayResponse with one event that is not a turn."""
    if isinstance(event, DealStarted):
        return _deal_started(event)
    if isinstance(event, DealEnded):
        return _deal_ended(event)
    response = bots_pb2.PlayResponse()
    wire.add_event(response, event)
    return response.SerializeToString()


def sight(sight: Sight) -> bytes:
    """Return a WatchMatchResponse with one update; concatenated, such messages are one with all updates."""
    if isinstance(sight, Seen):
        info = sight.info
        data = _SEEN_SESSION[info.handle] + _FRAGMENTS[info.rules].seen[sight.deal.log[sight.at]]
        return _SEEN_HEAD[len(data)] + data
    if isinstance(sight, DealStarted):
        data = _started_for_all(sight)
        return _SEEN_STARTED_HEAD[len(data)] + data
    if isinstance(sight, DealEnded):
        data = _ended_for_all(sight)
        return _SEEN_ENDED_HEAD[len(data)] + data
    response = spectators_pb2.WatchMatchResponse()
    wire.add_sight(response, sight)
    return response.SerializeToString()


def _deal_started(event: DealStarted) -> bytes:
    hand = _FRAGMENTS[event.info.rules].packed(event.hands[event.seat])
    data = _STARTED_HAND[len(hand)] + hand + _started_for_all(event)
    return _STARTED_HEAD[len(data)] + data


def _deal_ended(event: DealEnded) -> bytes:
    actions = _FRAGMENTS[event.info.rules].actions(event.deal, event.since, event.seat, event.encodings)
    fields = [_ENDED_ACTION + action[len(_ACTION) :] for action in actions]
    data = b"".join(fields) + _ended_for_all(event)
    return _ENDED_HEAD[len(data)] + data


def _started_for_all(event: DealStarted) -> bytes:
    """Return what the start of a deal tells all of its seats: everything but their hands."""
    return event.encodings.encoded("started", partial(_encode_start, event))


def _ended_for_all(event: DealEnded) -> bytes:
    """Return what the end of a deal tells all of its seats: everything but the actions."""
    return event.encodings.encoded("ended", partial(_encode_end, event))


def _encode_start(event: DealStarted) -> bytes:
    message = bots_pb2.DealStarted()
    wire.write_deal_started(message, event._replace(seat=-1))
    return message.SerializeToString()


def _encode_end(event: DealEnded) -> bytes:
    deal = event.deal
    packed = _FRAGMENTS[event.info.rules].packed
    message = bots_pb2.DealEnded()
    wire.write_outcome(message, event)
    parts = [message.SerializeToString()]
    for mask in deal.dealt:
        hand = packed(mask)
        parts += _HAND[len(hand)], hand
    for mask in deal.left:
        hand = packed(mask)
        parts += (_LEFT[len(hand)], hand) if hand else (_NONE_LEFT,)
    return b"".join(parts)
