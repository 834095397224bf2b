"""Deals seen in part: begun with cards that are not known, and gone on with by what the seats did.

Every unknown card is a blank (``referee.deals.stock``). When its seat plays it, it turns out which card it
is; and from what a seat did, which cards it did not hold, as far as the rules left it no choice.
"""

from collections.abc import Sequence
from itertools import count, takewhile

from referee.deals.action import NOBODY, Stage
from referee.deals.deal import Deal
from referee.deals.dealing import Dealt, is_last_card, landmarks, seats_after
from referee.deals.facts import rule_facts, stronger_singles
from referee.deals.stock import Stock, blank
from referee.errors import PositionError
from referee.rules.plays import Rules
from referee.worlds import Limit, left_over, pools, slots_of

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
