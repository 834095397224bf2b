"""What a bot sees: its turn, and the session's state as a fold of the events it was sent."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, overload

from referee.bot.seen import Happened, seen_position
from referee.deals.dealing import landmarks
from referee.deals.options import Constraints, allowed
from referee.errors import PositionError
from referee.memo import Memo
from referee.position import Position
from referee.protocol.numbers import CardNumbers, Numbers, card_numbers
from referee.rules.plays import Rules
from referee.rules.rulebook import rules_of
from referee.ruleset import Ruleset
from referee.v1 import bots_pb2


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
        """Return whether it may be played on ``other``."""
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


class Plays(Sequence[Play]):
    """Plays, each made when it is looked at: a turn may have many, and a bot takes one."""

    __slots__ = ("_codes", "_rules")

    def __init__(self, rules: Rules, codes: list[int]) -> None:
        self._rules = rules
        self._codes = codes

    @overload
    def __getitem__(self, index: int) -> Play: ...
    @overload
    def __getitem__(self, index: slice) -> "Plays": ...
    def __getitem__(self, index: int | slice) -> "Play | Plays":
        if isinstance(index, slice):
            return Plays(self._rules, self._codes[index])
        return Play(self._rules, self._codes[index])

    def __iter__(self) -> Iterator[Play]:
        rules = self._rules
        return (Play(rules, code) for code in self._codes)

    def __len__(self) -> int:
        return len(self._codes)

    def __contains__(self, play: object) -> bool:
        return isinstance(play, Play) and play.code in self._codes

    def __repr__(self) -> str:
        return f"Plays({', '.join(map(str, self))})"


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
    bots_pb2.ACTION_KIND_PLAY: "play",
    bots_pb2.ACTION_KIND_PASS: "pass",
    bots_pb2.ACTION_KIND_BOMB: "bomb",
    bots_pb2.ACTION_KIND_EXCHANGE: "exchange",
}


class _Step(NamedTuple):
    """An action, decoded once and for all."""

    changed: int
    """The seats whose hands it changes, as bits."""
    seat: int
    change: int
    """By how many cards the seat's hand becomes larger."""
    played: int
    """The cards that it plays, as a mask."""
    drawn: int
    """Mask of the cards drawn, for the bot's own."""
    taker: int
    """Seat that gets the card of an exchange; -1 for all other actions."""
    action: Action


def _step(rules: Rules, encoded: bytes) -> _Step:
    action = bots_pb2.Action.FromString(encoded)
    numbers = card_numbers(rules)
    mask = numbers.mask(action.cards)
    exchange = action.kind == bots_pb2.ACTION_KIND_EXCHANGE
    changed = 1 << action.seat if mask or action.drawn else 0
    kind = _ACTION_KINDS.get(action.kind, "pass")
    cards = tuple(rules.text(mask).split())
    return _Step(
        changed=changed | 1 << action.partner if exchange else changed,
        seat=action.seat,
        change=-1 if exchange else action.drawn - len(action.cards),
        played=mask,
        drawn=numbers.mask(action.drawn_cards),
        taker=action.partner if exchange else -1,
        action=Action(action.seat, kind, cards, action.drawn),
    )


@lru_cache(maxsize=64)
def _steps(rules: Rules) -> Memo[bytes, _Step]:
    """Return the actions of a compiled ruleset by their encoding, decoded when they are first met."""
    return Memo(lambda encoded: _step(rules, encoded))


@lru_cache(maxsize=64)
def _played(rules: Rules) -> Memo[bytes, int]:
    """Return the codes of plays by their cards, encoded."""
    mask = card_numbers(rules).mask
    return Memo(lambda encoded: rules.code(mask(encoded)))


