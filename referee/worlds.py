"""Deals of which some cards are not known, and their worlds: what these cards may be.

In the deal, every unknown card is a blank (``referee.deals.stock``); a world puts a card in its place. When
its seat plays it, it turns out which card it is; and from what a seat did, which cards it did not hold, as
far as the rules left it no choice.
"""

from collections.abc import Iterator, Sequence
from itertools import count, takewhile
from random import Random
from typing import NamedTuple

from referee.deals.action import NOBODY, Stage
from referee.deals.deal import Deal
from referee.deals.dealing import (
    Dealt,
    has_all_twos,
    highest_card,
    instant_winner,
    is_last_card,
    landmarks,
    lead_card,
    seats_after,
)
from referee.deals.facts import rule_facts, stronger_singles
from referee.deals.stock import Stock, blank
from referee.errors import PositionError
from referee.rules.plays import Rules

PASSED = 0.35
"""How likely a seat is to pass that can beat the play, compared with one that cannot."""
PASSED_TOP = 0.8
"""The same if only cards of the highest rank beat the play, which many bots keep back."""
TRIES = 6
"""How many times the unknown cards are dealt for a world if passes weigh; one of these is chosen."""
ATTEMPTS = 1000
"""How many times they are dealt until no rule would have dealt the hands again, or had another seat lead."""


class Limit(NamedTuple):
    """What a seat did not hold at some time."""

    seat: int
    before: int
    """How many actions had happened: cards drawn with these, or dealt, are meant; 0 for those dealt."""
    lacks: int
    """Mask of the cards, every copy included."""


class Slot(NamedTuple):
    """The place of an unknown card."""

    bit: int
    """The mask of the blank; 0 for a card that is not in the deal."""
    seat: int
    """Who holds it; ``NOBODY`` if it is in the stock or not in the deal."""
    renewal: int
    """With which renewal of the stock it came in; 0 for the cards that were dealt, and the first stock."""
    drawn: int
    """The index of the action with which it was drawn, -1 if it was dealt."""
    lacks: int
    """Mask of the cards that it is not."""


def bits(mask: int) -> Iterator[int]:
    """Yield the bits of a mask, lowest first."""
    while mask:
        yield mask & -mask
        mask &= mask - 1


def left_over(rules: Rules, cards: Sequence[int], known: Sequence[int]) -> list[int]:
    """Return those of these card indices that are in none of the masks, sorted.

    Raise PositionError if the masks have others.
    """
    left = sorted(cards)
    for mask in known:
        for card in rules.cards(mask & rules.full):
            if card not in left:
                raise PositionError(f"{rules.card_text(card)} is there more often than it can be")
            left.remove(card)
    return left


def pools(deal: Deal) -> list[list[int]]:
    """Return the indices of the cards that are not known: those first dealt, then those of each renewal."""
    rules, stock = deal.rules, deal.stock
    first = deal.start if rules.ruleset.leftover != "stock" else (*deal.start, *deal.undealt)
    renewals = zip(stock.aside, stock.renewals, strict=True)
    return [
        left_over(rules, rules.pack, first),
        *[left_over(rules, rules.cards(aside), cards) for aside, cards in renewals],
    ]


def slots_of(deal: Deal, limits: Sequence[Limit]) -> list[Slot]:
    """Return the slots of a deal, by seat, then those of the stock."""
    full = deal.rules.full
    starts = [blank(deal.rules, len(deal.rules.pack))]
    for cards in deal.stock.renewals:
        starts.append(starts[-1] << len(cards))
    drawn = {bit: index for index, entry in enumerate(deal.log) if entry[2] > full for bit in bits(entry[2])}
    slots = []
    for seat, hand in enumerate(deal.hands):
        for bit in bits(hand & ~full):
            since, lacks = drawn.get(bit, -1), 0
            for limit in limits:
                if limit.seat == seat and since < limit.before:
                    lacks |= limit.lacks
            slots.append(Slot(bit, seat, sum([bit >= start for start in starts]), since, lacks))
    stock = [card for card in deal.stock.cards if card > full]
    return slots + [Slot(bit, NOBODY, sum([bit >= start for start in starts]), -1, 0) for bit in stock]


class World(NamedTuple):
    """Hands consistent with what was seen."""

    hands: list[int]
    """The whole hands, as masks by seat."""
    taken: list[int]
    """The cards in these hands that are not known, as masks by seat."""
    cards: list[int]
    """The card in each slot, as masks."""


