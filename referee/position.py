"""A position of a deal as a value: for bots that search, for tools, and for tests.

Actions are play codes of the compiled rules, as in ``turn.legal_codes`` of the SDK, and 0 for a pass. A
position knows how many cards are unknown; ``sample`` deals them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from referee.deals.action import NOBODY, Action, Exchange, Stage
from referee.deals.deal import Deal
from referee.deals.stock import blank
from referee.errors import CardError, IllegalHere, PlayError, PositionError, UnknownCards
from referee.native import native
from referee.records.random_play import play_randomly
from referee.records.record import DIRECTIONS, action_text, parse_action
from referee.rules.plays import Rules
from referee.rules.rulebook import rules_of
from referee.worlds import (
    Limit,
    Worlds,
    ban_limits,
    begin,
    bits,
    carry_out,
    dealt_limits,
    lift_ban,
    note,
    pools,
    reveal,
    slots_of,
    with_played,
)

__all__ = ["Legal", "Position"]

_TEXT = re.compile(
    r"(?P<ruleset>[^;]+); (?P<direction>\w+); dealer (?P<dealer>\d); leader (?P<leader>\d)"
    r"(?: with (?P<include>\w+))?; hands (?P<hands>[^;]*)"
    r"(?:; exchange (?P<exchange>\d:\S+ \d:\S+))?"
    r"(?:; stock (?P<stock>[^;]*))?(?:; renewed (?P<renewals>[^;]*))?(?:; seed (?P<seed>[0-9a-f]{64}))?"
    r"; (?:won at once|actions (?P<actions>[^;]*))(?:; window (?P<window>[^;]*))?(?:; seat (?P<seat>\d))?",
    re.ASCII,
)
_HIDDEN = re.compile(r"\?([0-9]{1,4})")
_LOWEST = "lowest"
"""Stands in a text for the card with which the leader leads, if it holds the lowest but may lead another."""


class Told(NamedTuple):
    """What is known of unknown cards besides what the seats did."""

    include: int = 0
    """Mask of the card that the lead had to contain; 0 for none."""
    leader_has_lowest: bool = False
    """Whether the leader led because it held the lowest card, without having to play it."""


class Legal:
    """The legal actions of the seat to act, with ``in``, iteration, ``len`` and truth.

    ``in`` does not enumerate them.
    """

    __slots__ = ("_deal", "_seat")

    def __init__(self, deal: Deal, seat: int) -> None:
        self._deal, self._seat = deal, seat

    def __contains__(self, action: object) -> bool:
        return isinstance(action, int) and self._deal.permits(self._seat, action)

    def __iter__(self) -> Iterator[int]:
        return iter(self._deal.choices(self._seat))

    def __len__(self) -> int:
        return len(self._deal.choices(self._seat))

    def __bool__(self) -> bool:
        return not self._deal.over


@native(allow_interpreted_subclasses=True)  # else __new__ would call __init__
class Position:
    """What is held, what is to be beaten and who acts; a position never changes.

    Positions are equal if they hold the same cards and the same can follow. A position with unknown cards
    says what is legal for a seat whose hand is known; any other question raises UnknownCards.
    """

    __slots__ = ("_deal", "_limits", "_seat", "_told", "_worlds")

    def __init__(self, deal: Deal) -> None:
        """Take the position that ``deal`` is in, with all cards known."""
        if deal.stage is Stage.EXCHANGE:
            raise PositionError("an exchange comes before the first position")
        self._deal = deal.copy()
        self._limits: tuple[Limit, ...] = ()
        self._told = Told(deal.must_include)
        self._seat = NOBODY
        self._worlds: Worlds | None = None

    # Made from …

    @classmethod
    def from_record(cls, record: object, actions: int | None = None) -> "Position":
        """Return the position of a deal record after its first ``actions``; None means all of them.

        Raise RecordError if the record is wrong.
        """
        from referee.records import replay  # compiled, a name imported here is the module's
        from referee.records.reading import read_record  # pydantic, which bots do without

        read = read_record(record)
        deal = replay.start(read, None)
        for index, text in enumerate(read.actions[:actions]):
            replay.carry_out(deal, index, text)
        return cls(deal)

    @classmethod
    def parse(cls, text: str, rules: Rules | None = None) -> "Position":
        """Return the position in a text as ``str`` writes it. Raise PositionError and RulesetError.

        ``rules`` are needed if the ruleset is not a preset.
        """
        match = _TEXT.fullmatch(text)
        if match is None:
            raise PositionError(f"{text!r} is not a position")
        rules = rules or rules_of(match["ruleset"].partition("@")[0])
        if rules.ruleset.label != match["ruleset"]:
            raise PositionError(f"the position is of {match['ruleset']}, not of {rules.ruleset.label}")
        steps = {name: step for step, name in DIRECTIONS.items()}
        include, window = match["include"] or "", match["window"]
        try:
            return cls.seen(
                rules,
                step=steps[match["direction"]],
                dealer=int(match["dealer"]),
                leader=int(match["leader"]),
                include=0 if include == _LOWEST else rules.parse(include),
                leader_has_lowest=include == _LOWEST,
                hands=[_parse_cards(rules, hand) for hand in _parts(match["hands"])],
                exchange=_parse_exchange(rules, match["exchange"]),
                stock=_parse_stock(rules, match["stock"] or ""),
                renewals=[_parse_stock(rules, cards) for cards in _parts(match["renewals"])],
                actions=_parse_actions(rules, match["actions"] or ""),
                at_once=match["actions"] is None,
                answers=None if window is None else [action[:2] for action in _parse_actions(rules, window)],
                seed=bytes.fromhex(match["seed"] or ""),
                seat=int(match["seat"] or NOBODY),
            )
        except (KeyError, ValueError, CardError, PlayError) as error:
            raise PositionError(f"{text!r}: {error}") from error

    @classmethod
    def seen(
        cls,
        rules: Rules,
        *,
        step: int,
        dealer: int,
        leader: int,
        hands: Sequence[tuple[int, int]],
        actions: Sequence[tuple[int, int, bool]],
        include: int = 0,
        leader_has_lowest: bool = False,
        exchange: Exchange | None = None,
        stock: Sequence[int] = (),
        renewals: Sequence[Sequence[int]] = (),
        drawn: Mapping[int, int] | None = None,
        answers: Sequence[tuple[int, int]] | None = None,
        ban_lifted: bool = False,
        seed: bytes = b"",
        seat: int = NOBODY,
        at_once: bool = False,
    ) -> "Position":
        """Return the position after ``actions`` (seat, mask or 0, out of turn) in a deal seen in part.

        ``hands`` has, by seat and as of the start of play, the mask of the known cards and the number of the
        others, of which some may have been played since. ``stock`` has the masks of the cards of the original
        stock, next card first, 0 for an unknown one, and ``renewals`` those of the stocks that cards set
        aside became; later ones follow from ``seed``, and are unknown without one. ``drawn`` has, by the
        index of a pass, the mask of the cards known to be drawn. ``ban_lifted`` says that a last card that
        the rules forbid may be played now, as all hold only such a card.

        ``include`` is the mask of the card that the lead must contain, or had to because it is the lowest;
        ``leader_has_lowest`` says that the leader held that card, but could lead another. ``exchange`` says
        who exchanged cards before that, with 0 for a card that is not known. ``answers`` are those given in
        an open bomb window, None if none is open; of the other seats asked, ``seat`` is the one that acts.

        ``at_once`` says that one of the hands, all of which are known, has won before play began.

        What the seats did is never checked against cards that are not known. Raise CardError, PlayError and
        PositionError for what is impossible.
        """
        players = rules.ruleset.players
        parties = [("exchange", seat) for seat in exchange[:2]] if exchange else []
        for name, value in (("dealer", dealer), ("leader", leader), ("hands", len(hands) - 1), *parties):
            if value not in range(players) or (name == "hands" and value != players - 1):
                raise PositionError(f"{name}: does not fit {players} seats")
        told = Told(include, leader_has_lowest)
        hands = with_played(rules, hands, actions)
        deal = begin(rules, seed, dealer, step, leader, hands, stock, renewals, at_once=at_once)
        if at_once and (max(deal.hands) > rules.full or not deal.over):
            raise PositionError("none of the hands wins at once")
        if include and not actions:
            deal.require(include)
        deal.exchange = exchange
        limits = dealt_limits(deal, include, leader_has_lowest)
        for index, action in enumerate(actions):
            carry_out(deal, limits, *action)
            if drawn and index in drawn:
                reveal(deal, limits, action[0], drawn[index], deal.log[-1][2])
        for actor, mask in _answers(deal, answers):
            deal.act(actor, mask)
        if ban_lifted:
            lift_ban(deal, limits)
        if seat != NOBODY and seat not in deal.owing():
            raise PositionError(f"seat {seat} has no decision to make")
        return cls._made(deal, tuple(limits), told, seat)

    # What can be seen

    @property
    def rules(self) -> Rules:
        """The compiled rules."""
        return self._deal.rules

    @property
    def owing(self) -> tuple[int, ...]:
        """The seats that owe a decision: one, none when the deal is over, several in a bomb window."""
        return self._deal.owing()

    @property
    def seat(self) -> int:
        """Who acts next; -1 when the deal is over.

        In a bomb window that is the seat whose view it is; otherwise the first that has not answered.
        """
        if self._seat != NOBODY:
            return self._seat
        return NOBODY if self._deal.over else self._deal.owing()[0]

    @property
    def stage(self) -> Stage:
        """What is asked for: a turn, beating one's own play, a bomb out of turn; or that the deal is over."""
        return self._deal.stage

    @property
    def to_beat(self) -> int:
        """The code of the play to beat; 0 when leading."""
        return self._deal.to_beat

    @property
    def hands(self) -> tuple[int, ...]:
        """By seat, the mask of the cards known to be in the hand."""
        full = self._deal.rules.full
        return tuple([hand & full for hand in self._deal.hands])

    @property
    def hidden(self) -> tuple[int, ...]:
        """By seat, how many cards of the hand are not known."""
        full = self._deal.rules.full
        return tuple([(hand & ~full).bit_count() for hand in self._deal.hands])

    @property
    def counts(self) -> tuple[int, ...]:
        """By seat, how many cards the hand has, known or not."""
        return tuple(map(int.bit_count, self._deal.hands))

    @property
    def last_seat(self) -> int:
        """Who made the play to beat; -1 when leading."""
        return self._deal.last_seat

    @property
    def actions(self) -> list[Action]:
        """What the seats have done so far; of the cards drawn with a pass, those that are known."""
        full = self._deal.rules.full
        return [Action(seat, cards, drawn & full, out) for seat, cards, drawn, out in self._deal.log]

    @property
    def unseen(self) -> list[int]:
        """The indices of the cards that are not known to be in a hand or in the stock, and not played.

        Cards that were set aside and are the stock again, in an order that is not known, are among them.
        """
        return sorted([card for pool in pools(self._deal) for card in pool])

    @property
    def is_complete(self) -> bool:
        """Whether all cards are known, including those of the stock, and how it would be renewed."""
        deal = self._deal
        known = max(deal.hands) <= deal.rules.full and max(deal.stock.cards, default=0) <= deal.rules.full
        return known and bool(deal.seed or not deal.rules.ruleset.restock)

    @property
    def legal(self) -> Legal:
        """The legal actions of the seat to act. Raise UnknownCards if its hand is not known."""
        self._know(self.seat)
        return Legal(self._deal, self.seat)

    @property
    def is_over(self) -> bool:
        """Whether the deal is over."""
        return self._deal.over

    @property
    def points(self) -> tuple[int, ...]:
        """The deal's points by seat; empty until it is over. Raise UnknownCards if cards are not known."""
        if self.is_over and any(self.hidden):
            raise UnknownCards("what is left in the hands is not known")
        return self._deal.points

    # What can be done

    def apply(self, action: int) -> "Position":
        """Return the position after ``action`` of the seat to act: a code, or 0 for a pass.

        Raise PlayError if the action is not legal.
        """
        seat = self.seat
        self._know(seat)
        deal, limits = self._deal.copy(), list(self._limits)
        note(deal, limits, action)
        deal.act(seat, action & deal.rules.full)
        return self._made(deal, tuple(limits), self._told)

    def sample(self, random: Random, *, weighs_passes: bool = False) -> "Position":
        """Return a complete position, with the unknown cards dealt at random.

        It agrees with all that is known: what the seats did, cards that were given in an exchange or shown
        when a seat took them, and why the leader led. If it ``weighs_passes``, a seat that passed on a single
        card is less likely to hold cards that beat it.
        """
        if self.is_complete:
            return self
        worlds = self.worlds
        deal = worlds.deal(worlds.sample(random, weighs_passes=weighs_passes), random)
        return self._made(deal, (), self._told, self._seat)

    @property
    def worlds(self) -> Worlds:
        """What the unknown cards may be, for those who need the hands rather than positions."""
        if self._worlds is None:
            self._worlds = Worlds(self._deal, self._known_limits(), self._told.leader_has_lowest)
        return self._worlds

    def with_cards(self, taken: Sequence[int], stock: Sequence[int] = ()) -> "Position":
        """Return the complete position in which the unknown cards are these.

        ``taken`` has, by seat, the mask of the unknown cards of its hand. ``stock`` has the indices of at
        least as many cards as are unknown in the stock: they are taken from its end. A stock is renewed at
        random, but always alike. Raise PositionError if the numbers of cards do not agree.
        """
        worlds = self.worlds
        deal = worlds.deal(worlds.filled(taken, stock), Random(0))  # noqa: S311 no secret
        return self._made(deal, (), self._told, self._seat)

    def deal(self) -> Deal:
        """Return an independent deal from here on, which is faster to play on than position after position.

        Unknown cards are replaced by arbitrary ones in it; see ``sample``.
        """
        return self.sample(Random(0))._deal.copy()  # noqa: S311 no secret

    def playout(self, random: Random) -> tuple[int, ...]:
        """Return the points after random play to the end, with every legal action equally likely."""
        deal = self.sample(random)._deal.copy()
        play_randomly(deal, random)
        return deal.points

    def text(self, action: int) -> str:
        """Return an action's cards as text, ``-`` for a pass."""
        return self._deal.rules.text(action & self._deal.rules.full) or "-"

    @staticmethod
    def _made(deal: Deal, limits: tuple[Limit, ...], told: Told, seat: int = NOBODY) -> "Position":
        other = Position.__new__(Position)
        other._deal, other._limits, other._told, other._seat, other._worlds = deal, limits, told, seat, None
        return other

    def _known_limits(self) -> tuple[Limit, ...]:
        return (*self._limits, *ban_limits(self._deal))

    def _know(self, seat: int) -> None:
        if seat < 0:
            raise IllegalHere("the deal is over")
        if self._deal.hands[seat] > self._deal.rules.full:
            raise UnknownCards(f"the hand of seat {seat} is not known")

    # As a value

    def _key(self) -> tuple[object, ...]:
        if self.is_complete:
            return self._deal.key(), self.seat
        deal, rules = self._deal.copy(), self.rules
        slots = sorted(slots_of(deal, self._known_limits()), key=lambda slot: slot._replace(bit=0))
        alike = {slot.bit: blank(rules, number) for number, slot in enumerate(slots)}
        deal.turn_over(lambda mask: sum([alike.get(bit, bit) for bit in bits(mask)]), deal.seed)
        unknown = tuple([(slot.renewal, slot.lacks) for slot in slots])
        told = self._told.leader_has_lowest, deal.exchange
        return deal.key(), self.seat, unknown, tuple(self.unseen), told

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        deal, rules = self._deal, self._deal.rules
        told = self._told
        include = f" with {rules.text(told.include)}" if told.include else ""
        if told.leader_has_lowest:
            include = f" with {_LOWEST}"
        hands = [_cards_text(rules, hand) for hand in deal.start]
        parts = [
            rules.ruleset.label,
            DIRECTIONS[deal.step],
            f"dealer {deal.dealer}",
            f"leader {deal.leader}{include}",
            f"hands {' / '.join(hands)}",
        ]
        if deal.exchange is not None:
            parts.append(f"exchange {_exchange_text(rules, deal.exchange)}")
        if rules.ruleset.leftover == "stock":
            parts.append(f"stock {_stock_text(rules, deal.undealt)}")
        if deal.stock.renewals:
            renewals = [_stock_text(rules, cards) for cards in deal.stock.renewals]
            parts.append(f"renewed {' / '.join(renewals)}")
        if rules.ruleset.restock and deal.seed:
            parts.append(f"seed {deal.seed.hex()}")
        actions = ", ".join([_action_text(rules, entry[:2], entry[3]) for entry in deal.log])
        parts.append("won at once" if deal.over and deal.out and not deal.log else f"actions {actions}")
        if deal.stage is Stage.BOMBS:
            answers = [_action_text(rules, (seat, code & rules.full)) for seat, code in deal.answers]
            parts.append(f"window {', '.join(answers)}")
        if self._seat != NOBODY:
            parts.append(f"seat {self._seat}")
        return "; ".join(parts)

    def __repr__(self) -> str:
        return f"Position.parse({str(self)!r})"


