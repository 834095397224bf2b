"""One deal as a state machine: sans-I/O, every rule of docs/rulesets.md, and the hot path of all local play.

Each hand's plays are one ascending list of codes, listed when they are first asked for and then only
filtered, when the list is looked at as a whole; what beats a play is a slice of it. While no rare rule bears
on the seat in turn (``_plain``), its decision is answered from that list alone; for all others see
``referee.deals.options``.
"""

from bisect import bisect, bisect_left

from referee.deals.action import NOBODY, Action, Entry, Exchange, Stage
from referee.deals.course import course_of
from referee.deals.dealing import (
    Dealt,
    deal_cards,
    dragon_holder,
    highest_card,
    landmarks,
    lowest_card,
    next_seats,
    seats_after,
)
from referee.deals.liability import Liability
from referee.deals.options import Options, Position, allowed, checked, ignores_precaution, refusal
from referee.deals.scoring import Finish, score
from referee.deals.stock import Stock
from referee.deals.tricks import unbeaten
from referee.deals.window import Window
from referee.errors import IllegalHere
from referee.rules.plays import Rules

__all__ = ["NOBODY", "Action", "Deal", "Exchange", "Stage"]

_PASSES: tuple[Entry, ...] = tuple((seat, 0, 0, False) for seat in range(8))
_ALONE = tuple((seat,) for seat in range(8))
_CLOSED = Window(())
_DECLINE = Options([], True)
_NOBODY_LIABLE = Liability()
# Looking up a member of an enum takes longer than most of what an action does.
_EXCHANGE, _PLAY, _BOMBS = Stage.EXCHANGE, Stage.PLAY, Stage.BOMBS