class Worlds:
    """Samples worlds of one deal."""

    def __init__(self, deal: Deal, limits: Sequence[Limit], leader_has_lowest: bool) -> None:
        """Prepare for ``deal``, which is not changed; ``leader_has_lowest`` says why its leader led."""
        rules = self._rules = deal.rules
        self._deal = deal
        slots = slots_of(deal, limits)
        unknown = pools(deal)
        spare = len(unknown[0]) - sum([slot.renewal == 0 for slot in slots])
        if spare < 0:
            raise PositionError("more cards are hidden than the pack has left")
        slots += [Slot(0, NOBODY, 0, -1, 0)] * spare
        self.slots = tuple(slots)
        """Where the unknown cards are, by seat; last those that are not in the deal."""
        self._pools = [
            ([place for place, slot in enumerate(slots) if slot.renewal == renewal], [*map(self._mask, pool)])
            for renewal, pool in enumerate(unknown)
        ]
        self._is_limited = any(slot.lacks for slot in slots)
        self._known = [hand & rules.full for hand in deal.hands]
        self._ends = [sum([0 <= slot.seat <= seat for slot in slots]) for seat in range(len(deal.hands))]
        self._leader = deal.leader if leader_has_lowest else None
        ruleset = rules.ruleset
        wins = ruleset.dragon != "none" or ruleset.instant_wins
        self._forbids = bool(wins or ruleset.redeal_four_twos)
        self._passes: list[tuple[int, int, int]] | None = None

    def sample(self, random: Random, *, weighs_passes: bool = False) -> World:
        """Draw a world at random: all that agree with what is known are equally likely.

        If it ``weighs_passes``, a seat that passed on a single card is less likely to hold what beats it.
        """
        world = self._dealt(random)
        if not weighs_passes:
            return world
        if self._passes is None:
            self._passes = self._passed()
        total = self._weight(world)
        for _ in range(TRIES - 1 if self._passes else 0):
            other = self._dealt(random)
            weight = self._weight(other)
            total += weight
            if random.random() * total < weight:
                world = other
        return world

    def deal(self, world: World, random: Random) -> Deal:
        """Return the deal in a world; ``random`` gives it a seed for renewals of its stock if it has none."""
        deal, rules = self._deal.copy(), self._rules
        beyond = ~rules.full
        made = {hand & beyond: taken for hand, taken in zip(deal.hands, world.taken, strict=True)}
        cards = dict(zip([slot.bit for slot in self.slots], world.cards, strict=True))

        def turned(mask: int) -> int:
            hidden = mask & beyond
            if not hidden:
                return mask
            if hidden not in made:
                made[hidden] = rules.joined([cards[bit] for bit in bits(hidden)])
            return rules.add(mask ^ hidden, made[hidden])

        deal.turn_over(turned, deal.seed or random.randbytes(32))
        return deal

    def filled(self, taken: Sequence[int], stock: Sequence[int]) -> World:
        """Return the world in which the unknown cards are these, as ``Position.with_cards`` has them."""
        hands = [[*map(self._mask, self._rules.cards(mask))] for mask in taken]
        pile, cards = [*map(self._mask, stock)], []
        for slot in self.slots:
            some = hands[slot.seat] if slot.seat != NOBODY else pile[-1:] if slot.bit else [0]
            if not some:
                raise PositionError("fewer cards than are unknown")
            card = next((card for card in some if not card & slot.lacks), some[0])
            cards.append(card)
            if slot.seat != NOBODY:
                some.remove(card)
            elif slot.bit:
                pile.pop()
        if any(hands):
            raise PositionError("more cards than are unknown")
        return self._world(cards)

    def _mask(self, card: int) -> int:
        return self._rules.mask([card])

    def _world(self, cards: list[int]) -> World:
        rules, taken, place = self._rules, [], 0
        for end in self._ends:
            taken.append(rules.joined(cards[place:end]))
            place = end
        hands = [rules.add(hand, some) for hand, some in zip(self._known, taken, strict=True)]
        return World(hands, taken, cards)

    def _dealt(self, random: Random) -> World:
        for _ in range(ATTEMPTS):
            cards = self._dealt_once(random)
            if not (self._forbids or self._leader is not None) or self._is_possible(cards):
                break
        return self._world(cards)

    def _dealt_once(self, random: Random) -> list[int]:
        chance = random.random
        if len(self._pools) == 1 and not self._is_limited:
            order = {chance(): card for card in self._pools[0][1]}  # faster than shuffling
            return [order[key] for key in sorted(order)]
        cards = [0] * len(self.slots)
        for places, pool in self._pools:
            shuffled = pool[:]
            random.shuffle(shuffled)
            dealt = _limited([self.slots[place].lacks for place in places], shuffled, random)
            for place, card in zip(places, dealt, strict=True):
                cards[place] = card
        return cards

    def _is_possible(self, cards: Sequence[int]) -> bool:
        """Return whether hands like these are played, and led by whoever led."""
        rules, deal = self._rules, self._deal
        starts, place = [], 0
        for first, end in zip(deal.start, self._ends, strict=True):
            dealt = [cards[at] for at in range(place, end) if self.slots[at].drawn < 0]
            starts.append(rules.add(first & rules.full, rules.joined(dealt)))
            place = end
        if self._leader is not None and self._leader != lead_card(rules, starts, deal.dealer, deal.step)[0]:
            return False
        return not self._forbids or any(map(self._goes_on, self._openings(starts)))

    def _goes_on(self, hands: Sequence[int]) -> bool:
        """Return whether play begins with such hands: none wins at once or is dealt again."""
        rules, deal = self._rules, self._deal
        if instant_winner(rules, hands, deal.dealer, deal.step) is not None:
            return False
        return not (rules.ruleset.redeal_four_twos and any(has_all_twos(rules, hand) for hand in hands))

    def _openings(self, starts: Sequence[int]) -> Iterator[Sequence[int]]:
        """Yield the hands that may have been dealt, given those at the start of play, after an exchange."""
        exchange, rules = self._deal.exchange, self._rules
        if exchange is None:
            yield starts
            return
        loser, winner, given, returned = exchange
        if given and returned:
            yield self._undone(starts, given, returned)
            return
        yield starts  # the card that was given came back
        for card in bits(starts[loser] & rules.ones):
            rest = rules.remove(starts[loser], card)
            for highest in bits(starts[winner] & rules.ones):
                if highest_card(rules, rest | highest) == highest:
                    yield self._undone(starts, highest, card)

    def _undone(self, starts: Sequence[int], given: int, returned: int) -> list[int]:
        """Return the hands before an exchange of these cards."""
        exchange, rules, hands = self._deal.exchange, self._rules, list(starts)
        if exchange is not None and given != returned:
            loser, winner = exchange[:2]
            hands[loser] = rules.add(rules.remove(hands[loser], returned), given)
            hands[winner] = rules.add(rules.remove(hands[winner], given), returned)
        return hands

    def _passed(self) -> list[tuple[int, int, int]]:
        """Return, for each pass on a single, the seat and the ordinary and the top cards that beat it."""
        rules, stronger_than = self._rules, stronger_singles(self._rules)
        top, passed, to_beat = rules.tops, [], 0
        hiding = {slot.seat for slot in self.slots}
        for seat, cards, _, _ in self._deal.log:
            if cards:
                to_beat = rules.code(cards)
            elif seat in hiding and (stronger := stronger_than.get(to_beat)):
                passed.append((seat, stronger & ~top, stronger & top))
        return passed

    def _weight(self, world: World) -> float:
        weight, taken = 1.0, world.taken
        for seat, ordinary, top in self._passes or ():
            if taken[seat] & ordinary:
                weight *= PASSED
            elif taken[seat] & top:
                weight *= PASSED_TOP
        return weight