class SessionView:
    """One session as its bot sees it."""

    # fmt: off
    __slots__ = (
        "_actions", "_counted", "_counts", "_gone", "_log", "_numbers", "_own_bit", "_played", "_plays",
        "_step", "clockwise", "deal", "dealer", "deals", "hand", "rules", "scores", "seat", "seats",
        "session_id", "tournament",
    )
    # fmt: on

    def __init__(self, started: bots_pb2.SessionStarted) -> None:
        self.session_id = started.session_id
        self.tournament = started.tournament
        self.rules = rules_of(json.loads(started.ruleset))
        self.seats = tuple(started.seats)
        self.seat = started.seat
        self._own_bit = 1 << started.seat
        self.deals = started.deals
        self.scores = tuple(started.scores)
        self.deal = 0
        self.hand = 0
        self.clockwise = True
        self.dealer = 0
        self._numbers: CardNumbers = card_numbers(self.rules)
        self._plays: list[int] | None = None
        """Codes of all combinations in the hand, and of some that were in it, sorted."""
        self._gone = 0
        """What has left the hand since these were listed or filtered."""
        self._log: list[_Step] = []
        """What happened in the deal, of which as much as was looked at is in the two that follow."""
        self._actions: list[Action] = []
        self._counts: list[int] = []
        self._counted = 0
        self._step: Callable[[bytes], _Step] = _steps(self.rules).__getitem__
        self._played = _played(self.rules)

    def deal_started(self, started: bots_pb2.DealStarted) -> None:
        """Take in the beginning of a deal, the first time or again."""
        self.deal = started.deal
        self.hand = self._numbers.mask(started.hand)
        self.dealer = started.dealer
        self.clockwise = started.direction == bots_pb2.DIRECTION_CLOCKWISE
        self._log, self._actions = [], []
        self._counts, self._counted = list(started.hand_sizes), 0
        self._plays = None

    def deal_ended(self, ended: "bots_pb2.DealEnded") -> None:
        """Take in the end of a deal; what happened last has been taken in."""
        self.scores = tuple(ended.scores)

    def happened(self, actions: Sequence[bytes]) -> None:
        """Take in what the seats did: encoded actions."""
        own = self._own_bit
        steps = [*map(self._step, actions)]
        self._log += steps
        for step in steps:
            if step[0] & own:  # read by place, which is quicker than by name
                if step.taker >= 0:
                    self._exchanged(step.seat, step.taker, step.played)
                else:
                    self._own(step.played, step.drawn)

    @property
    def actions(self) -> Sequence[Action]:
        """What happened in this deal, oldest first."""
        log, actions = self._log, self._actions
        if len(actions) < len(log):
            actions += [step.action for step in log[len(actions) :]]
        return actions

    @property
    def counts(self) -> Sequence[int]:
        """How many cards each seat has left."""
        log, counts = self._log, self._counts
        for step in log[self._counted :]:
            counts[step.seat] += step.change
            if step.taker >= 0:
                counts[step.taker] += 1
        self._counted = len(log)
        return counts

    def plays(self) -> list[int]:
        """Return the codes of all combinations in the hand, sorted."""
        plays, gone = self._plays, self._gone
        if plays is None:
            plays = self._plays = self.rules.list_plays(self.hand)
        elif gone:
            plays = self._plays = [code for code in plays if not code & gone]
        self._gone = 0
        return plays

    def following(self, to_beat: int) -> list[int]:
        """Return the codes of all combinations in the hand that beat the play ``to_beat``, sorted."""
        plays, gone, rules = self._plays, self._gone, self.rules
        if not plays or plays[-1] >= rules.first_bomb:
            return rules.following(self.plays(), to_beat)
        found = rules.following(plays, to_beat)
        if not gone:
            return found
        held = []
        for code in found:  # mostly few, for which this is quicker than a comprehension
            if not code & gone:
                held.append(code)  # noqa: PERF401
        return held

    def to_beat(self, message: Any) -> int:
        """Return the code of the play to beat of a turn of the twin protocol; 0 when leading."""
        encoded = message.to_beat
        if encoded:
            return self._played[encoded[0]]
        if message.can_pass or message.next_has_one:  # no common lead: cards may be there that are not packed
            cards = bots_pb2.Turn.FromString(message.SerializeToString()).to_beat
            return self.rules.code(self.mask(cards)) if cards else 0
        return 0

    def mask(self, numbers: Iterable[int]) -> int:
        """Return the cards of a message as a mask."""
        return self._numbers.mask(numbers)

    def numbers(self, mask: int) -> Numbers:
        """Return the cards of a mask as numbers for a message."""
        return self._numbers.numbers(mask)

    def happened_in_play(self) -> list[Happened]:
        """Return what the seats did in this deal since an exchange, if there was one."""
        return [
            Happened(step.seat, step.played, step.action.drawn, step.drawn, step.action.kind == "bomb")
            for step in self._log
            if step.taker < 0
        ]

    def _own(self, played: int, drawn: int) -> None:
        hand, rules = self.hand, self.rules
        left = rules.remove(hand, played) if played else hand
        self._gone |= hand ^ left
        if drawn:
            left = rules.add(left, drawn)
            self._plays = None
        self.hand = left

    def _exchanged(self, giver: int, taker: int, card: int) -> None:
        if giver == self.seat:
            self.hand = self.rules.remove(self.hand, card)
        elif taker == self.seat:
            self.hand = self.rules.add(self.hand, card)
        self._plays = None