def _answers(deal: Deal, given: Sequence[tuple[int, int]] | None) -> Sequence[tuple[int, int]]:
    """Return the answers in a bomb window: those given, or if it is closed, that all decline."""
    if given is None and deal.stage is Stage.BOMBS:
        return [(seat, 0) for seat in deal.owing()]
    return given or ()


def _parse_actions(rules: Rules, text: str) -> Sequence[tuple[int, int, bool]]:
    return [parse_action(rules, action) for action in text.split(", ") if action]


def _action_text(rules: Rules, action: tuple[int, int], out_of_turn: bool = False) -> str:
    return action_text(rules, (*action, 0, out_of_turn))


def _cards_text(rules: Rules, hand: int) -> str:
    hidden = (hand & ~rules.full).bit_count()
    return " ".join([*rules.text(hand & rules.full).split(), *([f"?{hidden}"] if hidden else [])])


def _parse_cards(rules: Rules, text: str) -> tuple[int, int]:
    """Return the known cards and the number of the others."""
    return rules.parse(_HIDDEN.sub("", text)), sum(map(int, _HIDDEN.findall(text)))


def _exchange_text(rules: Rules, exchange: Exchange) -> str:
    given, returned = (rules.text(card) or "?" for card in exchange[2:])
    return f"{exchange.loser}:{given} {exchange.winner}:{returned}"


def _parse_exchange(rules: Rules, text: str | None) -> Exchange | None:
    if text is None:
        return None
    loser, winner = (gift.split(":") for gift in text.split(" "))
    given, returned = (0 if card == "?" else rules.parse(card) for _, card in (loser, winner))
    return Exchange(int(loser[0]), int(winner[0]), given, returned)


def _parts(text: str | None) -> list[str]:
    return text.split(" / ") if text is not None else []


def _stock_text(rules: Rules, cards: Sequence[int]) -> str:
    return " ".join([rules.text(card) if card <= rules.full else "?" for card in cards])


def _parse_stock(rules: Rules, text: str) -> list[int]:
    return [0 if card == "?" else rules.parse(card) for card in text.split()]
