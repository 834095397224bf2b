"""Chances: the turns of a deal at which a bot could have beaten another one's play at no cost.

Every policy of the reference beats it, and one of them with a play that takes no combination of the hand
apart. ``arena.core.softplay`` says what follows from how often bots pass them; it loads no rules.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from arena.core.softplay import Chances, Key
from referee.deals.deal import Deal
from referee.deals.state import BOMBS, PLAY
from referee.records.reading import Record, read_record
from referee.records.record import full_record, parse_action
from referee.records.replay import is_played_for, start
from referee.reference.values import policies_of
from referee.rules.plays import Rules

FEW = 3
"""With so few cards the other one may go out soon."""
OWN = (5, 9)
"""So many cards of its own are few, and some; more are many."""
FEWEST = (4, 8)
"""The same of the fewest cards that anybody holds."""
FOLLOWING = 5
"""So many cards of the next seat are few."""
LONG = 4
"""Plays of so many cards and more are alike."""
MOST_PLAYERS = 8


class Chance(NamedTuple):
    """A turn at which a seat could have beaten another one's play at no cost."""

    action: int
    """The index of the action in its deal."""
    seat: int
    other: int
    """The seat whose play it was."""
    situation: int
    """What the turn was like (``_situation``)."""
    passed: bool
    """Whether it gave way."""


def count_chances(
    ruleset: Mapping[str, object], records: Iterable[Mapping[str, Any]]
) -> list[tuple[int, int, int, int, int]]:
    """Return the chances in a session's lean records, in order: seat, other seat, situation, number, passed.

    Raise RefereeError if a record cannot be followed.
    """
    counts: dict[Key, Chances] = {}
    for lean in records:
        seats = [f"bots/{seat}@1" for seat in range(len(lean["hands"]))]
        record = full_record(
            lean, ruleset=ruleset, tournament="any", round=1, table=1, session=1, seats=seats
        )
        for one in chances(read_record(record)):
            counts.setdefault((one.seat, one.other, one.situation), Chances()).add(1, one.passed)
    return [(*key, one.chances, one.passed) for key, one in sorted(counts.items())]


def chances(record: Record) -> Iterator[Chance]:
    """Yield the chances of a deal in order, without actions of a seat whose bot has left.

    A pass that was made for a bot because of its fault is its own, or faults would hide that it gave way.

    Raise RecordError, CardError or PlayError if the record cannot be followed.
    """
    rules, deal = record.rules, start(record, None)
    policies, full = policies_of(rules), rules.full
    paired = rules.ruleset.partners != "none"
    leader = deal.turn
    for index, text in enumerate(record.actions):
        seat, cards, out_of_turn = parse_action(rules, text)
        if deal.stage is BOMBS and not out_of_turn:
            for one in deal.owing():
                deal.act(one, 0)
        other = deal.last_seat
        opposed = not paired or (seat - other) % 2
        if deal.stage is PLAY and deal.to_beat and deal.hands[other] and opposed:
            choices = deal.choices(seat)
            if len(choices) > 1 and not choices[-1] and _is_own(record, index, seat):
                picks = {policy(choices, deal.hands, seat) & full for policy in policies}
                if 0 not in picks and _costs_nothing(rules, deal.hands[seat], picks):
                    yield Chance(index, seat, other, _situation(deal, leader, seat, picks), not cards)
        if not deal.to_beat:
            leader = seat
        deal.follow(seat, cards, out_of_turn)


def _situation(deal: Deal, leader: int, seat: int, picks: Iterable[int]) -> int:
    """Return what a turn of ``seat`` is like at which ``picks`` would beat the last play of a trick.

    Situations nest (``arena.core.softplay``). The widest say whether the other one has few cards left,
    whether nobody has fewer, and whether a play that beats it contains one of the highest third of the ranks;
    those within them, how many cards it played and where it sits; the narrowest, how high the play that beats
    it is, how many cards are held by the seat itself, by the next one, by that with the fewest, whether the
    other one holds fewer than the seat, and whether it led the trick.
    """
    rules, other, players = deal.rules, deal.last_seat, len(deal.hands)
    held = [rules.count(hand) for hand in deal.hands]
    left, own, fewest = held[other], held[seat], min(filter(None, held))
    ranks = len(rules.rank_masks)
    top = max(at for at, mask in enumerate(rules.rank_masks) if any(cards & mask for cards in picks))
    below = ranks - 1 - top
    widest = 4 * (left <= FEW) + 2 * (left == fewest) + (below < ranks // 3)
    size = min(rules.count(deal.to_beat & rules.full), LONG)
    place = (other - seat) % players
    middle = (widest * LONG + size - 1) * (MOST_PLAYERS - 1) + place - 1
    narrow = min((below + 1) // 2, 6) * 6 + 2 * bisect_left(OWN, own) + (leader == other)
    following = held[(seat + deal.step) % players]
    cards = 4 * bisect_left(FEWEST, fewest) + 2 * (left < own) + (following <= FOLLOWING)
    return (middle * 42 + narrow) * 12 + cards


def _is_own(record: Record, index: int, seat: int) -> bool:
    """Return whether a seat's bot was asked for the action of this index."""
    return not any(
        forfeit["seat"] == seat and is_played_for(forfeit, record.deal, index, record.faults)
        for forfeit in record.played_for
    )


def _costs_nothing(rules: Rules, hand: int, picks: Iterable[int]) -> bool:
    """Return whether after one of these plays the hand needs fewer plays than before."""
    full = rules.full
    plays = [
        code & full
        for code in sorted(rules.list_plays(hand), key=lambda code: (-(code & full).bit_count(), code))
    ]
    needed = _plays_needed(rules, hand, plays)
    return any(_plays_needed(rules, rules.remove(hand, cards), plays) < needed for cards in picks)


def _plays_needed(rules: Rules, hand: int, plays: Iterable[int]) -> int:
    """Return about how many of ``plays``, the largest of which come first, it takes to play out a hand."""
    needed = 0
    for cards in plays:
        if not cards & ~hand:
            hand = rules.remove(hand, cards)
            needed += 1
    return needed
