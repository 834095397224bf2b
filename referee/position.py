"""A position of a deal as a value: for bots that search, for tools, and for tests.

Actions are play codes of the compiled rules, as in ``turn.legal_codes`` of the SDK, and 0 for a pass. A
position knows how many cards are unknown; ``sample`` deals them.
"""

import re
from collections.abc import Iterator, Sequence
from random import Random

from referee.deals.action import Action, Stage
from referee.deals.deal import Deal
from referee.deals.dealing import Dealt
from referee.errors import CardError, IllegalHere, PlayError, PositionError, UnknownCards
from referee.records.random_play import play_randomly
from referee.records.record import DIRECTIONS, action_text, parse_action
from referee.rules.plays import Rules
from referee.rules.rulebook import rules_of

__all__ = ["Legal", "Position"]

_SEED = bytes(32)

Pile = tuple[tuple[int, bool], ...]
"""A stock as it was, next card first: the mask of each card, and whether the card is in fact unknown."""
_TEXT = re.compile(
    r"(?P<ruleset>[^;]+); (?P<direction>\w+); dealer (?P<dealer>\d); leader (?P<leader>\d)"
    r"(?: with (?P<include>\w+))?; hands (?P<hands>[^;]*)"
    r"(?:; stock (?P<stock>[^;]*))?(?:; seed (?P<seed>[0-9a-f]{64}))?"
    r"; (?:won at once|actions (?P<actions>[^;]*))(?:; window (?P<window>[^;]*))?"
)
_HIDDEN = re.compile(r"\?(\d+)")


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


