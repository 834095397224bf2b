"""Conversion between values and the messages of bots and spectators: moves, events and sights."""

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from google.protobuf.message import DecodeError

from referee.deals.action import Entry, OnForfeit
from referee.deals.deal import Deal, Stage
from referee.errors import CardError
from referee.matches.connection import Wants
from referee.matches.events import (
    DealEnded,
    DealStarted,
    Event,
    Fault,
    LeftOut,
    Malformed,
    Notice,
    SeatForfeited,
    SessionEnded,
    SessionStarted,
    Turn,
)
from referee.matches.kinds import FaultKind, NoticeCode, SessionEnd
from referee.matches.match import Limits, Signed
from referee.protocol.numbers import CardNumbers, card_numbers
from referee.reading.plain import plain_line
from referee.rules.plays import Rules
from referee.v1 import bots_pb2, spectators_pb2

if TYPE_CHECKING:
    from google.protobuf.internal.containers import RepeatedCompositeFieldContainer

Actions: TypeAlias = "RepeatedCompositeFieldContainer[bots_pb2.Action]"

TURN_KINDS: dict[Stage, "bots_pb2.TurnKind.ValueType"] = {
    Stage.PLAY: bots_pb2.TURN_KIND_PLAY,
    Stage.EXCHANGE: bots_pb2.TURN_KIND_EXCHANGE,
    Stage.BEAT_OWN: bots_pb2.TURN_KIND_BEAT_OWN,
    Stage.BOMBS: bots_pb2.TURN_KIND_BOMB,
}
_FAULTS = {
    FaultKind.ILLEGAL: bots_pb2.FAULT_KIND_ILLEGAL,
    FaultKind.TIMEOUT: bots_pb2.FAULT_KIND_TIMEOUT,
    FaultKind.MALFORMED: bots_pb2.FAULT_KIND_MALFORMED,
    FaultKind.DISCONNECT: bots_pb2.FAULT_KIND_DISCONNECT,
    FaultKind.STALL: bots_pb2.FAULT_KIND_STALL,
    FaultKind.FLOOD: bots_pb2.FAULT_KIND_FLOOD,
    FaultKind.EXCEPTION: bots_pb2.FAULT_KIND_EXCEPTION,
}
_SESSION_ENDS = {
    SessionEnd.PLAYED: bots_pb2.SESSION_END_PLAYED,
    SessionEnd.FORFEIT: bots_pb2.SESSION_END_FORFEIT,
    SessionEnd.VOID: bots_pb2.SESSION_END_VOID,
}
_DEAL_ENDS = {
    "out": bots_pb2.DEAL_END_OUT,
    "dragon": bots_pb2.DEAL_END_DRAGON,
    "last_top_card": bots_pb2.DEAL_END_LAST_TOP_CARD,
    "forfeit": bots_pb2.DEAL_END_FORFEIT,
    "instant_win": bots_pb2.DEAL_END_INSTANT_WIN,
}
_NOTICES = {
    NoticeCode.STALE_MOVE: bots_pb2.NOTICE_CODE_STALE_MOVE,
    NoticeCode.UNKNOWN_SESSION: bots_pb2.NOTICE_CODE_UNKNOWN_SESSION,
    NoticeCode.UNEXPECTED: bots_pb2.NOTICE_CODE_UNEXPECTED,
    NoticeCode.NOT_SEATED: bots_pb2.NOTICE_CODE_NOT_SEATED,
    NoticeCode.REPEATED_MOVE: bots_pb2.NOTICE_CODE_REPEATED_MOVE,
    NoticeCode.UNKNOWN_TURN: bots_pb2.NOTICE_CODE_UNKNOWN_TURN,
}
ON_FORFEIT: dict[OnForfeit, "bots_pb2.OnForfeit.ValueType"] = {
    "default_action": bots_pb2.ON_FORFEIT_DEFAULT_ACTION,
    "stand_in": bots_pb2.ON_FORFEIT_STAND_IN,
    "end_session": bots_pb2.ON_FORFEIT_END_SESSION,
}
FORFEIT_REASONS: dict[Literal["absent", "faults"], "bots_pb2.ForfeitReason.ValueType"] = {
    "absent": bots_pb2.FORFEIT_REASON_ABSENT,
    "faults": bots_pb2.FORFEIT_REASON_FAULTS,
}


