"""A session for one bot at a real table, without I/O: a script or a policy plays the other seats."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from random import Random
from typing import TypeAlias

from referee.check.outcome import Failed
from referee.deals.deal import Deal, Stage
from referee.deals.dealing import Dealt, take_leftover
from referee.deals.session import Session, setup
from referee.matches.connection import Wants
from referee.matches.events import Event, Fault, Malformed, SessionInfo, Turn
from referee.matches.kinds import FaultKind
from referee.matches.match import Limits
from referee.matches.outbox import TurnQueue
from referee.matches.seat import NoAlarms
from referee.matches.table import Table
from referee.protocol import wire
from referee.rules.plays import Rules
from referee.rules.rulebook import rules_of
from referee.v1 import bots_pb2

Policy: TypeAlias = Callable[[Deal, int], int]
"""What another seat plays: a mask, 0 for a pass."""
RulesetObject: TypeAlias = str | Mapping[str, object]
Hands: TypeAlias = Mapping[int, Sequence[str | None]]
"""By number of the deal, the hands as text by seat; None for a hand dealt from what is left."""

LIMITS = Limits(decision_ms=5000, faults=10, credit_ms=0)
NOW = 0.0
"""The time at every table: no clock runs there."""


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


class _Arranged(Session):
    """A session whose deals have the hands given for them."""

    def __init__(self, rules: Rules, seed: bytes, deals: int, hands: Hands) -> None:
        super().__init__(rules, seed, deals)
        self._hands = hands

    def next_deal(self) -> Deal:
        deal = super().next_deal()
        texts = self._hands.get(deal.number)
        if texts is not None:
            dealer, step, leader, exchange = setup(self.rules.ruleset, deal.number, self._last)
            self.deal = deal = Deal(
                self.rules,
                deal.seed,
                deal.number,
                dealer,
                step,
                leader=leader,
                exchange=exchange,
                dealt=self._dealt(texts, dealer, step),
            )
        return deal

    def _dealt(self, texts: Sequence[str | None], dealer: int, step: int) -> Dealt:
        rules = self.rules
        masks = [0 if text is None else rules.parse(text) for text in texts]
        taken = 0
        for mask in masks:
            taken = rules.add(taken, mask)
        rest = rules.cards(rules.remove(rules.full, taken))
        Random(self._seed).shuffle(rest)  # noqa: S311 no secret
        size = rules.ruleset.hand_size
        assert isinstance(size, int)
        for seat, text in enumerate(texts):
            if text is None:
                masks[seat], rest = rules.mask(rest[:size]), rest[size:]
        hands, leftover = tuple(masks), tuple([rules.mask([card]) for card in rest])
        return Dealt(hands, leftover, take_leftover(rules, hands, leftover, dealer, step))


class BotSession(NoAlarms):
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
        self.turn: bots_pb2.Turn | None = None
        """The turn that the bot owes an answer to."""
        self.answered = 0
        """Turns that the bot answered."""
        self.sequence_step = 1
        """By how much the sequence grows from one turn to the next."""
        self.kinds: Counter[Stage] = Counter()
        """How many turns the bot was asked for, by stage."""
        self._wants = wants
        self._others = others
        self._table = Table(self.info, self.seed, self)
        self._table.session = _Arranged(rules, self.seed, deals, hands or {})
        self._seat = self._table.seats[seat]
        self._seat.sequence = first_sequence - 1
        self._turns = TurnQueue()
        self._untold: list[Event] = []
        """What the bot is told next."""
        self._rejects = False

    @property
    def deal(self) -> Deal:
        """The deal that is being played."""
        deal = self._table.session.deal
        assert deal is not None
        return deal

    @property
    def over(self) -> bool:
        """Whether the session has ended."""
        return self._table.over

    def open(self, out: bots_pb2.PlayResponse) -> None:
        """Start the session, and go on to the bot's first turn."""
        self._table.start(NOW, [self._turns] * len(self.info.seats))
        self.go_on(out)

    def resume(self, out: bots_pb2.PlayResponse) -> None:
        """Tell the bot all that it needs after a reconnect."""
        self._untold.clear()
        self._turns.turns.clear()
        self._table.attach(self.seat, self._turns)
        self._tell(out)
        if self._turns.turns:
            self._hand_out(self._turns.turns.popleft(), out)

    def owes(self, move: bots_pb2.Move) -> bool:
        """Return whether a move answers the open turn."""
        turn = self.turn
        return turn is not None and self.handle == move.session and turn.sequence == move.sequence

    def take(self, move: bots_pb2.Move) -> None:
        """Take the bot's answer to its turn. Raise Failed if it is not legal."""
        self._answer(wire.read_move(self.rules, move))
        self.answered += 1

    def take_default(self) -> None:
        """Take the default action as the bot's answer."""
        self._answer(self.deal.default(self.seat))

    def reject(
        self, out: bots_pb2.PlayResponse, kind: "bots_pb2.FaultKind.ValueType", move: bots_pb2.Move
    ) -> None:
        """Take the default action in place of the bot's answer, and tell it so."""
        at, self._rejects = len(out.events), True
        self._answer(Malformed("the check takes this answer as one that came too late", FaultKind.TIMEOUT))
        self._rejects = False
        self._tell(out)
        fault = out.events[at].fault
        fault.kind = kind
        fault.answered.extend(move.cards)

    def forfeit(self, out: bots_pb2.PlayResponse, seat: int) -> None:
        """End the session by a forfeit."""
        self.turn = None
        self._table.forfeit(seat, {})
        self._tell(out)

    def void(self, out: bots_pb2.PlayResponse) -> None:
        """Stop the session; nothing is scored."""
        self.turn = None
        self._table.void()
        self._tell(out)

    def go_on(self, out: bots_pb2.PlayResponse) -> None:
        """Let the others act until the bot owes an answer or the session is over."""
        turns, own = self._turns.turns, None
        while turns:
            turn = turns.popleft()
            if turn.seat == self.seat:
                own = turn
            else:
                self._table.answer(turn.seat, turn.sequence, self._others(turn.deal, turn.seat), NOW)
        self._tell(out)
        if own is not None:
            self.kinds[own.stage] += 1
            self._hand_out(own, out)
            self._seat.sequence += self.sequence_step - 1

    def position(self) -> str:
        """Return where the bot stands, for people: the session, its cards and the play to beat."""
        deal = self.deal
        to_beat = self.rules.text(deal.to_beat & self.rules.full) or "nothing"
        sequence = self.turn.sequence if self.turn is not None else self._seat.sequence
        return (
            f"in session {self.handle} ({self.rules.ruleset.name}), deal {deal.number}, turn {sequence}, "
            f"{deal.stage.name.lower().replace('_', ' ')}, "
            f"holding {self.rules.text(deal.hands[self.seat])}, to beat {to_beat}"
        )

    # What the table tells

    def send(self, seat: int, event: Event) -> None:
        """Keep what the bot is to be told. Raise Failed for a fault of its own."""
        if seat != self.seat:
            return
        if isinstance(event, Fault) and not self._rejects:
            raise self._failed(event)
        self._untold.append(event)

    def _failed(self, fault: Fault) -> Failed:
        if fault.kind is not FaultKind.ILLEGAL:
            where = self.position()
            return Failed(f"expected an answer that can be read {where}; got one where {fault.reason}")
        answer = self.rules.text(fault.answered) or "a pass"
        return Failed(f"expected a legal play {self.position()}; the bot answered {answer}: {fault.reason}")

    # Messages

    def _answer(self, cards: int | Malformed) -> None:
        turn = self.turn
        assert turn is not None
        self._table.answer(self.seat, turn.sequence, cards, NOW)
        self.turn = None

    def _tell(self, out: bots_pb2.PlayResponse) -> None:
        for event in self._untold:
            wire.add_event(out, event)
        self._untold.clear()

    def _hand_out(self, turn: Turn, out: bots_pb2.PlayResponse) -> None:
        """Ask the bot, unless the turn is over."""
        if self._table.hand_out(turn, NOW, self.info.limits.credit_ms / 1000):
            self.turn = bots_pb2.Turn()
            wire.write_turn(self.turn, turn, self._wants)
            out.events.add().turn.CopyFrom(self.turn)


