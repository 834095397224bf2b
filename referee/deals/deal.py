"""One deal as a state machine: sans-I/O, every rule of docs/rulesets.md, and the hot path of all local play.

A deal goes through stages: an exchange where the rules have one, then turns, after each play perhaps a
window for bombs out of turn, and the end. ``Holdings`` is what the seats hold, ``Trick`` what is to be beaten
and who may still do so. While no rare rule bears on the seat in turn (``_plain``), the play to beat alone
decides its turn, which is answered here; of all other turns ``referee.deals.options`` says what is legal.
"""

from collections.abc import Iterable, Sequence

from referee.deals.action import NOBODY, Action, Entry, Exchange, Stage
from referee.deals.dealing import (
    Dealt,
    deal_cards,
    dragon_holder,
    highest_card,
    landmarks,
    lowest_card,
    next_seats,
)
from referee.deals.facts import rule_facts
from referee.deals.holdings import Holdings
from referee.deals.liability import Liability
from referee.deals.options import Constraints, Options, allowed, checked, ignores_precaution, refusal
from referee.deals.scoring import Finish, score
from referee.deals.stock import Stock
from referee.deals.trick import CLOSED, Trick
from referee.deals.tricks import unbeaten
from referee.deals.window import Window
from referee.errors import IllegalHere, PlayError
from referee.rules.plays import Rules

__all__ = ["NOBODY", "Action", "Deal", "Exchange", "Stage"]

_PASSES: tuple[Entry, ...] = tuple((seat, 0, 0, False) for seat in range(8))
_NOBODY_LIABLE = Liability()
_DECLINE = Options([], may_pass=True)
_ALONE = tuple((seat,) for seat in range(8))
# Looking up a member of an enum takes longer than most of what an action does.
_EXCHANGE, _PLAY, _BEAT_OWN, _BOMBS, _OVER = Stage


# fmt: off
_SHARED = (
    "_facts", "_final", "_next", "_plain", "_undealt", "culprit", "dealer", "dealt", "end", "exchange",
    "leader", "must_include", "number", "opening", "over", "points", "rules", "seed", "stage", "start",
    "step", "turn",
)
# fmt: on
"""What a copy of a deal takes over as it is."""