class Deal:
    """One distribution of cards, played to its end. Hands and cards are masks, plays codes of ``rules``."""

    # fmt: off
    __slots__ = (
        "_course", "_final", "_gone", "_liability", "_lists", "_locked", "_next",
        "_plain", "_short", "_trick_ends", "_undealt", "_window",
        "culprit", "dealer", "dealt", "end", "exchange", "hands", "last_seat", "leader", "log",
        "must_include", "number", "opening", "out", "over", "points", "rules", "seed", "stage",
        "start", "step", "stock", "to_beat", "turn",
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
        self.hands = list(self.opening)
        self.start = self.opening
        """Hands as the play begins: with leftover cards and after an exchange."""
        self.exchange: Exchange | None = None
        self.leader = leader
        """Who leads; None while an exchange may still move the lowest card, and after a forfeit then."""
        self.stage, self.turn = _PLAY, NOBODY
        self.to_beat, self.last_seat = 0, NOBODY
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
        self._course = course = course_of(rules)
        self.stock = Stock(rules, seed, self._undealt) if course.no_stock is None else course.no_stock
        self._next = next_seats(step, len(self.hands))
        self._lists: list[list[int] | None] = [None] * len(self.hands)
        # By seat: what has left the hand since its plays were listed or filtered.
        self._gone = [0] * len(self.hands)
        self._plain = False
        self._locked = self._final = 0
        # The seats, as bits, whose lists have the plays of up to three cards only.
        self._short = 0
        self._window = _CLOSED
        self._liability = Liability() if course.guards else _NOBODY_LIABLE
        self._trick_ends: list[int] = []
        self._open(exchange)

    # What a seat may ask

    def asked(self) -> tuple[int, ...]:
        """Return the seats that owe a decision: the one in turn, or all that may still bomb out of turn."""
        return _ALONE[self.turn] if self.turn != NOBODY else self._window.waiting

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
            return self._careful_choices(seat)
        plays = self._lists[seat]
        if plays is None or self._gone[seat]:
            plays = self._plays(seat)
        if not self.to_beat:
            return plays[:]
        course = self._course
        low = bisect(plays, self.to_beat | course.full)
        high = bisect(plays, self.to_beat | course.group, low)
        if course.bombs and plays[-1] >= course.first_bomb:
            return [*plays[low:high], *plays[bisect_left(plays, course.first_bomb, high) :], 0]
        if low == high:
            return [0]
        found = plays[low:high]
        found.append(0)
        return found

    def can_pass(self, seat: int) -> bool:
        """Return whether ``seat`` may pass now (decline, in a bomb window)."""
        if seat == self.turn and self._plain:
            return self.to_beat != 0
        return seat in self.asked() and (self.stage is _BOMBS or self._options(seat).may_pass)

    def is_plain(self, seat: int) -> bool:
        """Return whether it is the turn of ``seat``, and nothing but the play to beat bears on it."""
        return seat == self.turn and self._plain

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
        cards = [code & self._course.full for code in self.legal(seat)]
        if not cards:
            raise IllegalHere(f"seat {seat} has no decision to make now")
        singles = [mask for mask in cards if self.rules.count(mask) == 1]
        return singles[0] if singles else min(cards, key=self.rules.cards)

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
        course, to_beat = self._course, self.to_beat
        if mask:
            code = 0 if mask & ~self.hands[seat] else course.code(mask)
            # As ``rules.beats``, without a call.
            if not code or (
                to_beat
                and (code <= to_beat | course.full or to_beat | course.group < code < course.first_bomb)
            ):
                raise refusal(self.rules, seat, self.hands[seat], mask, Position(to_beat))
            self._play(seat, code, mask)
            return code
        if not to_beat:
            raise refusal(self.rules, seat, self.hands[seat], 0, Position(0))
        if course.costly:
            self._pass(seat)
            return 0
        self.log.append(_PASSES[seat])
        self.turn = following = self._next[seat]
        if following == self.last_seat:
            self._end_trick()
        return 0

    def act_for_forced(self) -> None:
        """Act for each seat in turn that is ``forced``, until one has a choice or the deal is over."""
        course = self._course
        while not self.over and self.turn != NOBODY:
            seat = self.turn
            if not self._plain or not self.to_beat:
                if self._plain and course.one_pack and self.hands[seat].bit_count() > 1:
                    return  # each of its cards is a play
                if not self.forced(seat):
                    return
                self.act(seat, self.default(seat))
                continue
            # As ``forced`` and ``act``, for nearly all: about every third action is one of these.
            stronger = course.stronger.get(self.to_beat)
            if stronger is None or (course.bombs and not stronger & self.hands[seat]):
                if self._may_follow(seat):
                    return
            elif stronger & self.hands[seat]:  # to follow a single, no plays need to be listed
                return
            if course.costly:
                self._pass(seat)
                continue
            self.log.append(_PASSES[seat])
            self.turn = following = self._next[seat]
            if following == self.last_seat:
                self._end_trick()

    def _may_follow(self, seat: int) -> bool:
        """Return whether ``seat`` holds a play that beats the last one, where nothing else bears on it."""
        plays, course = self._lists[seat], self._course
        if plays is None:
            plays = self._plays(seat)
        gone = self._gone[seat]
        end = self.to_beat | course.group
        for index in range(bisect(plays, self.to_beat | course.full), len(plays)):
            code = plays[index]
            if code > end:
                break
            if not code & gone:  # mostly the first: so the plays are not filtered for this
                return True
        if self.to_beat >= course.first_bomb or plays[-1] < course.first_bomb:
            return False  # among bombs, nothing beats but what was looked at
        return self._plays(seat)[-1] >= course.first_bomb

    def forfeit(self, seat: int) -> None:
        """End the deal without a winner by ``seat``'s forfeit; one in an exchange undoes that."""
        if self.over:
            raise IllegalHere("the deal is over")
        if self.stage is _EXCHANGE:
            self.exchange, self.leader = None, None
            self.hands = list(self.opening)
        self._finish("forfeit", seat)

    # The beginning

    def _open(self, exchange: tuple[int, int] | None) -> None:
        holder = None
        if self.rules.ruleset.dragon == "wins":
            holder = dragon_holder(self.rules, self.opening, self.dealer, self.step)
        if holder is not None:
            self._call_leader()
            self.hands[holder] = 0
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
        self.stage, self.turn = Stage.EXCHANGE, winner

    def _return(self, winner: int, mask: int) -> int:
        assert self.exchange is not None
        if self.rules.count(mask) != 1:
            raise IllegalHere("one card must be returned in the exchange")
        if mask & ~self.hands[winner]:
            raise refusal(self.rules, winner, self.hands[winner], mask, Position(0))
        self._move(mask, winner, self.exchange.loser)
        self.exchange = self.exchange._replace(returned=mask)
        self._begin()
        return self._course.code(mask)

    def _move(self, card: int, giver: int, taker: int) -> None:
        self.hands[giver] = self.rules.remove(self.hands[giver], card)
        self.hands[taker] = self.rules.add(self.hands[taker], card)
        self._lists[giver] = self._lists[taker] = None

    def _begin(self) -> None:
        self.start = tuple(self.hands)
        self.must_include = self._call_leader()
        assert self.leader is not None
        self._lead(self.leader)
        if self.must_include:
            self._plain = False

    def _call_leader(self) -> int:
        """Settle who leads; return the card that the lead must contain, 0 for none."""
        if self.leader is not None:
            return 0
        self.leader, card = lowest_card(self.rules, self.hands, self.dealer, self.step)
        return card if self.rules.ruleset.lead_includes_lowest else 0

    # Turns

    def _lead(self, seat: int) -> None:
        self.stage, self.turn, self._locked = _PLAY, seat, 0
        self._clear(seat)
        self._plain = not self._course.careful or not self._needs_care(seat)

    def _clear(self, seat: int) -> None:
        """Take the play to beat away, for ``seat`` to lead."""
        self.to_beat, self.last_seat = 0, NOBODY
        if self._short >> seat & 1:
            self._forget_short(1 << seat)

    def _play(self, seat: int, code: int, mask: int, out_of_turn: bool = False) -> None:
        course = self._course
        gone = mask
        hand = self.hands[seat]
        left = hand ^ mask
        if not course.one_pack:
            left = self.rules.remove(hand, mask)
            gone = hand ^ left
        self.hands[seat] = left
        self._gone[seat] |= gone
        if self._short and mask.bit_count() > 3:
            self._forget_short(self._short)
        self.log.append((seat, mask, 0, out_of_turn))
        self.to_beat, self.last_seat = code, seat
        if not left or left == course.losing:
            self._run_short(seat)
        elif course.goes_round:
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
        asked = self._who_may_bomb(seat) if self._course.windows else []
        if asked:
            self._window = Window(asked)
            self.stage, self.turn, self._plain = _BOMBS, NOBODY, False
        else:
            self._advance(seat)

    def _pass(self, seat: int) -> None:
        if seat == self.last_seat:
            self.log.append(_PASSES[seat])
            self._end_trick()
            return
        drawn = self._draw(seat, (self.to_beat & self._course.full).bit_count()) if self._course.draws else 0
        if self._course.pass_locks:
            self._locked |= 1 << seat
        self.log.append((seat, 0, drawn, False) if drawn else _PASSES[seat])
        if not self._course.goes_round:
            self._advance(seat)
            return
        self.turn = following = self._next[seat]
        if following == self.last_seat:
            self._end_trick()

    def _advance(self, seat: int) -> None:
        """Give the turn to the next after ``seat`` that may still beat the last play, or end the trick."""
        order, last = self._next, self.last_seat
        seat = order[seat]
        while seat != last and (not self.hands[seat] or self._locked >> seat & 1):
            seat = order[seat]
        if seat == last and not (self._course.beat_own and self.hands[last]):
            self._end_trick()
            return
        if seat == last:
            self.stage, self._locked = Stage.BEAT_OWN, (1 << len(order)) - 1
        self.turn = seat
        self._plain = not self._course.careful or not self._needs_care(seat)

    def _end_trick(self) -> None:
        self._trick_ends.append(len(self.log))
        seat = self.last_seat
        if self._course.goes_round:
            self._clear(seat)
            return
        while not self.hands[seat]:
            seat = self._next[seat]
        self._lead(seat)

    # Turns that a rare rule bears on

    def _careful_choices(self, seat: int) -> list[int]:
        if seat not in self.asked():
            return []
        if self.must_include and not (
            self._course.careful and self._needs_care(seat)
        ):  # the first lead of most deals
            return [play for play in self._plays(seat) if play & self.must_include]
        plays, may_pass = self._options(seat)
        return [*plays, 0] if may_pass or self.stage is _BOMBS else plays[:]

    def _plays(self, seat: int) -> list[int]:
        plays = self._lists[seat]
        if plays is None:
            # Where hands are listed anew all the time, only what can be of use in this trick is listed.
            course = self._course
            if course.draws and 0 < (self.to_beat & course.full).bit_count() < 4 and not course.bombs:
                self._short |= 1 << seat
                plays = self.rules.list_short(self.hands[seat])
            else:
                plays = self.rules.list_plays(self.hands[seat])
        elif self._gone[seat]:
            gone, listed, plays = self._gone[seat], plays, []
            for play in listed:  # on lists this short, quicker than a comprehension
                if not play & gone:
                    plays.append(play)
        else:
            return plays
        self._lists[seat], self._gone[seat] = plays, 0
        return plays

    def _forget_short(self, seats: int) -> None:
        """Have the hands of ``seats`` (bits), whose lists lack the longer plays, listed anew."""
        self._short &= ~seats
        for seat in range(len(self.hands)):
            if seats >> seat & 1:
                self._lists[seat] = None

    def _options(self, seat: int) -> Options:
        plays = self._plays(seat)
        if self.stage is _EXCHANGE:
            return Options([play for play in plays if self.rules.count(play & self._course.full) == 1], False)
        if self.stage is _BOMBS:
            least = max(self.to_beat | self._course.full, self._course.first_bomb - 1)
            plays = plays[bisect(plays, least) :]
            if not plays:
                return _DECLINE
        return allowed(self.rules, plays, self.position(seat))

    def position(self, seat: int) -> Position:
        """Return what bears on the decision of ``seat``, if it owes one."""
        banned = 0
        # The ban is lifted if all who hold cards hold just that card.
        if self.hands[seat] == self._course.banned and any(
            hand and hand != self._course.banned for hand in self.hands
        ):
            banned = self._course.banned
        guarded = self.stage is _PLAY and self._guarded(seat)
        return Position(self.to_beat, self.must_include, banned, guarded)

    def _needs_care(self, seat: int) -> bool:
        return self.hands[seat] == self._course.banned or self._guarded(seat)

    def _guarded(self, seat: int) -> bool:
        """Return whether the next seat that holds cards and is not locked out has one card."""
        if not self._course.guards:
            return False
        following = self._following(seat)
        return following != seat and self.rules.count(self.hands[following]) == 1

    def _following(self, seat: int) -> int:
        following = self._next[seat]
        while following != seat and (not self.hands[following] or self._locked >> following & 1):
            following = self._next[following]
        return following

    def _act_with_care(self, seat: int, mask: int) -> int:
        if seat not in self.asked():
            raise IllegalHere("the deal is over" if self.over else f"seat {seat} has no decision to make now")
        if self.stage is _EXCHANGE:
            return self._return(seat, mask)
        if self.stage is _BOMBS:
            return self._answer(seat, mask)
        if self.must_include & mask and not self._course.careful and not mask & ~self.hands[seat]:
            code = self._course.code(mask)
            if code:  # the first lead of most deals
                self._plain, self.must_include = True, 0
                self._play(seat, code, mask)
                return code
        turn = self.position(seat)
        code = checked(self.rules, seat, self.hands[seat], mask, turn)
        if ignores_precaution(self.rules, self.hands[seat], code, turn):
            self._liability.ignored(seat, self._following(seat), len(self.log))
        self._plain, self.must_include = True, 0
        if code:
            self._play(seat, code, mask)
        elif self.to_beat:
            self._pass(seat)
        else:
            self.log.append((seat, 0, self._draw(seat, 1) if self._course.draws else 0, False))
            self._lead(self._following(seat))
        return code

    def _draw(self, seat: int, needed: int) -> int:
        """Draw for a pass where ``needed`` cards were to be played; return the mask of the cards drawn."""
        finished = self._trick_ends[-1] if self._trick_ends else 0
        wanted = 1 if self.rules.ruleset.draw_on_pass == "one" else needed
        drawn = self.stock.draw(wanted, self.log, finished)
        if drawn:
            hand = self.hands[seat]
            self.hands[seat] = hand | drawn if self._course.one_pack else self.rules.add(hand, drawn)
            self._lists[seat] = None
        return drawn

    def _who_may_bomb(self, seat: int) -> list[int]:
        others = seats_after(seat, self.step, len(self.hands))[:-1]
        return [other for other in others if self.hands[other] and not self._locked >> other & 1]

    def _answer(self, seat: int, mask: int) -> int:
        """Note an answer in a bomb window; with the last one, play the bomb that has precedence or go on."""
        code = checked(self.rules, seat, self.hands[seat], mask, self.position(seat)) if mask else 0
        if code and not self.rules.is_bomb(code):
            raise IllegalHere(f"{self.rules.text(mask)} is no bomb and must wait for its turn")
        if self._window.answer(seat, code):
            bomb = self._window.bomb()
            self.stage, self._plain, self._window = _PLAY, True, _CLOSED
            if bomb is not None:
                self._play(*bomb, bomb[1] & self._course.full, out_of_turn=True)
            else:
                self._advance(self.last_seat)
        return code

    # The end

    def _finish(self, end: str, culprit: int | None = None) -> None:
        self.stage, self.turn, self._plain = Stage.OVER, NOBODY, False
        self.over, self.end, self.culprit, self._window = True, end, culprit, _CLOSED
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
            ignorer=self._liability.payer(self.rules, self.actions)
            if self._course.guards and end == "out"
            else None,
            unbeaten=unbeaten(self.rules, self.actions, self._trick_ends) if bonuses else (),
        )
        self.points = score(self.rules, finish)
