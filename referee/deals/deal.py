"""One deal as a state machine: no I/O, every rule of docs/rulesets.md, and the hot path of all local play.

A deal goes through stages: an exchange if the rules have one, then turns, after each play perhaps a
window for bombs out of turn, and the end. ``DealState`` is how a deal stands; this module moves it on.
"""

from collections.abc import Callable, Iterable

from referee.deals.action import NOBODY, Action, Entry, Exchange, Stage
from referee.deals.dealing import Dealt, highest_card, instant_winner, is_last_card, lead_card
from referee.deals.holdings import Holdings
from referee.deals.options import Constraints, checked, refusal
from referee.deals.scoring import Finish, score, unbeaten
from referee.deals.shuffle import draw
from referee.deals.state import BEAT_OWN, BOMBS, CLOSED, EXCHANGE, OVER, PLAY, DealState, Guarded, Window
from referee.errors import IllegalHere
from referee.native import native
from referee.rules.plays import Rules

__all__ = ["NOBODY", "Action", "Deal", "Exchange", "Stage"]

_PASSES: tuple[Entry, ...] = tuple((seat, 0, 0, False) for seat in range(8))


@native(allow_interpreted_subclasses=True)  # else __new__ would call __init__
class Deal(DealState):
    """One distribution of cards, played to its end."""

    __slots__ = ()

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
        begun: bool = False,
    ) -> None:
        """Begin a deal; ``DealState`` explains the arguments.

        ``exchange`` holds the last deal's loser and winner if they exchange cards. ``begun`` says that play
        has begun, so that no hand has won at once, whatever cards are given.
        """
        super().__init__(rules, seed, number, dealer, step, leader=leader, dealt=dealt)
        if begun:
            self._begin()
        else:
            self._open(exchange)

    # What a seat may do

    def act(self, seat: int, mask: int) -> int:
        """Play the cards of ``mask``, or pass (decline) with 0; return the code played, 0 for a pass.

        In an exchange, return the card. Raise NotInHand, NotAPlay or IllegalHere, and then change nothing.
        """
        if seat != self.turn or not self._plain:
            return self._act_with_care(seat, mask)
        facts = self._facts
        if mask:
            hands = self.hands
            hand = hands[seat]
            code = facts.code(mask) if hand & mask == mask else 0
            # As ``Rules.beats``, and for most rules as ``_play``: calling those would cost 5 % of all play.
            if code <= self._above or self._up_to < code < facts.first_bomb:
                limited = facts.limited
                if not (code and limited and self.to_beat and limited.beats(code, self.to_beat)):
                    raise refusal(self.rules, seat, hand, mask, Constraints(self.to_beat))
            if not facts.goes_round:
                self._play(seat, code, mask)
                return code
            hands[seat] = left = hand ^ mask if facts.one_pack else self.rules.remove(hand, mask)
            self.log.append((seat, mask, 0, False))
            self.to_beat, self.last_seat = code, seat
            self._above, self._up_to = code | facts.full, code | facts.group_full
            self._stronger = facts.stronger.get(code, -1)
            if left and not (facts.losing and left & facts.losing == left):
                self.turn = self._next[seat]
            else:
                self._run_short(seat)
            return code
        if not self.to_beat:
            raise refusal(self.rules, seat, self.hands[seat], 0, Constraints(0))
        if facts.costly:
            self._pass(seat)
            return 0
        self.log.append(_PASSES[seat])
        self.turn = following = self._next[seat]
        if following == self.last_seat:
            self._end_trick()
        return 0

    def act_for_forced(self) -> None:
        """Act for each seat in turn that is ``forced``, until one has a choice or the deal is over."""
        while (seat := self.turn) != NOBODY:
            if not self._plain:
                if not self.forced(seat):
                    return
                self.act(seat, self.default(seat))
            elif self.to_beat:
                if self._can_beat(seat):
                    return
                self.act(seat, 0)
            elif self._holdings.has_several(seat):
                return
            else:
                self.act(seat, self.default(seat))

    def _can_beat(self, seat: int) -> bool:
        """Return whether ``seat``, in a turn on which nothing else bears, can beat the play to beat."""
        if self._stronger != -1:  # so most passes need no listed plays
            return self._stronger & self.hands[seat] != 0
        return len(self.choices(seat)) > 1

    def follow(self, seat: int, mask: int, out_of_turn: bool = False) -> None:
        """Carry out an action from a ``log`` or a record: in a bomb window all other seats decline.

        What a seat did of which not all cards are known is a fact: only what lies on the table bears on it.
        """
        if out_of_turn and self.stage is not BOMBS:
            raise IllegalHere("nothing may be bombed out of turn here")
        if self.stage is BOMBS and not out_of_turn:
            self._decline(self.owing())
        others = [other for other in self.owing() if other != seat]
        if self.hands[seat] > self._facts.full or self.may_lift_ban():
            self._act_with_care(seat, mask, seen=True)
        else:
            self.act(seat, mask)
        if out_of_turn:
            self._decline(others)

    def _decline(self, seats: Iterable[int]) -> None:
        for seat in seats:
            self.act(seat, 0)

    def copy(self) -> "Deal":
        """Return an independent copy."""
        other = Deal.__new__(Deal)
        # One by one, which is twice as fast as a loop over the names: search copies all the time.
        other.rules, other.seed, other.number = self.rules, self.seed, self.number
        other.dealer, other.step, other.leader = self.dealer, self.step, self.leader
        other.dealt, other.opening, other.start = self.dealt, self.opening, self.start
        other._facts, other._next, other._undealt = self._facts, self._next, self._undealt
        other._plain, other.final, other.must_include = self._plain, self.final, self.must_include
        other.stage, other.turn, other.exchange = self.stage, self.turn, self.exchange
        other.over, other.end, other.culprit, other.points = self.over, self.end, self.culprit, self.points
        other._holdings = self._holdings.copy()
        other.hands = other._holdings.hands
        other.to_beat, other.last_seat, other.locked = self.to_beat, self.last_seat, self.locked
        other._above, other._up_to, other._stronger = self._above, self._up_to, self._stronger
        other._window = self._window if self._window is CLOSED else self._window.copy()
        other.log, other.out, other._trick_ends = self.log[:], self.out[:], self._trick_ends[:]
        other.stock = self.stock if self._facts.no_stock is self.stock else self.stock.copy()
        other._guarded = self._guarded
        return other

    def turn_over(self, turned: Callable[[int], int], seed: bytes) -> None:
        """Put other cards in the place of those that are not known (``Stock``), as if they had been dealt.

        ``turned`` returns the mask with these cards, ``seed`` is the one of the deal.
        """
        self.seed = seed
        self.start = tuple(map(turned, self.start))
        self.dealt = self.opening = self.start
        self._holdings = Holdings(self.rules, self._facts, [*map(turned, self.hands)])
        self.hands = self._holdings.hands
        if self._facts.no_stock is None:
            self.stock.turn_over(turned, seed)
            self._undealt = tuple(map(turned, self._undealt))
            self.log = [(seat, mask, turned(drawn), out) for seat, mask, drawn, out in self.log]
        if self._facts.guards:
            self._guarded = tuple([action._replace(hand=turned(action.hand)) for action in self._guarded])
        if self.over:
            self._score()
        else:
            self._ask(self.turn, self.stage)

    def forfeit(self, seat: int) -> None:
        """End the deal without a winner by ``seat``'s forfeit; during an exchange, undo the exchange."""
        if self.over:
            raise IllegalHere("the deal is over")
        if self.stage is EXCHANGE:
            self.exchange, self.leader = None, None
            self._holdings = Holdings(self.rules, self._facts, self.opening)
            self.hands = self._holdings.hands
        self._finish("forfeit", seat)

    # The beginning

    def _open(self, exchange: tuple[int, int] | None) -> None:
        winner = instant_winner(self.rules, self.opening, self.dealer, self.step)
        if winner is not None:
            seat, hand = winner
            self._call_leader()
            self._holdings.play(seat, self.hands[seat])
            self.out.append(seat)
            self._finish("dragon" if hand == "dragon" else "instant_win")
        elif exchange is None:
            self._begin()
        else:
            self._give(*exchange)

    def _give(self, loser: int, winner: int) -> None:
        gift = highest_card(self.rules, self.hands[loser])
        self._move(gift, loser, winner)
        self.exchange = Exchange(loser, winner, gift)
        self._ask(winner, EXCHANGE)

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
        ruleset = self.rules.ruleset
        if ruleset.first_lead == "random":
            self.leader = draw(self.seed, "leader", len(self.hands))
            return 0
        self.leader, card = lead_card(self.rules, self.hands, self.dealer, self.step)
        return card if ruleset.lead_includes_lowest else 0

    def require(self, include: int) -> None:
        """Require the coming lead to contain the card of this mask; 0 for none."""
        self.must_include = include
        self._ask(self.turn)

    # Turns

    def _ask(self, seat: int, stage: Stage = PLAY) -> None:
        """Give the turn to ``seat`` (``NOBODY`` in a bomb window, and when the deal is over)."""
        self.stage, self.turn = stage, seat
        self._plain = (
            (stage is PLAY or stage is BEAT_OWN)
            and not self.must_include
            and not (self._facts.careful and self._is_careful(seat))
        )

    def _act_with_care(self, seat: int, mask: int, *, seen: bool = False) -> int:
        if seat not in self.owing():
            raise IllegalHere("the deal is over" if self.over else f"seat {seat} has no decision to make now")
        if self.stage is EXCHANGE:
            return self._return(seat, mask)
        if self.stage is BOMBS:
            return self._answer(seat, mask)
        constraints, hand = self.constraints(seat), self.hands[seat]
        code = self._seen(seat, mask) if seen else checked(self.rules, seat, hand, mask, constraints)
        if constraints.guarded:
            following = self._after(seat, seat)
            action = Guarded(seat, hand, code, constraints, following, len(self.log))
            self._guarded = (*self._guarded[-1:], action)
        self.must_include = 0
        if code:
            self._play(seat, code, mask)
        else:
            self._pass(seat)
        return code

    def _seen(self, seat: int, mask: int) -> int:
        """Return the code of what a seat was seen to play, 0 for a pass, whatever else it may hold."""
        constraints = Constraints(self.to_beat, self.must_include)
        return checked(self.rules, seat, self.hands[seat], mask, constraints) if mask else 0

    def _play(self, seat: int, code: int, mask: int, out_of_turn: bool = False) -> None:
        left = self._holdings.play(seat, mask)
        self.log.append((seat, mask, 0, out_of_turn))
        self._lay(seat, code)
        facts = self._facts
        if not left or (facts.losing and left & facts.losing == left):
            self._run_short(seat)
        elif self._plain and facts.goes_round:
            self.turn = self._next[seat]
        else:
            self._answered(seat)

    def _run_short(self, seat: int) -> None:
        """Go on after a play that left its seat without cards, or only with such as lose as the last one."""
        if self.hands[seat]:
            if is_last_card(self.rules, self.hands[seat]):
                self._finish("last_top_card", seat)
            else:
                self._answered(seat)
            return
        if not self.out:
            self.final = self.to_beat
        self.out.append(seat)
        ruleset = self.rules.ruleset
        if ruleset.deal_ends == "first_out" or sum(map(bool, self.hands)) == 1:
            self._finish("out")
        elif ruleset.after_out == "next_leads":
            self._end_trick()
        else:
            self._answered(seat)

    def _answered(self, seat: int) -> None:
        """Ask who may answer the play of ``seat``: with a bomb out of turn, then in turn."""
        seats = self._others(seat) if self._facts.windows else []
        if seats:
            self._window = Window(seats)
            self._ask(NOBODY, BOMBS)
        else:
            self._advance(seat)

    def _answer(self, seat: int, mask: int) -> int:
        """Note an answer in a bomb window; after the last one, play the bomb that has precedence or go on."""
        if not mask:
            code = 0
        elif self.hands[seat] > self._facts.full:
            code = self._seen(seat, mask)
        else:
            code = checked(self.rules, seat, self.hands[seat], mask, self.constraints(seat))
        if code and not self.rules.is_bomb(code):
            raise IllegalHere(f"{self.rules.text(mask)} is not a bomb and must wait for its turn")
        window = self._window
        if window.answer(seat, code):
            self._window = CLOSED
            bomb = window.bomb()
            if bomb is not None:
                self._play(*bomb, bomb[1] & self.rules.full, out_of_turn=True)
            else:
                self._advance(self.last_seat)
        return code

    def _pass(self, seat: int) -> None:
        """Pass where more may follow than giving the turn to the next seat."""
        facts = self._facts
        if seat == self.last_seat:
            self.log.append(_PASSES[seat])
            self._end_trick()
            return
        drawn = self._draw(seat) if facts.draws else 0
        self.log.append((seat, 0, drawn, False) if drawn else _PASSES[seat])
        if not self.to_beat:
            self._ask(self._after(seat, seat))
            return
        if facts.pass_locks:
            self.locked |= 1 << seat
        if not facts.goes_round:
            self._advance(seat)
            return
        self.turn = self._next[seat]
        if self.turn == self.last_seat:
            self._end_trick()

    def _draw(self, seat: int) -> int:
        """Draw cards for a pass; return their mask."""
        finished = self._trick_ends[-1] if self._trick_ends else 0
        needed = (self.to_beat & self.rules.full).bit_count() or 1
        count = 1 if self.rules.ruleset.draw_on_pass == "one" else needed
        drawn = self.stock.draw(count, self.log, finished)
        if drawn:
            self._holdings.add(seat, drawn)
        return drawn

    def _advance(self, seat: int) -> None:
        """Give the turn to the next seat after ``seat`` that may beat the last play, or end the trick."""
        last = self.last_seat
        following = self._next[seat]
        if following != last and (self.locked or not self.hands[following]):
            following = self._after(seat, last)
        if following != last:
            self._ask(following)
        elif self._facts.beat_own and self.hands[last]:
            self.locked = (1 << len(self.hands)) - 1
            self._ask(last, BEAT_OWN)
        else:
            self._end_trick()

    def _end_trick(self) -> None:
        self._trick_ends.append(len(self.log))
        self.turn = last = self.last_seat
        self._begin_trick()
        if not self._facts.goes_round:
            self._ask(last if self.hands[last] else self._after(last, last))

    # The end

    def _finish(self, end: str, culprit: int | None = None) -> None:
        self._window = CLOSED
        self._ask(NOBODY, OVER)
        self.over, self.end, self.culprit = True, end, culprit
        self._score()

    def _ignorer(self) -> int | None:
        liable = [action.seat for action in self._guarded if action.is_liable(self.rules, self.log)]
        return liable[0] if liable else None

    def _score(self) -> None:
        """Score the deal, unless cards that are left are not known."""
        if max(self.hands) > self._facts.full:
            return
        end = self.end
        bonuses = end == "out" and self.rules.ruleset.bonuses is not None
        finish = Finish(
            dealer=self.dealer,
            step=self.step,
            leader=self.leader,
            full=self.start,
            left=self.left,
            out=tuple(self.out),
            culprit=self.culprit,
            unplayed=end in ("dragon", "instant_win"),
            final=self.final,
            ignorer=self._ignorer() if end == "out" else None,
            unbeaten=unbeaten(self.rules, self.log, self._trick_ends) if bonuses else (),
            played=sum({1 << entry[0] for entry in self.log if entry[1]})
            if self._facts.asks_who_played
            else 0,
        )
        self.points = score(self.rules, finish)