def _limited(lacks: Sequence[int], shuffled: Sequence[int], random: Random) -> list[int]:
    """Return the card of each slot, given what the slots lack.

    Cards that fit in the fewest slots come first, each in any that is free: so all ways to deal them are
    equally likely if, of any two cards, one fits wherever the other does, as is usual.
    """
    fits = {card: sum([not card & lack for lack in lacks]) for card in shuffled}
    cards, free = [0] * len(lacks), [*range(len(lacks))]
    random.shuffle(free)
    for card in sorted(shuffled, key=fits.__getitem__):
        if not _put(card, lacks, cards, free, set()):  # what is known contradicts itself
            cards[free.pop()] = card
    return cards


def _put(card: int, lacks: Sequence[int], cards: list[int], free: list[int], tried: set[int]) -> bool:
    """Put ``card`` in the first free slot that may have it, or in another whose card may go elsewhere."""
    for place in free:
        if not card & lacks[place]:
            cards[place] = card
            free.remove(place)
            return True
    for place, other in enumerate(cards):
        if other and not card & lacks[place] and place not in tried:
            tried.add(place)
            if _put(other, lacks, cards, free, tried):
                cards[place] = card
                return True
    return False


Seen = tuple[int, int, bool]
"""A seat, the mask of what it played, 0 for a pass, and whether that was out of turn."""


