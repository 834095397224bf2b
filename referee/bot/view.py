"""What a bot sees: its turn, and the session's state as a fold of the events it was sent."""

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from referee.dealing import landmarks
from referee.numbers import CardNumbers, Numbers, card_numbers
from referee.options import Turn as Position
from referee.options import allowed
from referee.plays import Rules, compile_ruleset
from referee.ruleset import Ruleset, load_ruleset
from referee.v1 import play_pb2


@lru_cache(maxsize=64)
def _rules(ruleset: str) -> Rules:
    """The compiled rules of a ruleset's JSON object."""
    return compile_ruleset(load_ruleset(json.loads(ruleset)))


class Play:
    """A combination of cards. Equal plays hold the same cards."""

    __slots__ = ("_rules", "code")

    def __init__(self, rules: Rules, code: int) -> None:
        self._rules = rules
        self.code = code
        """The engine's number of the play: kind, strength and cards in one."""

    @property
    def cards(self) -> tuple[str, ...]:
        """Its cards, in canonical order: ``("3D", "3C")``."""
        return tuple(str(self).split())

    @property
    def kind(self) -> str:
        """``single``, ``pair``, ``straight``, …"""
        return self._rules.kind(self.code)

    def beats(self, other: "Play") -> bool:
        """Whether it may be played on ``other``."""
        return self._rules.beats(self.code, other.code)

    def __len__(self) -> int:
        return self._rules.count(self.code & self._rules.full)

    def __str__(self) -> str:
        return self._rules.text(self.code & self._rules.full)

    def __repr__(self) -> str:
        return f"Play({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Play) and self.code == other.code

    def __hash__(self) -> int:
        return hash(self.code)


class Action(NamedTuple):
    """Something a seat did."""

    seat: int
    kind: str
    """``play``, ``pass``, ``bomb`` (out of turn) or ``exchange``."""
    cards: tuple[str, ...]
    """What it played, or gave away in an exchange; empty for a pass, and for an exchange between others."""
    drawn: int
    """How many cards it drew with its pass."""


_ACTION_KINDS = {
    play_pb2.ACTION_KIND_PLAY: "play",
    play_pb2.ACTION_KIND_PASS: "pass",
    play_pb2.ACTION_KIND_BOMB: "bomb",
    play_pb2.ACTION_KIND_EXCHANGE: "exchange",
}


class _Step(NamedTuple):
    """An action, decoded once and for all."""

    seat: int
    change: int
    """By how many cards the seat's hand becomes larger."""
    played: int
    """Mask."""
    drawn: int
    """Mask of the cards drawn, for the bot's own."""
    taker: int
    """Seat that gets the card of an exchange; -1 for all other actions."""
    action: Action


_REMEMBERED = 50_000