class Deal:
    """One distribution of cards, played to its end. Hands and cards are masks, plays codes of ``rules``."""

    # fmt: off
    __slots__ = (
        "_facts", "_final", "_holdings", "_liability", "_next", "_plain", "_trick", "_trick_ends", "_undealt",
        "culprit", "dealer", "dealt", "end", "exchange", "hands", "leader", "log", "must_include", "number",
        "opening", "out", "over", "points", "rules", "seed", "stage", "start", "step", "stock", "turn",
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
        leader: int | None = None,
        exchange: tuple[int, int] | None = None,
        dealt: Dealt | None = None,
    ) -> None:
        """Deal the cards as the seed has them, or take those given as ``dealt``.

        ``step`` is 1 clockwise, -1 anticlockwise; ``leader`` is None where the lowest card decides;
        ``exchange`` holds the last deal's loser and winner where they exchange cards.
        """
        self.rules, self.seed, self.number = rules, seed, number
        self.dealer, self.step = dealer, step
        self.dealt, self._undealt, self.opening = dealt or deal_cards(rules, seed, dealer, step)
        """Masks by seat as dealt, cards not dealt, masks by seat with leftover cards taken."""
        self._facts = facts = rule_facts(rules)
        self._next = next_seats(step, len(self.opening))
        self._holdings = Holdings(rules, facts, self.opening)
        self.hands = self._holdings.hands
        """What the seats hold now, as masks; only to be read."""
        self._trick = Trick(self._next, self.hands)
        self.start = self.opening
        """Hands as the play begins: with leftover cards and after an exchange."""
        self.exchange: Exchange | None = None
        self.leader = leader
        """Who leads; None while an exchange may still move the lowest card, and after a forfeit then."""
        self.stage, self.turn = _PLAY, NOBODY
        self.log: list[Entry] = []
        """What the seats did, as plain tuples: making an ``Action`` of each would take too long."""
        self.out: list[int] = []
        self.over, self.end = False, ""
        """``end``: "out", "dragon", "last_top_card" or "forfeit" once the deal is over."""
        self.culprit: int | None = None
        """Who ended the deal without a winner: left with the top card, or by a forfeit."""
        self.points: tuple[int, ...] = ()
        self.must_include = 0
        """Mask of the card that the lead must contain; 0 for none."""
        self.stock = Stock(rules, seed, self._undealt) if facts.no_stock is None else facts.no_stock
        self._plain = False
        self._final = 0
        self._liability = Liability() if facts.guards else _NOBODY_LIABLE
        self._trick_ends: list[int] = []
        self._open(exchange)

    # What a seat may ask

    @property
    def to_beat(self) -> int:
        """The code of the play to beat; 0 when leading."""
        return self._trick.to_beat

    @property
    def last_seat(self) -> int:
        """Who made the play to beat; ``NOBODY`` when leading."""
        return self._trick.last_seat

    def asked(self) -> tuple[int, ...]:
        """Return the seats that owe a decision: the one in turn, or all that may still bomb out of turn."""
        return _ALONE[self.turn] if self.turn != NOBODY else self._trick.window.waiting

    def legal(self, seat: int) -> list[int]:
        """Return the codes that ``seat`` may play now, ascending; none where no decision is pending.

        In an exchange these are single cards to return; in a bomb window, bombs.
        """
        found = self.choices(seat)
        if found and not found[-1]:
            found.pop()
        return found

    def choices(self, seat: int) -> list[int]:
        """Return all that ``seat`` may do now: the codes of ``legal``, and last a 0 where it may pass."""
        if seat != self.turn or not self._plain:
            plays, may_pass = self._options(seat)
            return [*plays, 0] if may_pass else plays[:]
        to_beat = self._trick.to_beat
        if not to_beat:
            return self._holdings.plays(seat)[:]
        return self._holdings.following(seat, to_beat)

    def can_pass(self, seat: int) -> bool:
        """Return whether ``seat`` may pass now (decline, in a bomb window)."""
        if seat == self.turn and self._plain:
            return self._trick.to_beat != 0
        return seat in self.asked() and (self.stage is _BOMBS or self._options(seat).may_pass)

    def is_plain(self, seat: int) -> bool:
        """Return whether it is the turn of ``seat``, and nothing but the play to beat bears on it."""
        return seat == self.turn and self._plain

    def permits(self, seat: int, code: int) -> bool:
        """Return whether ``seat`` may make the play ``code`` now, or pass for 0, without listing plays."""
        if not code or seat not in self.asked():
            return not code and self.can_pass(seat)
        mask = code & self.rules.full
        if self.stage is _EXCHANGE:
            return self.rules.count(mask) == 1 and not mask & ~self.hands[seat]
        try:
            found = checked(self.rules, seat, self.hands[seat], mask, self.constraints(seat))
        except PlayError:
            return False
        return found == code and (self.stage is not _BOMBS or self.rules.is_bomb(code))

    def key(self) -> tuple[object, ...]:
        """Return a value that is equal for deals from which on the same can happen, by the cards in them."""
        trick, ruleset = self._trick, self.rules.ruleset
        looks_back = ruleset.bonuses is not None or ruleset.restock or ruleset.guard == "liable"
        return (
            *(ruleset.hash, self.dealer, self.step, self.leader, tuple(self.hands), self.stage, self.turn),
            *(trick.to_beat, trick.last_seat, trick.locked, trick.window.key(), self.must_include),
            *(tuple(self.out), self._final, self.end, self.points, self.stock.cards),
            self.start if ruleset.last_top_card == "loses" else (),
            self.seed if ruleset.restock else b"",
            tuple(self.log) if looks_back else (),
        )

    def forced(self, seat: int) -> bool:
        """Return whether ``seat`` has exactly one possible answer. In a bomb window nobody is forced.

        So a window takes the same course whoever holds a bomb.
        """
        return self.stage is not _BOMBS and len(self.choices(seat)) == 1

    def default(self, seat: int) -> int:
        """Return the mask of the default action of ``seat``, 0 for a pass (docs/formats.md, faults).

        That is a pass if legal, else the weakest legal single, else the first legal play in canonical
        order; in an exchange the lowest card.
        """
        if self.can_pass(seat):
            return 0
        cards = [code & self.rules.full for code in self.legal(seat)]
        if not cards:
            raise IllegalHere(f"seat {seat} has no decision to make now")
        singles = [mask for mask in cards if self.rules.count(mask) == 1]
        return singles[0] if singles else min(cards, key=self.rules.cards)

    def constraints(self, seat: int) -> Constraints:
        """Return what bears on the decision of ``seat``, if it owes one, besides its hand."""
        if not self._facts.careful:
            return Constraints(self._trick.to_beat, self.must_include)
        banned = self._facts.banned if self._is_banned(seat) else 0
        guarded = self.stage is _PLAY and self._is_guarded(seat)
        return Constraints(self._trick.to_beat, self.must_include, banned, guarded)

    @property
    def answers(self) -> tuple[tuple[int, int], ...]:
        """The seats that have answered in the open bomb window, and their codes, 0 where they declined."""
        return self._trick.window.answers

    @property
    def leftover(self) -> tuple[int, ...]:
        """The indices of the cards not dealt, in order: the stock as it was, next card first."""
        indices = landmarks(self.rules).indices
        return tuple([indices[card] for card in self._undealt])

    @property
    def left(self) -> tuple[int, ...]:
        """The hands as they are now, as masks; once the deal is over, the cards left."""
        return tuple(self.hands)

    @property
    def actions(self) -> list[Action]:
        """What the seats did so far; ``log`` has the same without making values of it."""
        return [Action(*entry) for entry in self.log]

    # What a seat may do

    def act(self, seat: int, mask: int) -> int:
        """Play the cards of ``mask``, or pass (decline) with 0; return the code played, 0 for a pass.

        In an exchange the card is returned. NotInHand, NotAPlay and IllegalHere leave all as it was.
        """
        if seat != self.turn or not self._plain:
            return self._act_with_care(seat, mask)
        trick, facts = self._trick, self._facts
        to_beat = trick.to_beat
        if mask:
            code = 0 if mask & ~self.hands[seat] else facts.code(mask)
            # As ``Rules.beats``, and for most rules as ``_play``: these two calls would cost 5 % of all play.
            if not code or (
                to_beat
                and (code <= to_beat | facts.full or to_beat | facts.group_full < code < facts.first_bomb)
            ):
                raise refusal(self.rules, seat, self.hands[seat], mask, Constraints(to_beat))
            if not facts.goes_round:
                self._play(seat, code, mask)
                return code
            left = self._holdings.play(seat, mask)
            self.log.append((seat, mask, 0, False))
            trick.to_beat, trick.last_seat = code, seat
            if left and left != facts.losing:
                self.turn = self._next[seat]
            else:
                self._run_short(seat)
            return code
        if not to_beat:
            raise refusal(self.rules, seat, self.hands[seat], 0, Constraints(0))
        if facts.costly:
            self._pass(seat)
            return 0
        self.log.append(_PASSES[seat])
        self.turn = following = self._next[seat]
        if following == trick.last_seat:
            self._end_trick()
        return 0

    def act_for_forced(self) -> None:
        """Act for each seat in turn that is ``forced``, until one has a choice or the deal is over."""
        while (seat := self.turn) != NOBODY:
            to_beat = self._trick.to_beat
            if not self._plain:
                if not self.forced(seat):
                    return
                self.act(seat, self.default(seat))
            elif to_beat:
                if self._holdings.can_beat(seat, to_beat):
                    return
                self.act(seat, 0)
            elif self._holdings.has_several(seat):
                return
            else:
                self.act(seat, self.default(seat))

    def follow(self, seat: int, mask: int, out_of_turn: bool = False) -> None:
        """Carry out an action as ``log`` and records have it: in a bomb window all other seats decline."""
        if out_of_turn and self.stage is not _BOMBS:
            raise IllegalHere("nothing may be bombed out of turn here")
        if self.stage is _BOMBS and not out_of_turn:
            self._decline(self.asked())
        others = [other for other in self.asked() if other != seat]
        self.act(seat, mask)
        if out_of_turn:
            self._decline(others)

    def _decline(self, seats: Iterable[int]) -> None:
        for seat in seats:
            self.act(seat, 0)

    def copy(self, hands: Sequence[int] | None = None, stock: Sequence[int] | None = None) -> "Deal":
        """Return a deal that goes on by itself; with other cards in ``hands`` and ``stock``, if given."""
        other = Deal.__new__(Deal)
        for name in _SHARED:
            setattr(other, name, getattr(self, name))
        other._holdings = self._holdings.copy() if hands is None else Holdings(self.rules, self._facts, hands)
        other.hands = other._holdings.hands
        other._trick = self._trick.copy(other.hands)
        other.log, other.out, other._trick_ends = self.log[:], self.out[:], self._trick_ends[:]
        other.stock = self.stock if self._facts.no_stock is self.stock else self.stock.copy(stock)
        other._liability = self._liability.copy() if self._facts.guards else self._liability
        return other

    def forfeit(self, seat: int) -> None:
        """End the deal without a winner by ``seat``'s forfeit; one in an exchange undoes that."""
        if self.over:
            raise IllegalHere("the deal is over")
        if self.stage is _EXCHANGE:
            self.exchange, self.leader = None, None
            self._holdings = Holdings(self.rules, self._facts, self.opening)
            self.hands = self._holdings.hands
        self._finish("forfeit", seat)

    # The beginning

    def _open(self, exchange: tuple[int, int] | None) -> None:
        holder = None
        if self.rules.ruleset.dragon == "wins":
            holder = dragon_holder(self.rules, self.opening, self.dealer, self.step)
        if holder is not None:
            self._call_leader()
            self._holdings.play(holder, self.hands[holder])
            self.out.append(holder)
            self._finish("dragon")
        elif exchange is None:
            self._begin()
        else:
            self._give(*exchange)

    def _give(self, loser: int, winner: int) -> None:
        given = highest_card(self.rules, self.hands[loser])
        self._move(given, loser, winner)
        self.exchange = Exchange(loser, winner, given)
        self._ask(winner, _EXCHANGE)

    def _return(self, winner: int, mask: int) -> int:
        assert self.exchange is not None
        if self.rules.count(mask) != 1:
            raise IllegalHere("one card must be returned in the exchange")
        if mask & ~self.hands[winner]:
            raise refusal(self.rules, winner, self.hands[winner], mask, Constraints(0))
        self._move(mask, winner, self.exchange.loser)
        self.exchange = self.exchange._replace(returned=mask)
        self._begin()
        return self.rules.code(mask)

    def _move(self, card: int, giver: int, taker: int) -> None:
        self._holdings.play(giver, card)
        self._holdings.add(taker, card)

    def _begin(self) -> None:
        self.start = tuple(self.hands)
        self.must_include = self._call_leader()
        assert self.leader is not None
        self._ask(self.leader)

    def _call_leader(self) -> int:
        """Settle who leads; return the card that the lead must contain, 0 for none."""
        if self.leader is not None:
            return 0
        self.leader, card = lowest_card(self.rules, self.hands, self.dealer, self.step)
        return card if self.rules.ruleset.lead_includes_lowest else 0

    def require(self, include: int) -> None:
        """Have the lead, which must be to come, contain the card of this mask; 0 for none."""
        self.must_include = include
        self._ask(self.turn)

    # Turns

    def _ask(self, seat: int, stage: Stage = _PLAY) -> None:
        """Give the turn to ``seat`` (``NOBODY`` in a bomb window, and when the deal is over)."""
        self.stage, self.turn = stage, seat
        self._plain = (
            (stage is _PLAY or stage is _BEAT_OWN)
            and not self.must_include
            and (self.hands[seat] != self._facts.banned or not self._is_banned(seat))
            and not (self._facts.guards and self._is_guarded(seat))
        )

    def _is_banned(self, seat: int) -> bool:
        """Return whether ``seat`` holds just the card that may not be played last.

        The ban is lifted if all who hold cards hold just that card.
        """
        banned = self._facts.banned
        return self.hands[seat] == banned and any(hand and hand != banned for hand in self.hands)

    def _is_guarded(self, seat: int) -> bool:
        """Return whether the rules ask for a precaution, as the next seat has one card."""
        if not self._facts.guards:
            return False
        following = self._trick.after(seat, seat)
        return following != seat and self.rules.count(self.hands[following]) == 1

    def _options(self, seat: int) -> Options:
        if seat not in self.asked():
            return Options([], False)
        if self.stage is _EXCHANGE:
            plays = self._holdings.plays(seat)
            return Options([play for play in plays if self.rules.count(play & self.rules.full) == 1], False)
        if self.stage is _BOMBS:
            bombs = self._holdings.bombs(seat, self._trick.to_beat)
            return allowed(self.rules, bombs, self.constraints(seat)) if bombs else _DECLINE
        return allowed(self.rules, self._holdings.plays(seat), self.constraints(seat))

    def _act_with_care(self, seat: int, mask: int) -> int:
        if seat not in self.asked():
            raise IllegalHere("the deal is over" if self.over else f"seat {seat} has no decision to make now")
        if self.stage is _EXCHANGE:
            return self._return(seat, mask)
        if self.stage is _BOMBS:
            return self._answer(seat, mask)
        constraints = self.constraints(seat)
        code = checked(self.rules, seat, self.hands[seat], mask, constraints)
        if constraints.guarded and ignores_precaution(self.rules, self.hands[seat], code, constraints):
            self._liability.ignored(seat, self._trick.after(seat, seat), len(self.log))
        self.must_include = 0
        if code:
            self._play(seat, code, mask)
        else:
            self._pass(seat)
        return code

    def _play(self, seat: int, code: int, mask: int, out_of_turn: bool = False) -> None:
        left = self._holdings.play(seat, mask)
        self.log.append((seat, mask, 0, out_of_turn))
        trick = self._trick
        trick.to_beat, trick.last_seat = code, seat
        if not left or left == self._facts.losing:
            self._run_short(seat)
        elif self._plain and self._facts.goes_round:
            self.turn = self._next[seat]
        else:
            self._answered(seat)

    def _run_short(self, seat: int) -> None:
        """Go on after a play that left its seat without cards, or with just the card that loses."""
        if self.hands[seat]:
            self._finish("last_top_card", seat)
            return
        if not self.out:
            self._final = self.to_beat
        self.out.append(seat)
        if self.rules.ruleset.deal_ends == "first_out" or sum(map(bool, self.hands)) == 1:
            self._finish("out")
        else:
            self._answered(seat)

    def _answered(self, seat: int) -> None:
        """Ask who may answer the play of ``seat``: with a bomb out of turn, then in turn."""
        asked = self._trick.others(seat) if self._facts.windows else []
        if asked:
            self._trick.window = Window(asked)
            self._ask(NOBODY, _BOMBS)
        else:
            self._advance(seat)

    def _answer(self, seat: int, mask: int) -> int:
        """Note an answer in a bomb window; with the last one, play the bomb that has precedence or go on."""
        code = checked(self.rules, seat, self.hands[seat], mask, self.constraints(seat)) if mask else 0
        if code and not self.rules.is_bomb(code):
            raise IllegalHere(f"{self.rules.text(mask)} is no bomb and must wait for its turn")
        window = self._trick.window
        if window.answer(seat, code):
            self._trick.window = CLOSED
            bomb = window.bomb()
            if bomb is not None:
                self._play(*bomb, bomb[1] & self.rules.full, out_of_turn=True)
            else:
                self._advance(self._trick.last_seat)
        return code

    def _pass(self, seat: int) -> None:
        """Pass where that may take more than giving the turn to the next seat."""
        facts, trick = self._facts, self._trick
        if seat == trick.last_seat:
            self.log.append(_PASSES[seat])
            self._end_trick()
            return
        drawn = self._draw(seat) if facts.draws else 0
        self.log.append((seat, 0, drawn, False) if drawn else _PASSES[seat])
        if not trick.to_beat:
            self._ask(trick.after(seat, seat))
            return
        if facts.pass_locks:
            trick.locked |= 1 << seat
        if not facts.goes_round:
            self._advance(seat)
            return
        self.turn = self._next[seat]
        if self.turn == trick.last_seat:
            self._end_trick()

    def _draw(self, seat: int) -> int:
        """Draw for a pass; return the mask of the cards drawn."""
        finished = self._trick_ends[-1] if self._trick_ends else 0
        needed = (self._trick.to_beat & self.rules.full).bit_count() or 1
        wanted = 1 if self.rules.ruleset.draw_on_pass == "one" else needed
        drawn = self.stock.draw(wanted, self.log, finished)
        if drawn:
            self._holdings.add(seat, drawn)
        return drawn

    def _advance(self, seat: int) -> None:
        """Give the turn to the next after ``seat`` that may still beat the last play, or end the trick."""
        last = self._trick.last_seat
        following = self._trick.after(seat, last)
        if following != last:
            self._ask(following)
        elif self._facts.beat_own and self.hands[last]:
            self._trick.lock_all()
            self._ask(last, _BEAT_OWN)
        else:
            self._end_trick()

    def _end_trick(self) -> None:
        self._trick_ends.append(len(self.log))
        trick = self._trick
        self.turn = last = trick.last_seat
        trick.begin()
        if not self._facts.goes_round:
            self._ask(last if self.hands[last] else trick.after(last, last))

    # The end

    def _finish(self, end: str, culprit: int | None = None) -> None:
        self._trick.window = CLOSED
        self._ask(NOBODY, _OVER)
        self.over, self.end, self.culprit = True, end, culprit
        bonuses = end == "out" and self.rules.ruleset.bonuses is not None
        finish = Finish(
            dealer=self.dealer,
            step=self.step,
            leader=self.leader,
            full=self.start,
            left=self.left,
            out=tuple(self.out),
            culprit=culprit,
            unplayed=end == "dragon",
            final=self._final,
            ignorer=self._liability.payer(self.rules, self.log)
            if self._facts.guards and end == "out"
            else None,
            unbeaten=unbeaten(self.rules, self.log, self._trick_ends) if bonuses else (),
        )
        self.points = score(self.rules, finish)