def begin(
    rules: Rules,
    seed: bytes,
    dealer: int,
    step: int,
    leader: int,
    hands: Sequence[tuple[int, int]],
    stock: Sequence[int],
    renewals: Sequence[Sequence[int]],
    *,
    at_once: bool,
) -> Deal:
    """Return a deal before the lead, as ``Position.seen`` takes it."""
    numbers = count()
    begun = tuple(_with_blanks(rules, known, hidden, numbers) for known, hidden in hands)
    pile = tuple(card or blank(rules, next(numbers)) for card in stock)
    if len(left_over(rules, rules.pack, (*begun, *pile))) < next(numbers):
        raise PositionError("more cards are hidden than the pack has left")
    planned, first = [], len(rules.pack)
    for cards in renewals:  # the known cards count as in a stock without a plan
        planned.append([card or blank(rules, place) for place, card in enumerate(cards, first)])
        first += len(cards)
    deal = Deal(
        rules, seed, 1, dealer, step, leader=leader, dealt=Dealt(begun, pile, begun), begun=not at_once
    )
    if rules.ruleset.leftover == "stock":
        deal.stock = Stock(rules, seed, pile, planned)
    return deal


def with_played(
    rules: Rules, hands: Sequence[tuple[int, int]], actions: Sequence[Seen]
) -> list[tuple[int, int]]:
    """Return the hands with what was played among the known cards, if no other cards come into hands."""
    if rules.ruleset.leftover == "stock":
        return list(hands)
    played = [0] * len(hands)
    for seat, mask, _ in actions:
        played[seat] = rules.add(played[seat], mask)
    listed = []
    for (known, hidden), mask in zip(hands, played, strict=True):
        new = rules.count(mask & ~known)
        if new > hidden:
            raise PositionError(f"{rules.text(mask & ~known)} cannot all have been in a hand of so few cards")
        listed.append((known | mask, hidden - new))
    return listed


def dealt_limits(deal: Deal, include: int, leader_has_lowest: bool) -> list[Limit]:
    """Return what the hands of a deal before the lead lack, as ``Position.seen`` takes it."""
    rules, hands, leader, limits = deal.rules, deal.start, deal.turn, []
    if deal.exchange is not None and deal.exchange.given:  # the loser's highest card
        rising = landmarks(rules).rising
        above = rising[rising.index(deal.exchange.given & rules.ones) + 1 :]
        limits.append(Limit(deal.exchange.loser, 0, _every(rules, sum(above))))
    if leader_has_lowest and hands[leader] <= rules.full:
        include = next(card for card in landmarks(rules).leading if card & hands[leader])
    if not include:
        return limits
    leading = landmarks(rules).leading
    below = _every(rules, sum(leading[: leading.index(include & rules.ones)]))
    copies = _every(rules, include)
    before = takewhile(lambda seat: seat != leader, seats_after(deal.dealer, deal.step, len(hands)))
    lacks = dict.fromkeys(range(len(hands)), below) | dict.fromkeys(before, below | copies)
    if any(hands[seat] & cards for seat, cards in lacks.items()):
        return limits  # it was not by the lowest card that the leader led
    return limits + [Limit(seat, 0, cards) for seat, cards in lacks.items() if cards]


def carry_out(deal: Deal, limits: list[Limit], seat: int, mask: int, out_of_turn: bool) -> None:
    """Carry out what a seat was seen to do, and add what it tells to ``limits``."""
    if deal.stage is Stage.BOMBS and not out_of_turn:
        for other in deal.owing():
            deal.act(other, 0)
    full = deal.rules.full
    note(deal, limits, mask)
    if seat not in deal.owing() or deal.hands[seat] <= full:
        deal.follow(seat, mask, out_of_turn)
        return
    reveal(deal, limits, seat, mask)
    facts = rule_facts(deal.rules)
    if not facts.careful and not facts.losing:  # what it did tells nothing of the other cards
        deal.follow(seat, mask, out_of_turn)
        return
    lacks, before = _lacks(deal, seat, mask), len(deal.log)
    deal.follow(seat, mask, out_of_turn)
    if lacks and deal.hands[seat] > full:
        limits.append(Limit(seat, before, lacks))
    losing = _every(deal.rules, facts.losing)
    if mask and losing and deal.hands[seat].bit_count() == 1:  # or the deal would be over
        limits.append(Limit(seat, before, losing))