class _Steps(dict[bytes, _Step]):
    """The actions of one compiled ruleset by their encoding, decoded when they are first met."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self._rules = rules
        self._numbers = card_numbers(rules)

    def __missing__(self, encoded: bytes) -> _Step:
        action = play_pb2.Action.FromString(encoded)
        mask = self._numbers.mask(action.cards)
        exchange = action.kind == play_pb2.ACTION_KIND_EXCHANGE
        kind = _ACTION_KINDS.get(action.kind, "pass")
        cards = tuple(self._rules.text(mask).split())
        step = _Step(
            seat=action.seat,
            change=-1 if exchange else action.drawn - len(action.cards),
            played=mask,
            drawn=self._numbers.mask(action.drawn_cards),
            taker=action.partner if exchange else -1,
            action=Action(action.seat, kind, cards, action.drawn),
        )
        if len(self) >= _REMEMBERED:
            self.clear()
        self[encoded] = step
        return step


@lru_cache(maxsize=64)
def _steps(rules: Rules) -> _Steps:
    return _Steps(rules)


class SessionView:
    """One session as its bot sees it."""

    def __init__(self, started: play_pb2.SessionStarted) -> None:
        self.session_id = started.session_id
        self.tournament = started.tournament
        self.rules = _rules(started.ruleset)
        self.seats = tuple(started.seats)
        self.seat = started.seat
        self.deals = started.deals
        self.scores = tuple(started.scores)
        self.deal = 0
        self.hand = 0
        self.counts: list[int] = []
        self.clockwise = True
        self.dealer = 0
        self.actions: list[Action] = []
        self._numbers: CardNumbers = card_numbers(self.rules)
        self._plays: list[int] | None = None
        self._steps = _steps(self.rules)

    def deal_started(self, started: play_pb2.DealStarted) -> None:
        """A deal begins, or is told of again."""
        self.deal = started.deal
        self.hand = self._numbers.mask(started.hand)
        self.counts = list(started.hand_sizes)
        self.dealer = started.dealer
        self.clockwise = started.direction == play_pb2.DIRECTION_CLOCKWISE
        self.actions = []
        self._plays = None

    def deal_ended(self, ended: "play_pb2.DealEnded") -> None:
        """A deal is over; what happened last has been taken in."""
        self.scores = tuple(ended.scores)

    def happened(self, actions: Iterable[bytes]) -> None:
        """Takes in what the seats did: encoded actions."""
        counts, steps, own = self.counts, self._steps, self.seat
        for encoded in actions:
            seat, change, played, drawn, taker, action = steps[encoded]
            counts[seat] += change
            if taker >= 0:
                self._exchanged(seat, taker, played)
            elif seat == own and change:
                self._own(played, drawn)
            self.actions.append(action)

    def plays(self) -> list[int]:
        """Codes of all combinations in the hand, sorted."""
        if self._plays is None:
            self._plays = self.rules.list_plays(self.hand)
        return self._plays

    def mask(self, numbers: Sequence[int]) -> int:
        """Cards of a message as a mask."""
        return self._numbers.mask(numbers)

    def numbers(self, mask: int) -> Numbers:
        """Cards of a mask as numbers for a message."""
        return self._numbers.numbers(mask)

    def _own(self, played: int, drawn: int) -> None:
        before, self.hand = self.hand, self.rules.add(self.rules.remove(self.hand, played), drawn)
        gone = before & ~self.hand
        if drawn or self._plays is None:
            self._plays = None
        else:
            self._plays = [code for code in self._plays if not code & gone]

    def _exchanged(self, giver: int, taker: int, card: int) -> None:
        self.counts[taker] += 1
        if giver == self.seat:
            self.hand = self.rules.remove(self.hand, card)
        elif taker == self.seat:
            self.hand = self.rules.add(self.hand, card)
        self._plays = None


class Turn:
    """A decision that is asked of the bot, with all that it may know."""

    __slots__ = ("_legal", "_legal_codes", "_message", "_view")

    def __init__(self, view: SessionView, message: play_pb2.Turn) -> None:
        self._view = view
        self._message = message
        self._legal: list[Play] | None = None
        self._legal_codes: list[int] | None = None

    @property
    def kind(self) -> str:
        """``play``; ``beat_own``, ``bomb`` and ``exchange`` under rules that have them."""
        return TURN_KINDS.get(self._message.kind, "unknown")

    @property
    def session(self) -> str:
        """The session's public name."""
        return self._view.session_id

    @property
    def rules(self) -> Rules:
        """The compiled rules, for bots that calculate."""
        return self._view.rules

    @property
    def ruleset(self) -> Ruleset:
        """All fields of the rules that are played."""
        return self._view.rules.ruleset

    @property
    def seat(self) -> int:
        """The bot's own seat."""
        return self._view.seat

    @property
    def seats(self) -> tuple[str, ...]:
        """Names of the bots, seat 0 first."""
        return self._view.seats

    @property
    def clockwise(self) -> bool:
        """Whether seat s is followed by seat s + 1; else by s - 1."""
        return self._view.clockwise

    @property
    def counts(self) -> tuple[int, ...]:
        """Cards left, seat 0 first."""
        return tuple(self._view.counts)

    @property
    def scores(self) -> tuple[int, ...]:
        """The session's running score, seat 0 first."""
        return self._view.scores

    @property
    def deal(self) -> int:
        """Counts the deals of the session from 1."""
        return self._view.deal

    @property
    def actions(self) -> Sequence[Action]:
        """Everything that happened in this deal, oldest first."""
        return self._view.actions

    @property
    def hand_mask(self) -> int:
        """The bot's hand as a mask of the compiled rules."""
        return self._view.hand

    @property
    def hand(self) -> tuple[str, ...]:
        """The bot's hand, in canonical order."""
        return tuple(self._view.rules.text(self._view.hand).split())

    @property
    def to_beat(self) -> Play | None:
        """The play to beat; None when leading."""
        mask = self._view.mask(self._message.to_beat)
        return Play(self.rules, self.rules.code(mask)) if mask else None

    @property
    def can_pass(self) -> bool:
        """Whether passing is legal."""
        return self._message.can_pass

    @property
    def decision_ms(self) -> int:
        """How long the decision may take, from when the referee sent the turn."""
        return self._message.decision_ms

    @property
    def bank_ms(self) -> int:
        """What is left in the bot's bank; 0 where the session has none."""
        return self._message.bank_ms

    @property
    def legal(self) -> list[Play]:
        """All legal plays: by number of cards and kind, weakest first."""
        if self._legal is None:
            rules = self._view.rules
            self._legal = [Play(rules, code) for code in self.legal_codes]
        return self._legal

    @property
    def legal_codes(self) -> list[int]:
        """The codes of all legal plays, ascending."""
        if self._legal_codes is None:
            self._legal_codes = legal_codes(self._view, self._message)
        return self._legal_codes

    def __str__(self) -> str:
        to_beat = self.to_beat or "nothing"
        return f"{self.session} deal {self.deal}: holding {' '.join(self.hand)}, to beat {to_beat}"


TURN_KINDS = {
    play_pb2.TURN_KIND_PLAY: "play",
    play_pb2.TURN_KIND_EXCHANGE: "exchange",
    play_pb2.TURN_KIND_BEAT_OWN: "beat_own",
    play_pb2.TURN_KIND_BOMB: "bomb",
}


def legal_codes(view: SessionView, message: play_pb2.Turn) -> list[int]:
    """The codes of all legal plays of a turn, ascending."""
    rules, plays = view.rules, view.plays()
    constrained = message.must_include or message.next_has_one or message.top_card_banned
    if message.kind == play_pb2.TURN_KIND_PLAY and not constrained:  # nearly always
        return rules.following(plays, rules.code(view.mask(message.to_beat))) if message.to_beat else plays[:]
    if message.kind == play_pb2.TURN_KIND_EXCHANGE:
        return [code for code in plays if rules.count(code & rules.full) == 1]
    position = Position(
        rules.code(view.mask(message.to_beat)) if message.to_beat else 0,
        view.mask([message.must_include]) if message.must_include else 0,
        landmarks(rules).top if message.top_card_banned else 0,
        message.next_has_one,
    )
    legal = allowed(rules, plays, position).plays
    if message.kind == play_pb2.TURN_KIND_BOMB:
        return [code for code in legal if rules.is_bomb(code)]
    return legal
