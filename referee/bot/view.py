"""What a bot knows of a session: a fold over the events that it was sent."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

from referee.deals.action import NOBODY, Exchange
from referee.deals.dealing import is_last_card, landmarks
from referee.deals.facts import rule_facts
from referee.deals.holdings import Holdings
from referee.deals.public import PublicDeal
from referee.deals.session import lowest_leads
from referee.memo import Memo
from referee.native import native
from referee.position import Position
from referee.protocol.numbers import CardNumbers, Numbers, card_numbers
from referee.rules.plays import Rules
from referee.rules.rulebook import rules_of
from referee.v1 import bots_pb2


class Happened(NamedTuple):
    """An action as reported to a seat."""

    seat: int
    played: int
    """Mask of the cards played; 0 for a pass."""
    drawn: int
    """How many cards were drawn at the pass."""
    drawn_cards: int
    """The mask of the cards drawn if it was this seat; else 0."""
    out_of_turn: bool


_PACKED_HAND = 0x0A
"""The first byte of an encoded hand."""


@lru_cache(maxsize=64)
def hand_text(rules: Rules) -> Callable[[bytes], str]:
    """Return a function from an encoded hand to its text, card by card: hands seldom come up twice."""
    numbers = card_numbers(rules)
    text = {int(numbers.number(index)): rules.card_text(index) for index in rules.indices}.__getitem__
    return lambda encoded: " ".join(map(text, _numbers(encoded)))


def _numbers(encoded: bytes) -> Iterable[int]:
    """Return the cards of an encoded hand; nearly every encoder packs them."""
    if encoded and encoded[0] == _PACKED_HAND and encoded[1] == len(encoded) - 2:
        return encoded[2:]
    return bots_pb2.Hand.FromString(encoded).cards


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


class Step(NamedTuple):
    """An action as a bot's seat sees it."""

    changed: int
    """The seats whose hands the action changes, as bits."""
    seat: int
    played: int
    """Mask of the cards played, or given in an exchange as far as the bot's seat saw them."""
    drawn: int
    """Mask of the cards drawn, if the bot's own seat drew them."""
    taker: int
    """Seat that gets the card of an exchange; -1 for all other actions."""
    action: Action
    text: str
    """The action as all seats were shown it, in the form of deal records; empty for an exchange."""


def step_of(
    rules: Rules, seat: int, kind: str, played: int, drawn: int, *, drawn_cards: int = 0, taker: int = -1
) -> Step:
    """Return an action of a seat; ``drawn`` counts the cards that it drew, ``drawn_cards`` is their mask."""
    text = rules.text(played)
    return Step(
        changed=(1 << seat if played or drawn or taker >= 0 else 0) | (1 << taker if taker >= 0 else 0),
        seat=seat,
        played=played,
        drawn=drawn_cards,
        taker=taker,
        action=Action(seat, kind, tuple(text.split()), drawn),
        text="" if taker >= 0 else _action_text(seat, kind, text, drawn),
    )


def _step(rules: Rules, encoded: bytes) -> Step:
    action, mask = bots_pb2.Action.FromString(encoded), card_numbers(rules).mask
    return step_of(
        rules,
        action.seat,
        _ACTION_KINDS.get(action.kind, "pass"),
        mask(action.cards),
        action.drawn,
        drawn_cards=mask(action.drawn_cards),
        taker=action.partner if action.kind == bots_pb2.ACTION_KIND_EXCHANGE else -1,
    )


_text_of = attrgetter("text")


def _action_text(seat: int, kind: str, cards: str, drawn: int) -> str:
    """Return an action in the form of ``referee.records.results``."""
    if cards:
        return f"{seat}{'!' if kind == 'bomb' else ':'}{cards}"
    return f"{seat}:- +{drawn}" if drawn else f"{seat}:-"


@lru_cache(maxsize=64)
def _steps(rules: Rules) -> Memo[bytes, Step]:
    """Return a cache of the actions of a compiled ruleset, by their encoding, decoded when first met."""
    return Memo(lambda encoded: _step(rules, encoded))


@lru_cache(maxsize=64)
def _played(rules: Rules) -> Memo[bytes, int]:
    """Return a cache of the codes of plays, by their encoded cards."""
    mask = card_numbers(rules).mask
    return Memo(lambda encoded: rules.code(mask(encoded)))


def _ratings(started: bots_pb2.SessionStarted) -> bots_pb2.Ratings | None:
    """Return the ratings of a session's bots, if each of them has one."""
    ratings, seats = started.ratings, len(started.seats)
    whole = len(ratings.values) == len(ratings.matches) == seats
    return ratings if whole and seats else None