def note(deal: Deal, limits: list[Limit], mask: int) -> None:
    """Add to ``limits`` what the play of the seat in turn, or its pass (0), tells of a ban on last cards."""
    rules = deal.rules
    if not mask and not deal.to_beat:  # which only a ban makes a seat do
        limits += ban_limits(deal)
    elif mask and deal.may_lift_ban() and is_last_card(rules, mask):  # which only the end of one allows
        others = _every(rules, rules.full & ~landmarks(rules).last)
        limits += [
            Limit(other, len(deal.log), others) for other in range(len(deal.hands)) if other != deal.turn
        ]


def reveal(deal: Deal, limits: Sequence[Limit], seat: int, cards: int, among: int = -1) -> None:
    """Put the cards of a mask in the place of unknown ones in a hand, those of ``among``, if not there yet.

    The cards that came in first are taken. Raise PositionError if the seat cannot hold a card.
    """
    rules = deal.rules
    for card in rules.cards(cards & ~(deal.hands[seat] & among)):
        mask, unknown = rules.mask([card]), pools(deal)
        slots = [slot for slot in slots_of(deal, limits) if slot.seat == seat and slot.bit & among]
        fit = [slot for slot in slots if not mask & slot.lacks and card in unknown[slot.renewal]]
        if not fit:
            raise PositionError(f"seat {seat} cannot hold {rules.text(mask)}")
        _turn_over(deal, min(fit, key=lambda slot: slot.drawn).bit, mask)


def lift_ban(deal: Deal, limits: Sequence[Limit]) -> None:
    """Give every seat that has one unknown card a last card such as the rules forbid, which lifts the ban.

    Of the cards that fit, the lowest are taken. Raise PositionError if there are too few.
    """
    rules, last = deal.rules, landmarks(deal.rules).last
    while True:
        unknown = pools(deal)
        fits = [
            (slot.bit, [card for card in masks if card & last & ~slot.lacks])
            for slot in slots_of(deal, limits)
            if slot.seat != NOBODY
            for masks in [[rules.mask([card]) for card in unknown[slot.renewal]]]
        ]
        if not fits:
            return
        bit, cards = min(fits, key=lambda fit: len(fit[1]))
        if not cards:
            raise PositionError("the ban on the last card cannot have been lifted")
        _turn_over(deal, bit, cards[0])


def ban_limits(deal: Deal) -> list[Limit]:
    """Return that a last card of the seat in turn is banned only as another seat holds some other card."""
    rules, banned = deal.rules, _every(deal.rules, rule_facts(deal.rules).banned)
    if not banned or deal.turn < 0 or not is_last_card(rules, deal.hands[deal.turn]):
        return []
    others = [seat for seat, hand in enumerate(deal.hands) if hand and seat != deal.turn]
    single = len(others) == 1 and deal.hands[others[0]].bit_count() == 1
    return [Limit(others[0], len(deal.log), banned)] if single else []


def _with_blanks(rules: Rules, known: int, hidden: int, numbers: "count[int]") -> int:
    return known | sum([blank(rules, next(numbers)) for _ in range(hidden)])


def _turn_over(deal: Deal, bit: int, card: int) -> None:
    add = deal.rules.add
    deal.turn_over(lambda mask: add(mask ^ bit, card) if mask & bit else mask, deal.seed)


def _every(rules: Rules, cards: int) -> int:
    """Return the mask of every copy of these cards."""
    return (cards & rules.ones) * ((1 << rules.decks) - 1)


def _lacks(deal: Deal, seat: int, mask: int) -> int:
    """Return the mask of the cards that a seat cannot hold as it does this, every copy; 0 for none."""
    rules, constraints = deal.rules, deal.constraints(seat)
    to_beat, banned = constraints.to_beat, _every(rules, rule_facts(rules).banned)
    if not mask and not to_beat:
        return rules.full & ~banned  # it could not lead its only card, which may not be the last
    if not constraints.guarded or rules.ruleset.guard != "must" or constraints.include:
        return 0
    stronger = stronger_singles(rules)
    if mask:
        return stronger.get(rules.code(mask), 0)
    lacks = stronger.get(to_beat, 0)
    return lacks & ~banned if deal.hands[seat].bit_count() == 1 else lacks