# Moves

LONGEST_FAILURE = 1000
"""How many characters are kept of what a bot says about a failure of its own code."""


def read_move(rules: Rules, move: bots_pb2.Move) -> int | Malformed:
    """Return the mask that a move plays, 0 for a pass, or why it cannot be read."""
    cards = move.cards
    if move.passes:
        return Malformed("the move has both cards and a pass") if cards else 0
    if move.failure and not cards:
        why = plain_line(move.failure, LONGEST_FAILURE)
        return Malformed(f"the bot's own code failed: {why}", FaultKind.EXCEPTION)
    if not cards:
        return Malformed("the move has neither cards nor a pass")
    if len(cards) > rules.full.bit_count():
        return Malformed(f"the move has {len(cards)} cards, the pack {rules.full.bit_count()}")
    try:
        return card_numbers(rules).mask(cards)
    except CardError as error:
        return Malformed(str(error))


def read_encoded_move(rules: Rules, move: Any) -> int | Malformed:
    """Return the same as ``read_move``, from a lazy move."""
    cards = move.cards
    if move.passes:
        if not cards:
            return 0
    elif len(cards) == 1 and cards[0]:
        try:
            return card_numbers(rules).read(cards[0])
        except CardError:
            pass
    try:
        return read_move(rules, bots_pb2.Move.FromString(move.SerializeToString()))
    except DecodeError:
        return Malformed("the move's cards are not a valid list of numbers")


# Events


def add_event(response: bots_pb2.PlayResponse, event: Event) -> None:
    """Append an event, other than a turn, to a response."""
    match event:
        case SessionStarted():
            write_session_started(response.events.add().session_started, event)
        case DealStarted():
            write_deal_started(response.events.add().deal_started, event)
        case DealEnded():
            write_deal_ended(response.events.add().deal_ended, event)
        case SessionEnded():
            write_session_ended(response.events.add().session_ended, event)
        case SeatForfeited():
            write_seat_forfeited(response.events.add().seat_forfeited, event)
        case Fault():
            write_fault(response.events.add().fault, event)
        case Notice():
            write_notice(response.events.add().notice, event)


def write_turn(message: bots_pb2.Turn, turn: Turn, wants: Wants | None = None) -> None:
    """Fill in a turn: what the seat has not been told yet, what is asked, and what else the bot wants."""
    info, deal, seat = turn.info, turn.deal, turn.seat
    cards = card_numbers(info.rules)
    message.session = info.handle
    message.sequence = turn.sequence
    message.kind = TURN_KINDS[turn.stage]
    add_actions(message.actions, cards, deal, turn.since, seat)
    if deal.to_beat:
        message.to_beat.extend(cards.numbers(deal.to_beat & info.rules.full))
    message.decision_ms = turn.time_ms
    if turn.bank_ms is not None:
        message.bank_ms = turn.bank_ms
    if turn.credit_ms:
        message.credit_ms = turn.credit_ms
    if deal.can_pass(seat):
        message.can_pass = True
    write_constraints(message, cards, turn)
    if wants is not None and wants.legal_plays:
        for code in deal.legal(seat):
            message.legal_plays.add().cards.extend(cards.numbers(code & info.rules.full))
    if wants is not None and wants.hands:
        message.hand.extend(cards.numbers(deal.hands[seat]))
        message.hand_sizes.extend(hand.bit_count() for hand in deal.hands)


def write_constraints(message: bots_pb2.Turn, cards: CardNumbers, turn: Turn) -> None:
    """Fill in what bears on the turn and does not follow from the cards alone."""
    constraints = turn.deal.constraints(turn.seat)
    if constraints.include:
        message.must_include = cards.numbers(constraints.include)[0]
    if constraints.guarded:
        message.next_has_one = True
    if constraints.banned:
        message.top_card_banned = True


