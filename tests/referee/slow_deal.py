"""A slow and obvious implementation of a deal, with which the fast one is compared.

Written from the rules alone: cards are tuples, the next seat is recomputed from everything that has happened
in the trick, and legal plays are found by trying every set of cards in the hand.
"""

from dataclasses import dataclass, field

from referee.deals.shuffle import shuffle
from referee.ruleset import Ruleset
from tests.referee.slow_rules import Card, Cards, SlowRules


@dataclass
class Move:
    """One action of the trick that is being played."""

    seat: int
    cards: Cards
    """Empty for a pass."""


@dataclass
class SlowDeal:
    """A deal from the first lead on."""

    ruleset: Ruleset
    seed: bytes
    hands: list[list[Card]]
    stock: list[Card]
    step: int
    turn: int
    include: Card | None
    trick: list[Move] = field(default_factory=list)
    aside: list[Card] = field(default_factory=list)
    restocks: int = 0
    out: list[int] = field(default_factory=list)
    end: str = ""
    window: list[int] = field(default_factory=list)
    bombs: dict[int, Cards] = field(default_factory=dict)
    own: bool = False
    """Whether the seat whose turn it is may beat its own play."""

    def __post_init__(self) -> None:
        self.rules = SlowRules(self.ruleset)

    # Whose turn it is

    def order(self, seat: int) -> list[int]:
        """Return the other seats in order of play, from the next one on."""
        seats = len(self.hands)
        return [(seat + self.step * n) % seats for n in range(1, seats)]

    def plays(self) -> list[Move]:
        return [move for move in self.trick if move.cards]

    def locked(self) -> set[int]:
        if self.own:
            return set(range(len(self.hands)))
        return {move.seat for move in self.trick if not move.cards} if self.ruleset.pass_locks else set()

    def passed_since(self) -> set[int]:
        last = max(index for index, move in enumerate(self.trick) if move.cards)
        return {move.seat for move in self.trick[last:] if not move.cards}

    def next_holder(self, seat: int) -> int | None:
        """Return the next seat in order that holds cards and is not locked out."""
        return next((s for s in self.order(seat) if self.hands[s] and s not in self.locked()), None)

    def owing(self) -> list[int]:
        if self.end:
            return []
        return [seat for seat in self.window if seat not in self.bombs] if self.window else [self.turn]

    # What is legal

    def legal(self, seat: int) -> tuple[set[Cards], bool]:
        """Return the plays that the seat may make, and whether it may pass."""
        plays, may_pass = self.allowed(seat)
        if self.window or self.ruleset.guard != "must" or not self.next_has_one(seat):
            return plays, may_pass
        return self.precaution(seat, plays, may_pass)

    def allowed(self, seat: int) -> tuple[set[Cards], bool]:
        plays = self.rules.plays(tuple(self.hands[seat]))
        if self.trick and self.plays():
            top = self.plays()[-1].cards
            plays = {play for play in plays if self.rules.beats(play, top)}
        if self.include is not None:
            alone = self.ruleset.lead_includes_lowest == "alone"
            plays = {play for play in plays if self.include in play and not (alone and len(play) > 1)}
        if self.window:
            plays = {play for play in plays if self.rules.is_bomb(play)}
        if self.banned(seat):
            plays = set()
        return plays, bool(self.plays()) or not plays

    def banned(self, seat: int) -> bool:
        lifted = all(self.has_a_last_card(other) for other, hand in enumerate(self.hands) if hand)
        return self.ruleset.last_top_card == "cannot_win" and self.has_a_last_card(seat) and not lifted

    def has_a_last_card(self, seat: int) -> bool:
        """Return whether the seat is left with one card of those that the rules about last cards concern."""
        if len(self.hands[seat]) != 1:
            return False
        card, concerned = self.hands[seat][0], self.ruleset.last_cards
        return concerned in card if concerned != "top" else card == self.top

    @property
    def top(self) -> Card:
        return self.rules.one_pack()[-1]

    def next_has_one(self, seat: int) -> bool:
        following = None if self.own else self.next_holder(seat)
        return following is not None and len(self.hands[following]) == 1

    def precaution(self, seat: int, plays: set[Cards], may_pass: bool) -> tuple[set[Cards], bool]:
        several = {play for play in plays if len(play) > 1}
        if not self.plays():
            highest = self.highest({(card,) for card in self.hands[seat]})
            return {play for play in plays if len(play) > 1 or play in highest} or plays, may_pass
        if len(self.plays()[-1].cards) > 1:
            return plays, may_pass
        singles = plays - several
        if not singles:
            return several, True
        return several | self.highest(singles), False

    def highest(self, plays: set[Cards]) -> set[Cards]:
        return {play for play in plays if not any(self.rank(other) > self.rank(play) for other in plays)}

    def rank(self, play: Cards) -> tuple[int, int]:
        return self.rules.number(play[0][0]), self.rules.suit(play)

    # What follows

    def act(self, seat: int, cards: Cards) -> None:
        if self.window:
            self.bombs[seat] = cards
            if not self.owing():
                self.close_window()
        elif cards:
            self.play(seat, cards)
        else:
            self.pass_(seat)

    def play(self, seat: int, cards: Cards) -> None:
        for card in cards:
            self.hands[seat].remove(card)
        self.trick.append(Move(seat, cards))
        self.include = None
        if not self.hands[seat]:
            self.out.append(seat)
            holders = sum(1 for hand in self.hands if hand)
            if self.ruleset.deal_ends == "first_out" or holders == 1:
                self.end = "out"
        if self.ruleset.last_top_card == "loses" and self.has_a_last_card(seat):
            self.end = "last_top_card"
        if self.end:
            return
        if not self.hands[seat] and self.ruleset.after_out == "next_leads":
            self.end_trick()
            return
        if self.ruleset.bombs_out_of_turn and not self.own:
            self.window = [s for s in self.order(seat) if self.hands[s] and s not in self.locked()]
            self.bombs = {}
        if not self.window:
            self.go_on(seat)

    def close_window(self) -> None:
        order, self.window = self.window, []
        bomber = next((seat for seat in order if self.bombs[seat]), None)
        if bomber is not None:
            self.play(bomber, self.bombs[bomber])
        else:
            self.go_on(self.plays()[-1].seat)

    def pass_(self, seat: int) -> None:
        if self.own:
            self.end_trick()
            return
        self.include = None
        leading = not self.plays()
        needed = 1 if leading or self.ruleset.draw_on_pass == "one" else len(self.plays()[-1].cards)
        for _ in range(needed if self.ruleset.draw_on_pass != "none" else 0):
            self.draw(seat)
        if leading:
            self.include = None  # the card stays with the seat that cannot lead it
            self.turn = next(s for s in self.order(seat) if self.hands[s])
        else:
            self.trick.append(Move(seat, ()))
            self.go_on(seat)

    def draw(self, seat: int) -> None:
        if not self.stock and self.ruleset.restock and self.aside and self.restocks < 10:
            self.stock, self.aside = self.aside, []
            shuffle(self.seed, f"restock/{self.restocks}", self.stock)
            self.restocks += 1
        if self.stock:
            self.hands[seat].append(self.stock.pop(0))

    def go_on(self, seat: int) -> None:
        last = self.plays()[-1].seat
        barred = self.locked() | self.passed_since() | {last}
        waiting = [s for s in [*self.order(seat), seat] if self.hands[s] and s not in barred]
        if waiting:
            self.turn = waiting[0]
        elif self.ruleset.beat_own and self.hands[last]:
            self.own, self.turn = True, last
        else:
            self.end_trick()

    def end_trick(self) -> None:
        last = self.plays()[-1].seat
        for move in self.plays():
            self.aside += sorted(move.cards, key=self.canonical)
        self.trick, self.own = [], False
        self.turn = last if self.hands[last] else next(s for s in self.order(last) if self.hands[s])

    def canonical(self, card: Card) -> tuple[int, int]:
        return self.rules.number(card[0]), "DCHSBR".index(card[1])
