"""What the cards of a deal were worth to each seat: the points that fixed policies make of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from referee.deals.deal import Deal
from referee.deals.session import Setup, direction, lowest_leads
from referee.deals.shuffle import words
from referee.deals.state import EXCHANGE, PLAY
from referee.memo import Memo
from referee.rules.plays import Rules

Policy = Callable[[Sequence[int], Sequence[int], int], int]
"""Return the code that a seat plays, 0 for a pass.

The arguments are what it may do (codes, ascending, and finally 0 if it may pass), all hands, and the seat."""

STRONG = ("bare_quads", "quads", "straight_flush", "royal_flush", "straight_flush_plus_two")
"""The kinds that keeper keeps."""
FEW_OWN = 6
"""With so few cards keeper keeps nothing back."""
FEW = 3
"""Nor does it when any seat has so few."""


@lru_cache(maxsize=32)
def policies_of(rules: Rules) -> tuple[Policy, ...]:
    """Return the policies by number; how many they are is a power of two."""
    full = rules.full
    top = rules.rank_masks[len(rules.ruleset.ranks) - 1]
    size = Memo[int, int](lambda code: (code & full).bit_count()).__getitem__
    gives_nothing_away = Memo[int, bool](
        lambda code: not code & top and (not code or rules.kind(code) not in STRONG)
    ).__getitem__

    def greedy(choices: Sequence[int], _hands: Sequence[int], _seat: int) -> int:
        """Make the weakest of the plays with the most cards."""
        return max(choices, key=size)

    def keeper(choices: Sequence[int], hands: Sequence[int], seat: int) -> int:
        """Make the weakest of those with the most cards that give nothing away, until the end is near."""
        if hands[seat].bit_count() > FEW_OWN and min(map(int.bit_count, hands)) > FEW:
            choices = list(filter(gives_nothing_away, choices)) or choices
        return max(choices, key=size)

    return greedy, keeper


class Reference(NamedTuple):
    """What identifies a reference, whose values of a deal never change."""

    name: str
    plays: int
    """How often it plays each deal."""
    parts: int
    """The parts of a point in which it states values, and the deals that say what a place is worth."""
    hash: str
    """SHA-256 of the file of test vectors."""


REFERENCE = Reference(
    name="reference-1",
    plays=16,
    parts=4096,
    hash="13888ad9ea027f71ea87524a4ff3b21788b2466d24a65922642b3326774c57f5",
)

ODDS = 16
"""One choice out of so many is made at random."""

MOST_CHOICES = 2000
"""The most choices that a play may have on average if a ruleset is to have a reference. No preset reaches
1,000, and a choice takes one to two microseconds."""

MEASURED = 8
"""In how many deals choices are counted."""

PIECES = 16
"""In how many pieces it is computed what a place is worth: each is some seconds at most."""

_UNBOUNDED = 1 << 60

Places: TypeAlias = Callable[[Rules, Setup], tuple[int, ...]]
"""Returns what places are worth in a setup whose dealer is seat 0, as ``place_of`` does."""


@lru_cache(maxsize=32)
def has_reference(rules: Rules) -> bool:
    """Return whether a ruleset has few enough plays for a reference (``MOST_CHOICES``).

    Counted are the plays of the hands dealt, and those among which each decision chooses.
    """
    left, setup = MEASURED * MOST_CHOICES, Setup(0, direction(rules.ruleset, 1), None, None)
    for number in range(MEASURED):
        seed = _place_seed(number)
        for hand in Deal(rules, seed, 1, 0, setup.step).hands:
            left -= len(rules.list_plays(hand))
            if left < 0:
                return False
        left -= _play(begin(rules, seed, setup), _place_chances(seed), left)[1]
    return left >= 0


def reference_values(
    rules: Rules, seed: bytes, setup: Setup, places: Places | None = None
) -> tuple[int, ...]:
    """Return what a deal's cards were worth, by seat, in parts of a point (``REFERENCE.parts``).

    That is the mean of its points in all plays, less what its place is worth (``place_values``): before the
    cards are dealt, the same is expected of every seat. What ``places`` raises is raised before the first
    play.
    """
    weight, values = REFERENCE.parts // REFERENCE.plays, place_values(rules, setup, places)
    sums = map(sum, zip(*reference_points(rules, seed, setup), strict=True))
    return tuple([total * weight - place for total, place in zip(sums, values, strict=True)])


def reference_points(rules: Rules, seed: bytes, setup: Setup) -> list[tuple[int, ...]]:
    """Return the points of each play of a deal, by seat."""
    deal = begin(rules, seed, setup)
    return [play_out(deal, words(seed, f"{REFERENCE.name}/{play}")) for play in range(REFERENCE.plays)]


def deal_values(deal: Deal) -> tuple[int, ...]:
    """Return the same for a deal at any stage."""
    exchange = None if deal.exchange is None else (deal.exchange.loser, deal.exchange.winner)
    setup = _setup(deal.rules, deal.number, deal.dealer, deal.leader, exchange)
    return reference_values(deal.rules, deal.seed, setup)


def record_values(rules: Rules, record: Mapping[str, Any], places: Places | None = None) -> tuple[int, ...]:
    """Return the same for a record, complete or lean, which must be right."""
    exchange = record.get("exchange")
    seats = None if exchange is None else (exchange["loser"], exchange["winner"])
    setup = _setup(rules, record["deal"], record["dealer"], record["leader"], seats)
    return reference_values(rules, bytes.fromhex(record["seed"]), setup, places)


def place_values(rules: Rules, setup: Setup, places: Places | None = None) -> tuple[int, ...]:
    """Return what the places of a deal are worth before the cards are dealt, by seat, in parts of a point.

    They differ only if earlier deals settle who leads or exchanges cards, or if hands differ in size. They
    add up to nearly nothing. ``places`` computes them, if they differ; else they are computed at once.
    """
    dealer, players = setup.dealer, rules.ruleset.players
    is_even = rules.ruleset.hand_size != "all" or len(rules.pack) % players == 0
    if setup.leader is None and setup.exchange is None and is_even:
        return (0,) * players
    values = (places or _places)(rules, _turned(setup, players))
    return tuple([values[(seat - dealer) % players] for seat in range(players)])


def _setup(
    rules: Rules, number: int, dealer: int, leader: int | None, exchange: tuple[int, int] | None
) -> Setup:
    """Return how a deal began, given who led it at last."""
    ruleset = rules.ruleset
    settled = None if lowest_leads(ruleset, number) else leader
    return Setup(dealer, direction(ruleset, number), settled, exchange)


def _turned(setup: Setup, players: int) -> Setup:
    """Return a setup with the seats turned, so that the dealer is seat 0."""
    dealer, step, leader, exchange = setup
    if leader is not None:
        leader = (leader - dealer) % players
    if exchange is not None:
        exchange = (exchange[0] - dealer) % players, (exchange[1] - dealer) % players
    return Setup(0, step, leader, exchange)


@lru_cache(maxsize=1024)
def _places(rules: Rules, setup: Setup) -> tuple[int, ...]:
    return place_of([place_piece(rules, setup, piece) for piece in range(PIECES)])


def place_piece(rules: Rules, setup: Setup, piece: int) -> list[int]:
    """Return the sums of the points, by seat, of one play each of a piece of the deals that say what a place
    is worth; the dealer is seat 0.
    """
    totals, deals = [0] * rules.ruleset.players, REFERENCE.parts // PIECES
    for number in range(piece * deals, (piece + 1) * deals):
        seed = _place_seed(number)
        points = play_out(begin(rules, seed, setup), _place_chances(seed))
        totals = [total + more for total, more in zip(totals, points, strict=True)]
    return totals


def place_of(pieces: Iterable[Sequence[int]]) -> tuple[int, ...]:
    """Return what places are worth, given all pieces: the means of the same deals for all, less the table's
    mean, rounded down.
    """
    totals = [sum(column) for column in zip(*pieces, strict=True)]
    mean = sum(totals) // len(totals)
    return tuple([total - mean for total in totals])


def _place_seed(number: int) -> bytes:
    return sha256(f"{REFERENCE.name}/place/{number}".encode()).digest()


def _place_chances(seed: bytes) -> Iterator[int]:
    return words(seed, f"{REFERENCE.name}/0")


def begin(rules: Rules, seed: bytes, setup: Setup) -> Deal:
    """Return the deal before its lead; in an exchange, the winner has returned its lowest card."""
    dealer, step, leader, exchange = setup
    deal = Deal(rules, seed, 1, dealer, step, leader=leader, exchange=exchange)
    if deal.stage is EXCHANGE:
        deal.act(deal.turn, deal.default(deal.turn))
    deal.list_plays()
    return deal


def play_out(start: Deal, chances: Iterator[int]) -> tuple[int, ...]:
    """Return the points of one play of a deal that ``begin`` began; ``chances`` are random words.

    Nobody bombs out of turn or beats its own play.
    """
    return _play(start, chances, _UNBOUNDED)[0].points


def _play(start: Deal, chances: Iterator[int], most: int) -> tuple[Deal, int]:
    """Play a deal to its end, or until its decisions had more than ``most`` choices; return it and these."""
    deal, full = start.copy(), start.rules.full
    policies = policies_of(start.rules)
    seats = [policies[chance % len(policies)] for chance in islice(chances, len(deal.hands))]
    hands, met = deal.hands, 0
    while not deal.over and met <= most:
        if deal.stage is PLAY:
            seat = deal.turn
            choices = deal.choices(seat)
            met += len(choices)
            code = (
                choices[0] if len(choices) == 1 else _choose(seats[seat], choices, hands, seat, next(chances))
            )
            deal.act(seat, code & full)
        else:
            for seat in deal.owing():
                deal.act(seat, 0)
    return deal, met


def _choose(policy: Policy, choices: Sequence[int], hands: Sequence[int], seat: int, chance: int) -> int:
    if chance % ODDS:
        return policy(choices, hands, seat)
    return choices[chance // ODDS % len(choices)]
