"""A session for one bot, without I/O: the other seats are played here, by a script or a policy."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from random import Random
from typing import TypeAlias

from referee.check.outcome import Failed
from referee.deals.deal import Deal, Stage
from referee.deals.dealing import Dealt, take_leftover
from referee.deals.session import Legacy, Session, setup
from referee.errors import PlayError
from referee.matches.connection import Wants
from referee.matches.events import (
    DealEnded,
    DealStarted,
    Encodings,
    Malformed,
    SessionEnded,
    SessionInfo,
    SessionStarted,
    Turn,
    log_length,
)
from referee.matches.kinds import SessionEnd
from referee.matches.match import Limits
from referee.protocol import wire
from referee.protocol.numbers import card_numbers
from referee.records.results import measured_digest
from referee.rules.rulebook import rules_of
from referee.v1 import bots_pb2

Policy: TypeAlias = Callable[[Deal, int], int]
"""What another seat plays: a mask, 0 for a pass."""
RulesetObject: TypeAlias = str | Mapping[str, object]
Hands: TypeAlias = Mapping[int, Sequence[str | None]]
"""By number of the deal, the hands as text by seat; None for a hand dealt from what is left."""

LIMITS = Limits(decision_ms=5000, faults=10, credit_ms=0)


def quiet(deal: Deal, seat: int) -> int:
    """Take the default action: pass where that is legal, else play the weakest single."""
    return deal.default(seat)


def eager(deal: Deal, seat: int) -> int:
    """Play the weakest legal play; pass if there is none."""
    legal = deal.legal(seat)
    return legal[0] & deal.rules.full if legal else 0


def strong_first(deal: Deal, seat: int) -> int:
    """Play the strongest legal play at the first three actions of a deal, then take the default action."""
    legal = deal.legal(seat)
    if not legal or sum(entry[0] == seat for entry in deal.log) >= 3:
        return deal.default(seat)
    return legal[-1] & deal.rules.full


def mixed(deal: Deal, seat: int) -> int:
    """Return an arbitrary legal action, always the same one for the same position."""
    choices = deal.choices(seat)
    position = f"{deal.seed.hex()} {len(deal.log)} {seat}"
    return Random(position).choice(choices) & deal.rules.full  # noqa: S311 no secret


def scripted(plays: Mapping[int, Sequence[str]], then: Policy = quiet) -> Policy:
    """Return a policy: each seat named makes these plays in order ("-" passes), then follows ``then``."""
    left = {seat: list(texts) for seat, texts in plays.items()}

    def play(deal: Deal, seat: int) -> int:
        if not left.get(seat):
            return then(deal, seat)
        text = left[seat].pop(0)
        return 0 if text == "-" else deal.rules.parse(text)

    return play


class BotSession:
    """One session of the bot being checked. What it is told is appended to a response."""

    def __init__(
        self,
        handle: int,
        ruleset: RulesetObject,
        seat: int,
        *,
        wants: Wants | None = None,
        deals: int = 1,
        hands: Hands | None = None,
        others: Policy = mixed,
        limits: Limits = LIMITS,
        seed: str = "",
        bot: str = "",
        first_sequence: int = 1,
    ) -> None:
        self.handle, self.seat = handle, seat
        self.rules = rules = rules_of(ruleset)
        players = rules.ruleset.players
        self.seed = sha256(f"check {seed} {rules.ruleset.label} {seat}".encode()).digest()
        self.info = SessionInfo(
            handle=handle,
            session_id=f"check/{handle}",
            number=handle,
            tournament="check",
            ruleset=json.dumps(rules.ruleset.to_object()),
            rules=rules,
            seats=tuple(bot if at == seat else f"check/other-{at}@1" for at in range(players)),
            deals=deals,
            commitment=sha256(self.seed).hexdigest(),
            limits=limits,
        )
        self.over = False
        self.turn: bots_pb2.Turn | None = None
        """The turn that the bot owes an answer to."""
        self.answered = 0
        """Turns that the bot answered."""
        self.sequence_step = 1
        """By how much the sequence grows from one turn to the next."""
        self.kinds: Counter[Stage] = Counter()
        """How many turns the bot was asked for, by stage."""
        self._wants = wants
        self._hands = hands or {}
        self._others = others
        self._session = Session(rules, self.seed, deals)
        self._last: Legacy | None = None
        self._told_to = 0
        """How much of the deal's log the bot has been told; see ``log_length``."""
        self._sequence = first_sequence

    @property
    def deal(self) -> Deal:
        """The deal that is being played."""
        deal = self._session.deal
        assert deal is not None
        return deal

    # What happens

    def open(self, out: bots_pb2.PlayResponse) -> None:
        """Start the session, and go on to the bot's first turn."""
        self._add_session_started(out, resumed=False)
        self._open_deal(out)
        self.go_on(out)

    def resume(self, out: bots_pb2.PlayResponse) -> None:
        """Tell the bot all that it needs after a reconnect."""
        self._add_session_started(out, resumed=True)
        self._told_to = 0
        if self._session.deal is not None:
            self._add_deal_started(out)
        if self.turn is not None:
            out.events.add().turn.CopyFrom(self._write_turn())

    def owes(self, move: bots_pb2.Move) -> bool:
        """Return whether a move answers the open turn."""
        turn = self.turn
        return turn is not None and self.handle == move.session and turn.sequence == move.sequence

    def take(self, move: bots_pb2.Move) -> None:
        """Take the bot's answer to its turn. Raise Failed if it is not legal."""
        turn, deal, seat = self.turn, self.deal, self.seat
        assert turn is not None
        cards = wire.read_move(self.rules, move)
        if isinstance(cards, Malformed):
            raise Failed(
                f"expected an answer that can be read {self.position()}; got one where {cards.reason}"
            )
        try:
            deal.act(seat, cards)
        except PlayError as error:
            answer = self.rules.text(cards) or "a pass"
            raise Failed(
                f"expected a legal play {self.position()}; the bot answered {answer}: {error}"
            ) from None
        self.turn = None
        self.answered += 1

    def act_for_bot(
        self, out: bots_pb2.PlayResponse, kind: "bots_pb2.FaultKind.ValueType", move: bots_pb2.Move
    ) -> None:
        """Take the default action in place of the bot's answer, and tell it so."""
        turn, deal, seat = self.turn, self.deal, self.seat
        assert turn is not None
        numbers = card_numbers(self.rules).numbers
        default = deal.default(seat)
        fault = out.events.add().fault
        fault.session, fault.sequence, fault.kind = self.handle, turn.sequence, kind
        fault.reason = "the check takes this answer as one that came too late"
        fault.hand.extend(numbers(deal.hands[seat]))
        fault.to_beat.extend(turn.to_beat)
        fault.answered.extend(move.cards)
        fault.default_cards.extend(numbers(default))
        fault.faults, fault.fault_limit = 1, self.info.limits.faults
        deal.act(seat, default)
        self.turn = None

    def forfeit(self, out: bots_pb2.PlayResponse, seat: int) -> None:
        """End the session by a forfeit."""
        self.turn = None
        self.deal.forfeit(seat)
        self.go_on(out)

    def void(self, out: bots_pb2.PlayResponse) -> None:
        """Stop the session; nothing is scored."""
        self.turn = None
        self._end(out, SessionEnd.VOID, ())

    def go_on(self, out: bots_pb2.PlayResponse) -> None:
        """Let the others act until the bot owes an answer or the session is over."""
        while not self.over:
            deal = self.deal
            if deal.over:
                self._close_deal(out)
                continue
            seats = deal.owing()
            other = next((seat for seat in seats if seat != self.seat), None)
            if other is not None:
                deal.act(other, self._others(deal, other))
            elif deal.forced(self.seat) and not self.info.limits.ask_forced:
                deal.act(self.seat, deal.default(self.seat))
            else:
                self._sequence += self.sequence_step if self.kinds.total() else 0
                self.kinds[deal.stage] += 1
                self.turn = self._write_turn()
                out.events.add().turn.CopyFrom(self.turn)
                return

    def position(self) -> str:
        """Return where the bot stands, for people: the session, its cards and the play to beat."""
        deal = self.deal
        to_beat = self.rules.text(deal.to_beat & self.rules.full) or "nothing"
        sequence = self.turn.sequence if self.turn is not None else self._sequence
        return (
            f"in session {self.handle} ({self.rules.ruleset.name}), deal {deal.number}, turn {sequence}, "
            f"{deal.stage.name.lower().replace('_', ' ')}, "
            f"holding {self.rules.text(deal.hands[self.seat])}, to beat {to_beat}"
        )

    # Messages

    def _add_session_started(self, out: bots_pb2.PlayResponse, *, resumed: bool) -> None:
        scores = tuple(self._session.scores)
        wire.add_event(out, SessionStarted(self.info, self.seat, scores, resumed))

    def _add_deal_started(self, out: bots_pb2.PlayResponse) -> None:
        wire.add_event(out, DealStarted(self.info, self.seat, self.deal, self.deal.opening, Encodings()))

    def _write_turn(self) -> bots_pb2.Turn:
        deal, limits, message = self.deal, self.info.limits, bots_pb2.Turn()
        time_ms = min(limits.decision_ms, limits.bank_ms or limits.decision_ms)
        turn = Turn(self.info, self.seat, self._sequence, deal, Encodings())
        turn.since, turn.time_ms, turn.bank_ms = self._told_to, time_ms, limits.bank_ms or None
        turn.credit_ms = limits.credit_ms
        wire.write_turn(message, turn, self._wants)
        self._told_to = log_length(deal)
        return message

    def _open_deal(self, out: bots_pb2.PlayResponse) -> None:
        deal = self._session.next_deal()
        hands = self._hands.get(deal.number)
        if hands is not None:
            dealer, step, leader, exchange = setup(self.rules.ruleset, deal.number, self._last)
            dealt = self._dealt(hands, dealer, step)
            self._session.deal = Deal(
                self.rules,
                deal.seed,
                deal.number,
                dealer,
                step,
                leader=leader,
                exchange=exchange,
                dealt=dealt,
            )
        self._told_to = 0
        self._add_deal_started(out)

    def _dealt(self, texts: Sequence[str | None], dealer: int, step: int) -> Dealt:
        rules = self.rules
        masks = [0 if text is None else rules.parse(text) for text in texts]
        taken = 0
        for mask in masks:
            taken = rules.add(taken, mask)
        rest = rules.cards(rules.remove(rules.full, taken))
        Random(self.seed).shuffle(rest)  # noqa: S311 no secret
        size = rules.ruleset.hand_size
        assert isinstance(size, int)
        for seat, text in enumerate(texts):
            if text is None:
                masks[seat], rest = rules.mask(rest[:size]), rest[size:]
        hands, leftover = tuple(masks), tuple([rules.mask([card]) for card in rest])
        return Dealt(hands, leftover, take_leftover(rules, hands, leftover, dealer, step))

    def _close_deal(self, out: bots_pb2.PlayResponse) -> None:
        deal, session = self.deal, self._session
        self._last = session.close_deal().legacy
        scores = tuple(session.scores)
        ended = DealEnded(
            self.info, self.seat, deal, self._told_to, scores, Encodings(), measured_digest("{}")
        )
        wire.add_event(out, ended)
        if not session.over:
            self._open_deal(out)
        elif session.forfeited_by is None:
            self._end(out, SessionEnd.PLAYED, scores)
        else:
            self._end(out, SessionEnd.FORFEIT, scores, session.forfeited_by)

    def _end(
        self, out: bots_pb2.PlayResponse, reason: SessionEnd, scores: tuple[int, ...], forfeited_by: int = -1
    ) -> None:
        self.over = True
        wire.add_event(out, SessionEnded(self.info, scores, reason, forfeited_by))
