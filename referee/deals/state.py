"""How a deal stands: what the seats hold, what is to be beaten, who owes a decision, and what is legal.

``Holdings`` is what the seats hold, a ``Window`` who may bomb out of turn. While no rare rule bears on the
seat in turn (``_plain``), only the play to beat matters, and the answer is found here; for all other turns
``referee.deals.options`` says what is legal.
"""

from collections.abc import Sequence
from typing import NamedTuple

from referee.deals.action import NOBODY, Action, Entry, Exchange, Stage
from referee.deals.dealing import Dealt, deal_cards, is_last_card, landmarks, next_seats
from referee.deals.facts import rule_facts
from referee.deals.holdings import Holdings
from referee.deals.options import Constraints, Options, allowed, checked, ignores_precaution
from referee.deals.stock import Stock
from referee.errors import IllegalHere, PlayError
from referee.native import native
from referee.rules.plays import Rules


class Window:
    """The answers of the seats asked; its course does not reveal who holds a bomb."""

    __slots__ = ("_bombs", "_order", "waiting")

    def __init__(self, order: Sequence[int]) -> None:
        """Ask the seats of ``order``, the first having precedence."""
        self.waiting = tuple(order)
        """The seats that have not answered yet."""
        self._order = self.waiting
        self._bombs: dict[int, int] = {}

    def copy(self) -> "Window":
        """Return an independent copy with the same answers."""
        other = Window(self._order)
        other.waiting, other._bombs = self.waiting, dict(self._bombs)
        return other

    @property
    def answers(self) -> tuple[tuple[int, int], ...]:
        """Seats and codes (0: declined) of the answers given."""
        return tuple([(seat, self._bombs.get(seat, 0)) for seat in self._order if seat not in self.waiting])

    def key(self) -> tuple[object, ...]:
        """Return a value that is equal for windows that go on alike."""
        return self.waiting, self.answers

    def answer(self, seat: int, code: int) -> bool:
        """Note the bomb of ``seat``, or 0 if it declines; return whether all have answered."""
        place = self.waiting.index(seat)
        self.waiting = self.waiting[:place] + self.waiting[place + 1 :]
        if code:
            self._bombs[seat] = code
        return not self.waiting

    def bomb(self) -> tuple[int, int] | None:
        """Return the seat whose bomb is played and the bomb's code; None if all declined."""
        if not self._bombs:
            return None
        seat = min(self._bombs, key=self._order.index)
        return seat, self._bombs[seat]


CLOSED = Window(())
"""The window of a play that nobody may bomb out of turn."""


class Guarded(NamedTuple):
    """An action for which the rules asked for the precaution, to be judged when the deal ends."""

    seat: int
    hand: int
    """The seat's hand before the action, as a mask."""
    code: int
    """What it played, 0 for a pass."""
    constraints: Constraints
    following: int
    """The next seat, which must go out for the action to count."""
    action: int
    """The index of the action in the log."""

    def is_liable(self, rules: Rules, log: Sequence[Entry]) -> bool:
        """Return whether its seat pays after the last action of ``log`` ended the deal.

        The next seat must have gone out with a single, with no other action in between, and the precaution
        must have been ignored.
        """
        seat, cards, _, _ = log[-1]
        at_once = self.action == len(log) - 2 and seat == self.following and rules.count(cards) == 1
        return at_once and ignores_precaution(rules, self.hand, self.code, self.constraints)


# Looking up a member of an enum takes longer than most of what an action does.
EXCHANGE, PLAY, BEAT_OWN, BOMBS, OVER = Stage

_DECLINE = Options([], may_pass=True)
_ALONE = tuple((seat,) for seat in range(8))