def notice(
    code: int,
    text: str = "this has no consequence",
    session: int | None = None,
    sequence: int | None = None,
) -> bots_pb2.Event:
    """Return a notice; the code may be one that no version knows."""
    event = bots_pb2.Event(notice=bots_pb2.Notice(text=text, session=session, sequence=sequence))
    event.notice.code = code  # type: ignore[assignment]
    return event


def due(sessions: Sequence[BotSession]) -> str:
    """Describe the answers that sessions wait for."""
    first = f"an answer {sessions[0].position()}"
    return first if len(sessions) == 1 else f"{first}, and {len(sessions) - 1} more answers"


def is_capacity(request: bots_pb2.PlayRequest) -> bool:
    """Return whether a message only says how many sessions the bot takes, which it may at any time."""
    return [field.name for field, _ in request.ListFields()] == ["capacity"]


def describe_request(request: bots_pb2.PlayRequest) -> str:
    """Describe what a message from the bot holds."""
    parts = []
    if request.HasField("hello"):
        parts.append("a hello")
    parts += [f"a move for session {move.session}, turn {move.sequence}" for move in request.moves[:3]]
    if len(request.moves) > 3:
        parts.append(f"{len(request.moves) - 3} more moves")
    if request.HasField("goodbye"):
        parts.append("a goodbye")
    if request.HasField("capacity"):
        parts.append(f"a capacity of {request.capacity.max_sessions}")
    if request.HasField("pong"):
        parts.append(f"a pong with id {request.pong.id}")
    return ", ".join(parts) or "an empty message"
