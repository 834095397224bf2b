"""A turn, with its legal plays: what a bot is asked to decide."""

from collections.abc import Iterator, Sequence
from typing import Any, overload

from referee.bot.view import Action, Happened, SessionView
from referee.deals.action import Stage
from referee.deals.dealing import landmarks
from referee.deals.options import Constraints, allowed
from referee.deals.public import PublicDeal
from referee.errors import PlayError, PositionError
from referee.position import Position
from referee.rules.plays import Rules
from referee.ruleset import Ruleset
from referee.v1 import bots_pb2


class Play:
    """A combination of cards. Equal plays hold the same cards."""

    __slots__ = ("_rules", "code")

    def __init__(self, rules: Rules, code: int) -> None:
        self._rules = rules
        self.code = code
        """The play's code in the compiled rules: kind, strength and cards in one number."""

    @property
    def cards(self) -> tuple[str, ...]:
        """Its cards, in canonical order: ``("3D", "3C")``."""
        return tuple(str(self).split())

    @property
    def kind(self) -> str:
        """``single``, ``pair``, ``straight``, …"""
        return self._rules.kind(self.code)

    @property
    def mask(self) -> int:
        """Its cards as a bit mask, like ``turn.hand_mask`` and in the helpers."""
        return self.code & self._rules.full

    def beats(self, other: "Play") -> bool:
        """Return whether it beats the play ``other``."""
        return self._rules.beats(self.code, other.code)

    def __len__(self) -> int:
        return self._rules.count(self.mask)

    def __str__(self) -> str:
        return self._rules.text(self.mask)

    def __repr__(self) -> str:
        return f"Play({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Play) and self.code == other.code

    def __hash__(self) -> int:
        return hash(self.code)


class Plays(Sequence[Play]):
    """Plays, each created on access: a turn may have many, and a bot makes only one."""

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


class Turn:
    """A decision for the bot to make, with everything that it may know."""

    # fmt: off
    __slots__ = (
        "_bank_ms", "_can_pass", "_constraints", "_decision_ms", "_kind", "_legal", "_legal_codes", "_view",
    )
    # fmt: on

    def __init__(
        self,
        view: SessionView,
        kind: str,
        constraints: Constraints,
        can_pass: bool,
        decision_ms: int,
        bank_ms: int | None,
    ) -> None:
        self._view = view
        self._kind = kind
        self._constraints = constraints
        self._can_pass = can_pass
        self._decision_ms = decision_ms
        self._bank_ms = bank_ms
        self._legal: Plays | None = None
        self._legal_codes: list[int] | None = None

    @property
    def kind(self) -> str:
        """``play``; ``beat_own``, ``bomb`` and ``exchange`` under rules that have them."""
        return self._kind

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
        """The ruleset, with all its fields."""
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
        """The number of the deal in its session, from 1."""
        return self._view.deal

    @property
    def actions(self) -> Sequence[Action]:
        """Everything that happened in this deal, oldest first."""
        return self._view.actions

    @property
    def dealer(self) -> int:
        """Who dealt."""
        return self._view.dealer

    @property
    def happened(self) -> list[Happened]:
        """What the seats did in this deal after any exchange, as masks, for bots that calculate."""
        return self._view.happened_in_play()

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
        code = self._constraints.to_beat
        return Play(self.rules, code) if code else None

    @property
    def can_pass(self) -> bool:
        """Whether passing is legal."""
        return self._can_pass

    @property
    def decision_ms(self) -> int:
        """How long the decision may take, in milliseconds from when the referee sent the turn."""
        return self._decision_ms

    @property
    def bank_ms(self) -> int | None:
        """What is left in the bot's bank, in milliseconds; None if the session has no bank."""
        return self._bank_ms

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
            self._legal_codes = _legal_codes(self._view, self._kind, self._constraints)
        return self._legal_codes

    def position(self) -> Position:
        """Return the position as the bot sees it, to search in; the cards of the others are not known.

        In a bomb window it is the bot that acts in it. Raise PositionError in an exchange, and if the rules
        do not know what was done, as with kinds of actions that a later referee adds.
        """
        if self.kind == "exchange":
            raise PositionError("an exchange comes before the first position")
        constraints = self._constraints
        try:
            return self._view.position(
                constraints.include, banned=bool(constraints.banned), window=self.kind == "bomb"
            )
        except PlayError as error:
            raise PositionError(f"what was done cannot be followed: {error}") from error

    def __str__(self) -> str:
        to_beat = self.to_beat or "nothing"
        return f"{self.session} deal {self.deal}: holding {' '.join(self.hand)}, to beat {to_beat}"


KIND_AT = {Stage.PLAY: "play", Stage.EXCHANGE: "exchange", Stage.BEAT_OWN: "beat_own", Stage.BOMBS: "bomb"}
"""What a bot is asked at each stage of a deal, as ``Turn.kind`` names it."""

_KINDS = {
    bots_pb2.TURN_KIND_PLAY: "play",
    bots_pb2.TURN_KIND_EXCHANGE: "exchange",
    bots_pb2.TURN_KIND_BEAT_OWN: "beat_own",
    bots_pb2.TURN_KIND_BOMB: "bomb",
}


def public_of(turn: Turn) -> PublicDeal:
    """Return what everybody has seen of a turn's deal; it goes on with the deal."""
    return turn._view.public


def read_turn(view: SessionView, message: Any) -> Turn:
    """Return the turn in a lazy message."""
    to_beat, include = view.to_beat(message), message.must_include
    guarded, top_card_banned = message.next_has_one, message.top_card_banned
    if include or guarded or top_card_banned:
        banned = landmarks(view.rules).last if top_card_banned else 0
        constraints = Constraints(to_beat, view.mask([include]) if include else 0, banned, guarded)
    else:
        constraints = Constraints(to_beat)
    return Turn(
        view,
        _KINDS.get(message.kind, "unknown"),
        constraints,
        message.can_pass,
        message.decision_ms,
        message.bank_ms if message.HasField("bank_ms") else None,
    )


def _legal_codes(view: SessionView, kind: str, constraints: Constraints) -> list[int]:
    """Return the codes of all legal plays, ascending."""
    rules, (to_beat, include, banned, guarded) = view.rules, constraints
    if kind == "play" and not (include or banned or guarded):  # nearly always
        return view.following(to_beat) if to_beat else view.plays()[:]
    plays = view.plays()
    if kind == "exchange":
        return [code for code in plays if rules.count(code & rules.full) == 1]
    legal = allowed(rules, plays, constraints).plays
    if kind == "bomb":
        return [code for code in legal if rules.is_bomb(code)]
    return legal