@native(allow_interpreted_subclasses=True)  # as Deal
class DealState:
    """A deal as it stands. Hands and cards are masks, plays codes of ``rules``; ``Deal`` changes it."""

    # fmt: off
    __slots__ = (
        "_above", "_facts", "_guarded", "_holdings", "_next", "_plain", "_stronger", "_trick_ends",
        "_undealt", "_up_to", "_window", "culprit", "dealer", "dealt", "end", "exchange", "final", "hands",
        "last_seat", "leader", "locked", "log", "must_include", "number", "opening", "out", "over",
        "points", "rules", "seed", "stage", "start", "step", "stock", "to_beat", "turn",
    )
    # fmt: on

    def __init__(
        self,
        rules: Rules,
        seed: bytes,
        number: int,
        dealer: int,
        step: int,
        *,
        leader: int | None,
        dealt: Dealt | None,
    ) -> None:
        """Deal the cards from the seed, or take those given as ``dealt``; nobody has acted yet.

        ``step`` is 1 clockwise, -1 anticlockwise; ``leader`` is None if the lowest card decides.
        """
        self.rules, self.seed, self.number = rules, seed, number
        self.dealer, self.step = dealer, step
        self.dealt, self._undealt, self.opening = dealt or deal_cards(rules, seed, dealer, step)
        """Masks by seat as dealt, cards not dealt, masks by seat with leftover cards taken."""
        self._facts = facts = rule_facts(rules)
        self._next = next_seats(step, len(self.opening))
        self._holdings = Holdings(rules, facts, self.opening)
        self.hands = self._holdings.hands
        """What the seats hold now, as masks; read-only."""
        self._begin_trick()
        self._window = CLOSED
        """Who may bomb the last play out of turn."""
        self.start = self.opening
        """Hands when play begins: with leftover cards and after an exchange."""
        self.exchange: Exchange | None = None
        self.leader = leader
        """Who leads the deal; None if that is not settled during an exchange, or the deal ended there."""
        self.stage, self.turn = PLAY, NOBODY
        self.log: list[Entry] = []
        """What the seats did, as plain tuples: making an ``Action`` of each would take too long."""
        self.out: list[int] = []
        self.over, self.end = False, ""
        """``end``: "out", "dragon", "instant_win", "last_top_card" or "forfeit" once the deal is over."""
        self.culprit: int | None = None
        """Who ended the deal without a winner: left with the top card, or by a forfeit."""
        self.points: tuple[int, ...] = ()
        self.must_include = 0
        """Mask of the card that the lead must contain; 0 for none."""
        self.stock = Stock(rules, seed, self._undealt) if facts.no_stock is None else facts.no_stock
        self._plain = False
        self.final = 0
        """The code of the play with which the first seat went out; 0 as long as none has."""
        self._guarded: tuple[Guarded, ...] = ()
        """The last two guarded actions: the last may be the one that ends the deal."""
        self._trick_ends: list[int] = []

    # What a seat may ask

    def owing(self) -> tuple[int, ...]:
        """Return the seats that owe a decision: the one in turn, or all that may still bomb out of turn."""
        return _ALONE[self.turn] if self.turn != NOBODY else self._window.waiting

    def legal(self, seat: int) -> list[int]:
        """Return the codes that ``seat`` may play now, ascending; none if it owes no decision.

        In an exchange these are single cards to return; in a bomb window, bombs.
        """
        choices = self.choices(seat)
        if choices and not choices[-1]:
            choices.pop()
        return choices

    def choices(self, seat: int) -> list[int]:
        """Return all that ``seat`` may do now: the codes of ``legal``, and finally 0 if it may pass."""
        if seat != self.turn or not self._plain:
            plays, may_pass = self._options(seat)
            return [*plays, 0] if may_pass else plays[:]
        if not self.to_beat:
            return self._holdings.plays(seat)[:]
        if not self.hands[seat] & self._stronger:
            return [0]
        return self._holdings.following(seat, self.to_beat, self._above, self._up_to)

    def list_plays(self) -> None:
        """List the plays of all hands now, for copies to share; else each lists them when it needs them."""
        for seat in range(len(self.hands)):
            self._holdings.plays(seat)

    def can_pass(self, seat: int) -> bool:
        """Return whether ``seat`` may pass now (decline, in a bomb window)."""
        if seat == self.turn and self._plain:
            return self.to_beat != 0
        return seat in self.owing() and (self.stage is BOMBS or self._options(seat).may_pass)

    def bearing(self, seat: int) -> tuple[int, bool]:
        """Return the play to beat, and whether it is the turn of ``seat`` and nothing else bears on it."""
        return self.to_beat, self._plain and seat == self.turn

    def permits(self, seat: int, code: int) -> bool:
        """Return whether ``seat`` may make the play ``code`` now, or pass for 0, without listing plays."""
        if not code or seat not in self.owing():
            return not code and self.can_pass(seat)
        mask = code & self.rules.full
        if self.stage is EXCHANGE:
            return self.rules.count(mask) == 1 and not mask & ~self.hands[seat]
        try:
            play = checked(self.rules, seat, self.hands[seat], mask, self.constraints(seat))
        except PlayError:
            return False
        return play == code and (self.stage is not BOMBS or self.rules.is_bomb(code))

    def key(self) -> tuple[object, ...]:
        """Return a value that is equal for deals with the same cards and the same possible continuations."""
        ruleset = self.rules.ruleset
        looks_back = ruleset.bonuses is not None or ruleset.restock or ruleset.guard == "liable"
        looks_back = looks_back or self._facts.asks_who_played
        return (
            *(ruleset.hash, self.dealer, self.step, self.leader, tuple(self.hands), self.stage, self.turn),
            *(self.to_beat, self.last_seat, self.locked, self._window.key(), self.must_include),
            *(tuple(self.out), self.final, self.end, self.points, self.stock.cards),
            self.start if ruleset.last_top_card == "loses" else (),
            self.seed if ruleset.restock else b"",
            tuple(self.log) if looks_back else (),
        )

    def forced(self, seat: int) -> bool:
        """Return whether ``seat`` has exactly one possible answer.

        In a bomb window nobody is forced, so that its course does not reveal who holds a bomb.
        """
        return self.stage is not BOMBS and len(self.choices(seat)) == 1

    def default(self, seat: int) -> int:
        """Return the mask of the default action of ``seat``, 0 for a pass (docs/formats.md, faults).

        That is a pass if legal, else the weakest legal single, else the first legal play in canonical
        order; in an exchange, the lowest card.
        """
        if self.can_pass(seat):
            return 0
        cards = [code & self.rules.full for code in self.legal(seat)]
        if not cards:
            raise IllegalHere(f"seat {seat} has no decision to make now")
        singles = [mask for mask in cards if self.rules.count(mask) == 1]
        return singles[0] if singles else min(cards, key=self.rules.cards)

    def constraints(self, seat: int) -> Constraints:
        """Return what bears on the decision of ``seat``, besides its hand, if it owes one."""
        if not self._facts.careful:
            return Constraints(self.to_beat, self.must_include)
        banned = self._facts.banned if self._is_banned(seat) else 0
        guarded = self.stage is PLAY and self._is_guarded(seat)
        return Constraints(self.to_beat, self.must_include, banned, guarded)

    @property
    def answers(self) -> tuple[tuple[int, int], ...]:
        """The seats that have answered in the open bomb window, and their codes (0: declined)."""
        return self._window.answers

    @property
    def leftover(self) -> tuple[int, ...]:
        """The indices of the cards not dealt, in order: the original stock, next card first."""
        indices = landmarks(self.rules).indices
        return tuple([indices[card] for card in self._undealt])

    @property
    def undealt(self) -> tuple[int, ...]:
        """The cards not dealt, each as a mask, in order: the original stock, next card first."""
        return self._undealt

    @property
    def left(self) -> tuple[int, ...]:
        """The current hands, as masks; once the deal is over, the cards left."""
        return tuple(self.hands)

    @property
    def actions(self) -> list[Action]:
        """What the seats have done so far; ``log`` has the same as plain tuples."""
        return [Action(*entry) for entry in self.log]

    # The trick

    def _begin_trick(self) -> None:
        """Forget the last trick: a lead comes next, and everybody may follow."""
        self.to_beat = 0
        """The code of the play to beat; 0 when leading."""
        self.last_seat = NOBODY
        """Who made that play; ``NOBODY`` when leading."""
        self.locked = 0
        """The seats, as bits, that may not act until the trick ends."""
        # What beats that play: codes above the first of these up to the second, and bombs; and the cards that
        # do, as a mask, if nothing else may, which is -1 if that is not known.
        self._above, self._up_to, self._stronger = 0, self._facts.first_bomb, -1

    def _lay(self, seat: int, code: int) -> None:
        """Put a play on the table, to be beaten."""
        facts = self._facts
        self.to_beat, self.last_seat = code, seat
        self._above, self._up_to = code | facts.full, code | facts.group_full
        self._stronger = facts.stronger.get(code, -1)

    def _after(self, seat: int, stop: int) -> int:
        """Return the next seat that holds cards and is not locked out; ``stop`` if that comes first."""
        order, hands, locked = self._next, self.hands, self.locked
        seat = order[seat]
        while seat != stop and (not hands[seat] or locked >> seat & 1):
            seat = order[seat]
        return seat

    def _others(self, seat: int) -> list[int]:
        """Return, in order of play, all seats after ``seat`` that hold cards and are not locked out."""
        order, hands, locked = self._next, self.hands, self.locked
        seats = []
        other = order[seat]
        while other != seat:
            if hands[other] and not locked >> other & 1:
                seats.append(other)
            other = order[other]
        return seats

    # Which rules bear on a seat

    def _is_banned(self, seat: int) -> bool:
        """Return whether ``seat`` holds only a card that may not be played last.

        The ban is lifted if all who hold cards hold only such a card.
        """
        rules, hands = self.rules, self.hands
        if hands[seat] & ~self._facts.banned or not is_last_card(rules, hands[seat]):
            return False
        return any(hand and not is_last_card(rules, hand) for hand in hands)

    def may_lift_ban(self) -> bool:
        """Return whether the ban on last cards may be lifted, for all that is known of the hands.

        That is so if each has just one card, and those that are known are such cards; and not all are known.
        """
        full = self._facts.full
        if not self._facts.banned or max(self.hands) <= full:
            return False
        return all(
            hand.bit_count() == 1 if hand > full else is_last_card(self.rules, hand)
            for hand in self.hands
            if hand
        )

    def _is_careful(self, seat: int) -> bool:
        """Return whether a ban or a precaution bears on a turn of ``seat``."""
        facts = self._facts
        if facts.guards and self._is_guarded(seat):
            return True
        return self.hands[seat] in facts.banned_hands and self._is_banned(seat)

    def _is_guarded(self, seat: int) -> bool:
        """Return whether the rules ask for a precaution because the next seat has one card."""
        if not self._facts.guards:
            return False
        following = self._next[seat]
        if self.locked or not self.hands[following]:
            following = self._after(seat, seat)
        hand = self.hands[following]
        return not hand & hand - 1 and following != seat

    def _options(self, seat: int) -> Options:
        if seat not in self.owing():
            return Options([], False)
        if self.stage is EXCHANGE:
            plays = self._holdings.plays(seat)
            return Options([play for play in plays if self.rules.count(play & self.rules.full) == 1], False)
        if self.stage is BOMBS:
            bombs = self._holdings.bombs(seat, self.to_beat)
            return allowed(self.rules, bombs, self.constraints(seat)) if bombs else _DECLINE
        return allowed(self.rules, self._holdings.plays(seat), self.constraints(seat))