class Turn:
    """A decision that is asked of the bot, with all that it may know."""

    __slots__ = ("_legal", "_legal_codes", "_message", "_view")

    def __init__(self, view: SessionView, message: Any) -> None:
        self._view = view
        self._message = message
        self._legal: Plays | None = None
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
        code = self._view.to_beat(self._message)
        return Play(self.rules, code) if code else None

    @property
    def can_pass(self) -> bool:
        """Whether passing is legal."""
        can_pass: bool = self._message.can_pass
        return can_pass

    @property
    def decision_ms(self) -> int:
        """How long the decision may take, in milliseconds from when the referee sent the turn."""
        decision_ms: int = self._message.decision_ms
        return decision_ms

    @property
    def bank_ms(self) -> int | None:
        """What is left in the bot's bank, in milliseconds; None where the session has none."""
        return self._message.bank_ms if self._message.HasField("bank_ms") else None

    @property
    def legal(self) -> "Plays":
        """All legal plays: by number of cards and kind, weakest first."""
        if self._legal is None:
            self._legal = Plays(self._view.rules, self.legal_codes)
        return self._legal

    @property
    def legal_codes(self) -> list[int]:
        """The codes of all legal plays, ascending."""
        if self._legal_codes is None:
            self._legal_codes = legal_codes(self._view, self._message)
        return self._legal_codes

    def position(self) -> Position:
        """Return the position as the bot sees it, to search in; the cards of others are not known.

        PositionError in an exchange, and once cards set aside have become the stock.
        """
        if self.kind == "exchange":
            raise PositionError("an exchange comes before the first position")
        view, include = self._view, self._message.must_include
        return seen_position(
            view.rules,
            seat=view.seat,
            step=1 if view.clockwise else -1,
            dealer=view.dealer,
            hand=view.hand,
            counts=view.counts,
            happened=view.happened_in_play(),
            include=view.mask([include]) if include else 0,
            window=self.kind == "bomb",
        )

    def __str__(self) -> str:
        to_beat = self.to_beat or "nothing"
        return f"{self.session} deal {self.deal}: holding {' '.join(self.hand)}, to beat {to_beat}"


TURN_KINDS = {
    bots_pb2.TURN_KIND_PLAY: "play",
    bots_pb2.TURN_KIND_EXCHANGE: "exchange",
    bots_pb2.TURN_KIND_BEAT_OWN: "beat_own",
    bots_pb2.TURN_KIND_BOMB: "bomb",
}


def legal_codes(view: SessionView, message: Any) -> list[int]:
    """Return the codes of all legal plays of a turn of the twin protocol, ascending."""
    rules, to_beat = view.rules, view.to_beat(message)
    kind, include = message.kind, message.must_include
    guarded, top_card_banned = message.next_has_one, message.top_card_banned
    if kind == bots_pb2.TURN_KIND_PLAY and not (include or guarded or top_card_banned):  # nearly always
        return view.following(to_beat) if to_beat else view.plays()[:]
    plays = view.plays()
    if kind == bots_pb2.TURN_KIND_EXCHANGE:
        return [code for code in plays if rules.count(code & rules.full) == 1]
    include = view.mask([include]) if include else 0
    banned = landmarks(rules).top if top_card_banned else 0
    legal = allowed(rules, plays, Constraints(to_beat, include, banned, guarded)).plays
    if kind == bots_pb2.TURN_KIND_BOMB:
        return [code for code in legal if rules.is_bomb(code)]
    return legal