def add_actions(actions: Actions, cards: CardNumbers, deal: Deal, since: int, seat: int) -> None:
    """Append the deal's log from ``since`` on, as ``seat`` may see it."""
    for step in exchange_steps(deal)[since:]:
        add_exchange(actions.add(), cards, step, seat)
    start = since - len(exchange_steps(deal))
    for entry in deal.log[max(start, 0) :]:
        write_action(actions.add(), cards, entry, seat)


def write_action(action: bots_pb2.Action, cards: CardNumbers, entry: Entry, seat: int) -> None:
    """Fill in an action as ``seat`` may see it: only it sees what it drew."""
    actor, played, drawn, out_of_turn = entry
    action.seat = actor
    if played:
        action.kind = bots_pb2.ACTION_KIND_BOMB if out_of_turn else bots_pb2.ACTION_KIND_PLAY
        action.cards.extend(cards.numbers(played))
    else:
        action.kind = bots_pb2.ACTION_KIND_PASS
        if drawn:
            action.drawn = drawn.bit_count()
            if actor == seat:
                action.drawn_cards.extend(cards.numbers(drawn))


def exchange_steps(deal: Deal) -> list[tuple[int, int, int]]:
    """Return the steps of an exchange: giver, taker and the mask of the card."""
    exchange = deal.exchange
    if exchange is None:
        return []
    steps = [(exchange.loser, exchange.winner, exchange.given)]
    if exchange.returned:
        steps.append((exchange.winner, exchange.loser, exchange.returned))
    return steps


def add_exchange(action: bots_pb2.Action, cards: CardNumbers, step: tuple[int, int, int], seat: int) -> None:
    """Fill in a step of an exchange; only the two seats concerned see the card."""
    giver, taker, card = step
    action.seat = giver
    action.kind = bots_pb2.ACTION_KIND_EXCHANGE
    action.partner = taker
    if seat in (giver, taker):
        action.cards.extend(cards.numbers(card))


def write_session_started(message: bots_pb2.SessionStarted, event: SessionStarted) -> None:
    """Fill in the start of a session."""
    info = event.info
    message.session = info.handle
    message.session_id = info.session_id
    message.tournament = info.tournament
    message.ruleset = info.ruleset
    message.seats.extend(info.seats)
    if event.seat >= 0:
        message.seat = event.seat
    message.deals = info.deals
    message.commitment = info.commitment
    message.scores.extend(event.scores)
    message.resumed = event.resumed
    message.attempt = info.attempt
    message.deals_digest = event.deals_digest
    write_limits(message.limits, info.limits)
    if info.rated:
        message.ratings.pool = info.pool
        message.ratings.values.extend(rated.value for rated in info.rated)
        message.ratings.matches.extend(rated.matches for rated in info.rated)


def write_limits(message: bots_pb2.Limits, limits: Limits) -> None:
    """Fill in what bots are held to."""
    message.decision.FromMilliseconds(limits.decision_ms)
    if limits.bank_ms:
        message.bank.FromMilliseconds(limits.bank_ms)
    message.increment.FromMilliseconds(limits.increment_ms)
    message.credit.FromMilliseconds(limits.credit_ms)
    message.faults = limits.faults
    message.ask_forced = limits.ask_forced
    message.on_forfeit = ON_FORFEIT[limits.on_forfeit]


def write_deal_started(message: bots_pb2.DealStarted, event: DealStarted) -> None:
    """Fill in the start of a deal; for spectators, without a hand."""
    info, deal = event.info, event.deal
    cards = card_numbers(info.rules)
    message.session = info.handle
    message.deal = deal.number
    if event.seat >= 0:
        message.hand.extend(cards.numbers(event.hands[event.seat]))
    message.hand_sizes.extend(hand.bit_count() for hand in event.hands)
    message.dealer = deal.dealer
    message.direction = bots_pb2.DIRECTION_CLOCKWISE if deal.step > 0 else bots_pb2.DIRECTION_ANTICLOCKWISE
    if info.rules.ruleset.leftover == "stock":
        message.stock = len(deal.leftover)  # as the deal began, even for a bot that is told of it again
    if info.rules.ruleset.leftover_shown:
        message.shown.extend(cards.number(index) for index in deal.leftover)