class Position:
    """What is held, what is to be beaten and who acts; a position never changes.

    Positions are equal if they hold the same cards and the same can follow. A position with unknown cards
    says what is legal for a seat whose hand is known; any other question raises UnknownCards.
    """

    __slots__ = ("_begun", "_deal", "_fill", "_pile")

    def __init__(self, deal: Deal) -> None:
        """Take the position that ``deal`` is in, with all cards known."""
        if deal.stage is Stage.EXCHANGE:
            raise PositionError("an exchange comes before the first position")
        self._deal = deal.copy()
        self._fill = self._begun = (0,) * len(deal.hands)
        self._pile: Pile = ()

    # Made from …

    @classmethod
    def from_record(cls, record: object, actions: int | None = None) -> "Position":
        """Return the position of a deal record after its first ``actions``; None means all of them.

        Raise RecordError if the record is wrong.
        """
        from referee.records.reading import read_record  # pydantic, which bots do without
        from referee.records.replay import carry_out, start

        read = read_record(record)
        deal = start(read, None)
        for index, text in enumerate(read.actions[:actions]):
            carry_out(deal, index, text)
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
        window = match["window"]
        try:
            return cls.seen(
                rules,
                step=steps[match["direction"]],
                dealer=int(match["dealer"]),
                leader=int(match["leader"]),
                include=rules.parse(match["include"] or ""),
                hands=[_parse_cards(rules, hand) for hand in match["hands"].split(" / ")],
                stock=[0 if card == "?" else rules.parse(card) for card in (match["stock"] or "").split()],
                actions=_parse_actions(rules, match["actions"] or ""),
                at_once=match["actions"] is None,
                answers=None if window is None else [action[:2] for action in _parse_actions(rules, window)],
                seed=bytes.fromhex(match["seed"] or "") or _SEED,
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
        stock: Sequence[int] = (),
        answers: Sequence[tuple[int, int]] | None = None,
        seed: bytes = _SEED,
        at_once: bool = False,
    ) -> "Position":
        """Return the position after ``actions`` (seat, mask or 0, out of turn) in a deal seen in part.

        ``hands`` has, by seat and as of the start of play, the mask of the known cards, including those
        played since, and the number of the others. ``stock`` has the masks of the cards of the original
        stock, next card first, 0 for an unknown one. ``include`` is the mask of the card that the lead, if it
        is still to come, must contain. ``answers`` are those given in an open bomb window, None if none is
        open. ``seed`` matters only if cards set aside become the stock. ``at_once`` says that one of the
        hands, all of which are known, has won before play began. Raise CardError, PlayError and PositionError
        for what is impossible.
        """
        players = rules.ruleset.players
        for name, value in (("dealer", dealer), ("leader", leader), ("hands", len(hands) - 1)):
            if value not in range(players) or (name == "hands" and value != players - 1):
                raise PositionError(f"{name}: there are {players} seats")
        unseen = _unseen(rules, [*[known for known, _ in hands], *stock])
        fill = []
        for _, hidden in hands:
            fill.append(rules.mask(unseen[:hidden]))
            del unseen[:hidden]
        begun = tuple(rules.add(known, more) for (known, _), more in zip(hands, fill, strict=True))
        pile = [(card or rules.mask([unseen.pop(0)]), not card) for card in stock]
        dealt = Dealt(begun, tuple(card for card, _ in pile), begun)
        deal = Deal(rules, seed, 1, dealer, step, leader=leader, dealt=dealt, begun=not at_once)
        if at_once and (any(fill) or not deal.over):
            raise PositionError("none of the hands wins at once")
        if include and not actions:
            deal.require(include)
        for seat, mask, out_of_turn in actions:
            deal.follow(seat, mask, out_of_turn)
        for seat, mask in _answers(deal, answers):
            deal.act(seat, mask)
        return cls._made(deal, tuple(fill), tuple(pile))

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
        """Who acts next; in a bomb window, the first that has not answered. -1 when the deal is over."""
        return self._deal.owing()[0] if not self._deal.over else -1

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
        remove = self._deal.rules.remove
        return tuple(remove(hand, fill) for hand, fill in zip(self._deal.hands, self._fill, strict=True))

    @property
    def hidden(self) -> tuple[int, ...]:
        """By seat, how many cards of the hand are not known."""
        return tuple(map(self._deal.rules.count, self._fill))

    @property
    def counts(self) -> tuple[int, ...]:
        """By seat, how many cards the hand has, known or not."""
        return tuple(map(self._deal.rules.count, self._deal.hands))

    @property
    def last_seat(self) -> int:
        """Who made the play to beat; -1 when leading."""
        return self._deal.last_seat

    @property
    def actions(self) -> list[Action]:
        """What the seats have done so far; the cards drawn with a pass may not be those really drawn."""
        return self._deal.actions

    @property
    def unseen(self) -> list[int]:
        """The indices of the cards that are not known to be in a hand or in the stock, and not played."""
        deal = self._deal
        known = [
            card for card, hidden in zip(deal.stock.cards, self._hidden_stock(), strict=True) if not hidden
        ]
        return _unseen(deal.rules, [*self.hands, *known, *[entry[1] for entry in deal.log]])

    @property
    def is_complete(self) -> bool:
        """Whether all cards are known, including those of the stock."""
        return not any(self._fill) and not any(self._hidden_stock())

    @property
    def legal(self) -> Legal:
        """The legal actions of the seat to act. Raise UnknownCards if its hand is not known."""
        seat = self._deal.turn
        if seat < 0 or self._fill[seat]:
            seat = self.seat
            self._know(seat)
        return Legal(self._deal, seat)

    @property
    def is_over(self) -> bool:
        """Whether the deal is over."""
        return self._deal.over

    @property
    def points(self) -> tuple[int, ...]:
        """The deal's points by seat; empty until it is over. Raise UnknownCards if cards are not known."""
        if self.is_over and any(self._fill):
            raise UnknownCards("what is left in the hands is not known")
        return self._deal.points

    # What can be done

    def apply(self, action: int) -> "Position":
        """Return the position after ``action`` of the seat to act: a code, or 0 for a pass.

        Raise PlayError if the action is not legal.
        """
        deal = self._deal
        seat = deal.turn
        if seat < 0 or self._fill[seat]:
            seat = self.seat
            self._know(seat)
        deal = deal.copy()
        deal.act(seat, action & deal.rules.full)
        return self._made(deal, self._begun, self._pile)

    def sample(self, random: Random) -> "Position":
        """Return a complete position, with the unknown cards dealt at random."""
        if self.is_complete:
            return self
        rules, pool = self._deal.rules, self.unseen
        random.shuffle(pool)
        taken = [rules.mask([pool.pop() for _ in range(hidden)]) for hidden in self.hidden]
        return self.with_cards(taken, pool)

    def with_cards(self, taken: Sequence[int], stock: Sequence[int] = ()) -> "Position":
        """Return the complete position in which the unknown cards are these.

        ``taken`` has, by seat, the mask of the unknown cards of its hand. ``stock`` has the indices of at
        least as many cards as are unknown in the stock: they are taken from its end.
        """
        deal, rules, pile = self._deal, self._deal.rules, list(stock)
        hands = [rules.add(hand, more) for hand, more in zip(self.hands, taken, strict=True)]
        begun = [
            rules.add(rules.remove(first, fill), more) if not fill & ~first else first
            for first, fill, more in zip(deal.start, self._fill, taken, strict=True)
        ]
        cards = [
            rules.mask([pile.pop()]) if hidden else card
            for card, hidden in zip(deal.stock.cards, self._hidden_stock(), strict=True)
        ]
        other = deal.copy(hands, cards)
        other.start = tuple(begun)
        return self._made(other, (0,) * len(hands), ())

    def deal(self) -> Deal:
        """Return an independent deal from here on, which is faster to play on than position after position.

        Unknown cards are replaced by arbitrary ones in it; see ``sample``.
        """
        return self._deal.copy()

    def playout(self, random: Random) -> tuple[int, ...]:
        """Return the points after random play to the end, with every legal action equally likely."""
        deal = self.sample(random)._deal.copy()
        play_randomly(deal, random)
        return deal.points

    def text(self, action: int) -> str:
        """Return an action's cards as text, ``-`` for a pass."""
        return self._deal.rules.text(action & self._deal.rules.full) or "-"

    @classmethod
    def _made(cls, deal: Deal, begun: tuple[int, ...], pile: Pile) -> "Position":
        other = cls.__new__(cls)
        other._deal, other._begun, other._pile = deal, begun, pile
        other._fill = begun
        if pile:
            other._fill = _filled(deal, begun, pile)
        return other

    def _hidden_stock(self) -> list[bool]:
        """Return, for each card still in the stock, whether it is unknown."""
        if not self._pile:
            return [False] * len(self._deal.stock)
        drawn = sum([entry[2].bit_count() for entry in self._deal.log])
        return [hidden for _, hidden in self._pile[drawn:]]

    def _know(self, seat: int) -> None:
        if seat < 0:
            raise IllegalHere("the deal is over")
        if self._fill[seat]:
            raise UnknownCards(f"the hand of seat {seat} is not known")

    # As a value

    def _key(self) -> tuple[object, ...]:
        return (self._deal.key(), self._fill, tuple(self._hidden_stock()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        deal, rules = self._deal, self._deal.rules
        include = f" with {rules.text(deal.must_include)}" if deal.must_include else ""
        hands = [
            _cards_text(rules, rules.remove(first, fill), rules.count(fill))
            for first, fill in zip(deal.start, self._begun, strict=True)
        ]
        parts = [
            rules.ruleset.label,
            DIRECTIONS[deal.step],
            f"dealer {deal.dealer}",
            f"leader {deal.leader}{include}",
            f"hands {' / '.join(hands)}",
        ]
        if rules.ruleset.draw_on_pass != "none":
            hidden = [hidden for _, hidden in self._pile] or [False] * len(deal.leftover)
            undealt = zip(map(rules.card_text, deal.leftover), hidden, strict=True)
            parts.append(f"stock {' '.join(['?' if unknown else card for card, unknown in undealt])}")
        if rules.ruleset.restock:
            parts.append(f"seed {deal.seed.hex()}")
        actions = ", ".join([_action_text(rules, entry[:2], entry[3]) for entry in deal.log])
        parts.append("won at once" if deal.over and deal.out and not deal.log else f"actions {actions}")
        if deal.stage is Stage.BOMBS:
            answers = [_action_text(rules, (seat, code & rules.full)) for seat, code in deal.answers]
            parts.append(f"window {', '.join(answers)}")
        return "; ".join(parts)

    def __repr__(self) -> str:
        return f"Position.parse({str(self)!r})"


def _unseen(rules: Rules, known: Sequence[int]) -> list[int]:
    """Return the indices of the cards that are in none of these masks."""
    left = sorted(rules.pack)
    for mask in known:
        for card in rules.cards(mask):
            if card not in left:
                raise PositionError(f"{rules.card_text(card)} is there more often than it can be")
            left.remove(card)
    return left


def _filled(deal: Deal, begun: tuple[int, ...], pile: Pile) -> tuple[int, ...]:
    """Return, by seat, the unknown cards in hand, including those that were drawn."""
    fill, place = list(begun), 0
    for seat, _, drawn, _ in deal.log:
        count = drawn.bit_count()
        for card, hidden in pile[place : place + count]:
            if hidden:
                fill[seat] = deal.rules.add(fill[seat], card)
        place += count
    return tuple(fill)


def _answers(deal: Deal, given: Sequence[tuple[int, int]] | None) -> Sequence[tuple[int, int]]:
    """Return the answers in a bomb window: those given, or if it is closed, that all decline."""
    if given is None and deal.stage is Stage.BOMBS:
        return [(seat, 0) for seat in deal.owing()]
    return given or ()


def _parse_actions(rules: Rules, text: str) -> Sequence[tuple[int, int, bool]]:
    return [parse_action(rules, action) for action in text.split(", ") if action]


def _action_text(rules: Rules, action: tuple[int, int], out_of_turn: bool = False) -> str:
    return action_text(rules, (*action, 0, out_of_turn))


def _cards_text(rules: Rules, known: int, hidden: int) -> str:
    words = [rules.text(known)] if known else []
    return " ".join(words + ([f"?{hidden}"] if hidden else []))


def _parse_cards(rules: Rules, text: str) -> tuple[int, int]:
    hidden = sum(map(int, _HIDDEN.findall(text)))
    return rules.parse(_HIDDEN.sub("", text)), hidden