@native(allow_interpreted_subclasses=True)
class SessionView:
    """One session as its bot sees it."""

    # fmt: off
    __slots__ = (
        "_actions", "_facts", "_followed", "_held", "_log", "_numbers", "_opening", "_own_bit", "_played",
        "_public", "_step", "clockwise", "deal", "dealer", "deals", "ratings", "rules", "scores", "seat",
        "seats", "session_id", "shown", "tournament",
    )
    # fmt: on

    def __init__(
        self,
        rules: Rules,
        session_id: str,
        tournament: str,
        seats: Sequence[str],
        seat: int,
        deals: int,
        scores: Iterable[int],
        ratings: bots_pb2.Ratings | None = None,
    ) -> None:
        """Begin a session."""
        self.session_id = session_id
        self.tournament = tournament
        self.rules = rules
        self.seats = tuple(seats)
        self.seat = seat
        self._own_bit = 1 << seat
        self.deals = deals
        self.ratings = ratings
        """How the seats' bots are rated; None if the match is not rated."""
        self.scores = tuple(scores)
        self.deal = 0
        self.shown = 0
        """The mask of the leftover cards that everybody saw a seat take."""
        self.clockwise = True
        self.dealer = 0
        self._numbers: CardNumbers = card_numbers(self.rules)
        self._facts = rule_facts(rules)
        self._held = Holdings(rules, self._facts, (0,))
        """The bot's hand and its plays."""
        self._log: list[Step] = []
        """What happened in the deal; ``_actions`` and ``_public`` follow it as far as they have been read."""
        self._actions: list[Action] = []
        self._public = PublicDeal(rules, 1, (0,) * len(self.seats))
        self._followed = 0
        self._opening = 0
        """The hand with which play began."""
        self._step: Callable[[bytes], Step] = _steps(self.rules).__getitem__
        self._played = _played(self.rules)

    @classmethod
    def of(cls, started: bots_pb2.SessionStarted) -> "SessionView":
        """Return the view of a session that has started. Raise RulesetError for an unknown ruleset."""
        return cls(
            rules_of(json.loads(started.ruleset)),
            started.session_id,
            started.tournament,
            started.seats,
            started.seat,
            started.deals,
            started.scores,
            _ratings(started),
        )

    def deal_started(self, started: bots_pb2.DealStarted) -> None:
        """Process the start of a deal, for the first time or after a reconnect."""
        self.begin(
            started.deal,
            self._numbers.mask(started.hand),
            started.hand_sizes,
            dealer=started.dealer,
            clockwise=started.direction == bots_pb2.DIRECTION_CLOCKWISE,
            shown=self._numbers.mask(started.shown),
        )

    def begin(
        self, deal: int, hand: int, counts: Iterable[int], *, dealer: int, clockwise: bool, shown: int
    ) -> None:
        """Begin a deal with this hand, a mask, and these numbers of cards, by seat."""
        self.deal, self.shown = deal, shown
        self._held, self._opening = Holdings(self.rules, self._facts, (hand,)), hand
        self.dealer, self.clockwise = dealer, clockwise
        self._log, self._actions = [], []
        self._public, self._followed = PublicDeal(self.rules, 1 if clockwise else -1, counts), 0

    def deal_ended(self, ended: "bots_pb2.DealEnded") -> None:
        """Process the end of a deal, after its last actions."""
        self.scores = tuple(ended.scores)

    def happened(self, actions: Sequence[bytes]) -> None:
        """Process what the seats did, as encoded actions."""
        own = self._own_bit
        steps = [*map(self._step, actions)]
        self._log += steps
        for step in steps:
            if step[0] & own:  # by index, which is faster than by name
                if step.taker >= 0:
                    self._exchanged(step.seat, step.taker, step.played)
                else:
                    self._held.play(0, step.played)
                    if step.drawn:
                        self._held.add(0, step.drawn)

    @property
    def actions(self) -> Sequence[Action]:
        """What happened in this deal, oldest first."""
        log, actions = self._log, self._actions
        if len(actions) < len(log):
            actions += [step.action for step in log[len(actions) :]]
        return actions

    def shown_actions(self) -> Iterator[str]:
        """Yield what happened in this deal as all seats were shown it, without an exchange."""
        return filter(None, map(_text_of, self._log))

    @property
    def public(self) -> PublicDeal:
        """The deal as everybody sees it, after what has been reported; it follows what is reported later."""
        log, public = self._log, self._public
        if self._followed < len(log):
            for step in log[self._followed :]:
                if step.taker >= 0:
                    public.exchange(step.seat, step.taker)
                else:
                    public.add(step.seat, step.played, step.action.drawn)
            self._followed = len(log)
        return public

    @property
    def counts(self) -> Sequence[int]:
        """How many cards each seat has left."""
        return self.public.counts

    @property
    def hand(self) -> int:
        """The bot's hand, as a mask."""
        return self._held.hands[0]

    def plays(self) -> list[int]:
        """Return the codes of all combinations in the hand, sorted; the list must not be changed."""
        return self._held.plays(0)

    def following(self, to_beat: int) -> list[int]:
        """Return the codes of all combinations in the hand that beat the play ``to_beat``, sorted."""
        facts = self._facts
        codes = self._held.following(0, to_beat, to_beat | facts.full, to_beat | facts.group_full)
        codes.pop()  # the pass
        return codes

    def to_beat(self, message: Any) -> int:
        """Return the code of the play to beat of a lazy turn; 0 when leading."""
        encoded = message.to_beat
        if encoded:
            return self._played[encoded[0]]
        if message.can_pass or message.next_has_one:  # not a common lead: there may be unpacked cards
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
        """Return what the seats did in this deal, without an exchange."""
        return [
            Happened(step.seat, step.played, step.action.drawn, step.drawn, step.action.kind == "bomb")
            for step in self._log
            if step.taker < 0
        ]

    def position(self, include: int, *, banned: bool, window: bool) -> Position:
        """Return the position as the bot, which owes a decision, sees it.

        ``include`` is the mask of the card that the lead must contain, ``banned`` says that the top card may
        not be played as the last one now, and ``window`` that the last play may be bombed out of turn.
        """
        rules, seat, ruleset = self.rules, self.seat, self.rules.ruleset
        sizes = self.public.begun
        gifts = [step for step in self._log[:2] if step.taker >= 0]
        actions = self._log[len(gifts) :]
        masks = self._masks_at_start(gifts)
        leader = actions[0].seat if actions else seat
        by_lowest = lowest_leads(ruleset, self.deal) and ruleset.first_lead != "random"
        stock, bans = ruleset.leftover == "stock", ruleset.last_top_card == "cannot_win"
        includes = ruleset.lead_includes_lowest
        if by_lowest and includes and actions and actions[0].played:  # not a lead that cannot be made
            include = _lowest(rules, actions[0].played)
        return Position.seen(
            rules,
            step=1 if self.clockwise else -1,
            dealer=self.dealer,
            leader=leader,
            hands=[(mask, size - rules.count(mask)) for mask, size in zip(masks, sizes, strict=True)],
            actions=[(step.seat, step.played, step.action.kind == "bomb") for step in actions],
            include=include,
            # Of another leader that draws cards, one cannot tell which of those played it held by then.
            leader_has_lowest=by_lowest and not includes and (leader == seat or not stock),
            exchange=_exchange(*gifts) if gifts else None,
            stock=[0] * (len(rules.pack) - sum(sizes)) if stock else [],
            drawn={index: step.drawn for index, step in enumerate(actions) if step.drawn},
            answers=() if window else None,
            ban_lifted=bans and not banned and not window and is_last_card(rules, self.hand),
            seat=seat if window else NOBODY,
        )

    def _masks_at_start(self, gifts: Sequence[Step]) -> list[int]:
        """Return, by seat, the mask of the cards that the bot knows it to have held when play began."""
        rules, sizes = self.rules, self._public.begun
        masks = [0] * len(sizes)
        givers = {gift.seat for gift in gifts}
        taker = sizes.index(max(sizes))  # who took the cards left over has more than the others
        if self.shown and (taker not in givers or self.seat in givers):
            masks[taker] = self.shown
        for gift in gifts:
            masks[gift.seat] = rules.remove(masks[gift.seat], gift.played & masks[gift.seat])
            masks[gift.taker] = rules.add(masks[gift.taker], gift.played)
        masks[self.seat] = self._opening
        return masks

    def _exchanged(self, giver: int, taker: int, card: int) -> None:
        if giver == self.seat:
            self._held.play(0, card)
        elif taker == self.seat:
            self._held.add(0, card)
        self._opening = self.hand


def _exchange(gift: Step, returned: Step) -> Exchange:
    return Exchange(gift.seat, gift.taker, gift.played, returned.played)


def _lowest(rules: Rules, mask: int) -> int:
    return next(card for card in landmarks(rules).leading if card & mask)