def write_deal_ended(message: bots_pb2.DealEnded, event: DealEnded) -> None:
    """Fill in the end of a deal."""
    info, deal = event.info, event.deal
    cards = card_numbers(info.rules)
    add_actions(message.actions, cards, deal, event.since, event.seat)
    for dealt in deal.dealt:
        message.hands.add().cards.extend(cards.numbers(dealt))
    for left in deal.left:
        message.left.add().cards.extend(cards.numbers(left))
    write_outcome(message, event)


def write_outcome(message: bots_pb2.DealEnded, event: DealEnded) -> None:
    """Fill in the outcome of a deal: everything about its end except the cards."""
    deal = event.deal
    message.session = event.info.handle
    message.deal = deal.number
    message.end = _DEAL_ENDS[deal.end]
    message.out.extend(deal.out)
    message.points.extend(deal.points)
    message.scores.extend(event.scores)
    message.measured = event.measured


def write_session_ended(message: bots_pb2.SessionEnded, event: SessionEnded) -> None:
    """Fill in the end of a session."""
    message.session = event.info.handle
    message.scores.extend(event.scores)
    message.reason = _SESSION_ENDS[event.reason]
    if event.forfeited_by >= 0:
        message.forfeited_by = event.forfeited_by
    message.faults.extend(event.faults)
    message.forfeits.extend(event.forfeits)
    if event.signed is not None:
        for name, text in write_signed(event.signed).items():
            setattr(message, name, text)


def write_signed(signed: Signed) -> dict[str, str]:
    """Return the fields of a message that hold a signed result."""
    return {"digest": signed.digest, "signature": signed.signature, "public_key": signed.key}


def write_seat_forfeited(message: bots_pb2.SeatForfeited, event: SeatForfeited) -> None:
    """Fill in that a bot forfeited a session that goes on."""
    message.session = event.info.handle
    message.seat = event.forfeit.seat
    message.reason = FORFEIT_REASONS[event.forfeit.why]


def write_fault(message: bots_pb2.Fault, event: Fault) -> None:
    """Fill in a fault."""
    cards = card_numbers(event.info.rules)
    message.session = event.info.handle
    message.sequence = event.sequence
    message.kind = _FAULTS[event.kind]
    message.reason = event.reason
    message.hand.extend(cards.numbers(event.hand))
    message.to_beat.extend(cards.numbers(event.to_beat))
    message.answered.extend(cards.numbers(event.answered))
    message.default_cards.extend(cards.numbers(event.default))
    message.faults = event.faults
    message.fault_limit = event.info.limits.faults
    message.deal = event.deal
    message.action = event.action
    message.elapsed_ms = event.elapsed_ms
    message.credit_ms = event.credit_ms


def write_notice(message: bots_pb2.Notice, event: Notice) -> None:
    """Fill in a notice."""
    message.code = _NOTICES[event.code]
    message.text = event.text
    if event.handle is not None:
        message.session = event.handle
    if event.sequence is not None:
        message.sequence = event.sequence


# Spectators


def add_sight(
    response: spectators_pb2.WatchMatchResponse,
    sight: SessionStarted | SessionEnded | SeatForfeited | LeftOut,
) -> None:
    """Append what a spectator sees of a session's start, forfeits or end, or what was left out."""
    update = response.updates.add()
    match sight:
        case SessionStarted():
            write_session_started(update.session_started, sight)
        case SessionEnded():
            write_session_ended(update.session_ended, sight)
        case SeatForfeited():
            write_seat_forfeited(update.seat_forfeited, sight)
        case LeftOut():
            update.left_out.updates = sight.updates


def write_seen(message: spectators_pb2.WatchAction, cards: CardNumbers, entry: Entry) -> None:
    """Fill in an action as everyone may see it."""
    actor, played, drawn, out_of_turn = entry
    message.seat = actor
    message.drawn = drawn.bit_count()
    if played:
        message.kind = bots_pb2.ACTION_KIND_BOMB if out_of_turn else bots_pb2.ACTION_KIND_PLAY
        message.cards.extend(cards.numbers(played))
    else:
        message.kind = bots_pb2.ACTION_KIND_PASS
