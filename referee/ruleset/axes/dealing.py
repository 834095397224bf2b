"""The seats, the deal, and what may happen to hands and to the cards left over."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from annotated_types import Interval

from referee.cards import RANK_SETS, SUITS
from referee.ruleset.annotations import Flag, Positive, Whole, distinct_names, null_by_name, whole_or_all
from referee.ruleset.axes.pack import pack_size, ranks_held
from referee.ruleset.axes.sequences import COUNTED
from referee.ruleset.axis import Axis, Conflict, Section
from referee.ruleset.words import counted, listed, number, weakest_first

if TYPE_CHECKING:
    from referee.ruleset.model import Ruleset

InstantWin = Literal[
    "four_twos",
    "six_pairs",
    "five_pairs_and_triple",
    "five_pair_run",
    "three_triple_run",
    "dragon_without_two",
]

INSTANT_WINS: tuple[InstantWin, ...] = get_args(InstantWin)
"""Every hand that ``instant_wins`` may list."""

WIN_NAMES = {
    "four_twos": "a two of every suit",
    "six_pairs": "six pairs",
    "five_pairs_and_triple": "five pairs and a triple",
    "five_pair_run": "five pairs in a row",
    "three_triple_run": "three triples in a row",
    "dragon_without_two": "a card of every rank but the two",
    "dragon": "a dragon",
}
"""The names of the hands that may win at once."""

MOST_CARDS = len(max(RANK_SETS, key=len)) * len(SUITS)
"""The most cards that may be dealt to a seat, so that what a hand can be played as stays listable."""

MOST_CARDS_WITH_RUNS = 26
"""The most cards of a hand where a kind of ``COUNTED`` is played: more could hold millions of plays."""

MOST_RESTOCKS = 10
"""How often in a deal the cards of finished tricks may become the stock."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Dealing:
    """The fields on the seats, the deal, and what may happen before the first lead."""

    __slots__ = ()

    players: Annotated[Whole, Interval(ge=2, le=8)]
    """Seats at the table, 2 to 8."""
    partners: Literal["none", "opposite"]
    """``none``, or ``opposite``: of four players, seats 0 and 2 play together against 1 and 3."""
    hand_size: Annotated[int | Literal["all"], whole_or_all(MOST_CARDS)]
    """Cards dealt to each seat, or ``all``: the whole pack, extra cards to the first after the dealer."""
    dealer: Literal["rotate", "winner", "loser"]
    """Who deals next: ``rotate``, or the ``winner`` or ``loser`` of the last deal."""
    leftover: Literal["unused", "to_lowest", "stock"]
    """Cards not dealt: ``unused``, ``to_lowest`` (to the holder of the lowest card) or the ``stock``."""
    leftover_shown: Flag
    """Whether cards that go ``to_lowest`` are seen by all."""
    draw_on_pass: Literal["none", "one", "as_needed"]
    """Cards drawn with a pass: ``none``, ``one``, or ``as_needed`` (as many as the play to beat has)."""
    restock: Flag
    """Whether the finished tricks are shuffled and become the stock when that is empty."""
    exchange: Literal["none", "loser_to_winner"]
    """``none``, or ``loser_to_winner``: the loser's highest card for one that the winner chooses."""
    redeal_four_twos: Flag
    """Whether the cards are dealt again if a hand has the twos of all suits."""
    dragon: Literal["none", "wins"]
    """``none``, or ``wins``: a dealt hand with every rank wins at once."""
    instant_wins: Annotated[tuple[InstantWin, ...], distinct_names]
    """Other dealt hands that win at once, weakest first; a dragon that wins is above them."""
    instant_wins_compete: Flag
    """Whether of two hands that win at once the stronger wins; else the first after the dealer does."""
    instant_win_penalty: Annotated[Positive | None, null_by_name]
    """What each of the others then has as penalty points; None for those of the hand as dealt."""
    direction: Literal["clockwise", "anticlockwise", "alternating"]
    """Order of play: ``clockwise``, ``anticlockwise``, or ``alternating`` deal by deal."""


def cards_over(ruleset: "Ruleset") -> int:
    """Return how many cards are left over when all hands are dealt."""
    size = ruleset.hand_size
    return pack_size(ruleset) - ruleset.players * size if isinstance(size, int) else 0


def most_cards(ruleset: "Ruleset") -> int:
    """Return how many cards a hand can hold at most in the course of a deal."""
    pack, players = pack_size(ruleset), ruleset.players
    size = ruleset.hand_size if isinstance(ruleset.hand_size, int) else -(-pack // players)
    undealt = max(pack - size * players, 0)
    if ruleset.draw_on_pass != "none" and ruleset.leftover == "stock":
        return pack - (players - 1) if ruleset.restock else min(size + undealt, pack)
    if ruleset.leftover == "to_lowest":
        size += undealt
    return size + (ruleset.exchange != "none")


def most_listed(ruleset: "Ruleset") -> int:
    """Return the most cards of which all plays may be listed; no hand of the ruleset has more."""
    return MOST_CARDS_WITH_RUNS if any(kind in ruleset.plays for kind in COUNTED) else pack_size(ruleset)


def _most_dealt(ruleset: "Ruleset") -> int:
    """Return the most cards that a hand may have before the lead."""
    if not isinstance(ruleset.hand_size, int):
        return -(-pack_size(ruleset) // ruleset.players)
    return ruleset.hand_size + (cards_over(ruleset) if ruleset.leftover == "to_lowest" else 0)


def _hand_conflicts(ruleset: "Ruleset") -> Iterator[str | Conflict]:
    players, cards, size = ruleset.players, pack_size(ruleset), ruleset.hand_size
    if not isinstance(size, int):
        share = -(-cards // players)
        if share > MOST_CARDS:
            yield f"cannot be all: {share} cards for a player, more than {MOST_CARDS}"
        elif cards < players:
            yield Conflict(f"leaves {cards} cards for {players} players", ("removed_cards",))
    elif players * size > cards:
        fewer = f"; a hand_size of at most {cards // players}, or 'all', would do" if cards >= players else ""
        reason = f"{players} hands of {size} need {players * size} cards, not {cards}{fewer}"
        yield Conflict(reason, ("hand_size", *_SUPPLY))
    most, bound = most_cards(ruleset), most_listed(ruleset)
    if most > bound:
        many = ", ".join([kind for kind in COUNTED if kind in ruleset.plays])
        draws = " with what it draws" if ruleset.draw_on_pass != "none" else ""
        yield f"a hand could have {most} cards{draws}, and {bound} are the most with {many} in plays"


_SUPPLY = ("players", "decks", "removed_cards", "ranks")
"""The fields on which it depends how many cards there are for a hand."""


def _settled_size(ruleset: "Ruleset") -> object:
    share, extra = divmod(pack_size(ruleset), ruleset.players)
    return ruleset.hand_size if extra or ruleset.hand_size != "all" else share


def _leftover_conflicts(ruleset: "Ruleset") -> Iterator[Conflict]:
    over, players = cards_over(ruleset), ruleset.players
    if ruleset.leftover == "to_lowest" and over >= players:
        reason = f"to_lowest needs fewer cards left over than players, not {over} with {players} players"
        yield Conflict(reason, ("leftover", "hand_size", *_SUPPLY))


def _never_draws(ruleset: "Ruleset") -> bool:
    return ruleset.draw_on_pass == "none" or not (cards_over(ruleset) > 0 or ruleset.restock)


def _leftover_is_idle(ruleset: "Ruleset") -> bool:
    return _never_draws(ruleset) if ruleset.leftover == "stock" else cards_over(ruleset) <= 0


def _lacks_twos(ruleset: "Ruleset") -> bool:
    return any(card[:-1] == "2" for card in ruleset.removed_cards)


_ALL_TWOS = "needs all four cards of the rank 2, some of which are removed"


def _redeal_conflicts(ruleset: "Ruleset") -> Iterator[str]:
    if ruleset.redeal_four_twos and _lacks_twos(ruleset):
        yield _ALL_TWOS


def _win_conflicts(ruleset: "Ruleset") -> Iterator[str]:
    wins = ruleset.instant_wins
    if "four_twos" in wins and _lacks_twos(ruleset):
        yield f"has four_twos, which {_ALL_TWOS}"
    if "four_twos" in wins and ruleset.redeal_four_twos:
        yield "has four_twos, with which redeal_four_twos deals again"
    if {"six_pairs", "five_pairs_and_triple"} <= {*wins} and not (
        ruleset.instant_wins_compete and wins.index("six_pairs") < wins.index("five_pairs_and_triple")
    ):
        yield "has five_pairs_and_triple, which are also six_pairs, but not as the stronger of the two"
    if wins and ruleset.deal_ends == "last_holder":
        yield "must be empty with deal_ends: last_holder"


def cards_needed(win: InstantWin, ranks: int) -> int:
    """Return how many cards a hand needs at least to win at once with what ``instant_wins`` names."""
    return _CARDS_NEEDED.get(win, ranks - 1)


_CARDS_NEEDED: Mapping[InstantWin, int] = {
    "four_twos": 4,
    "six_pairs": 12,
    "five_pairs_and_triple": 13,
    "five_pair_run": 10,
    "three_triple_run": 9,
}


def _settled_wins(ruleset: "Ruleset") -> tuple[InstantWin, ...]:
    """Return the hands that can be dealt, in order only if it matters."""
    dealt, ranks = _most_dealt(ruleset), ranks_held(ruleset)
    wins = [win for win in ruleset.instant_wins if cards_needed(win, len(ranks)) <= dealt]
    if ruleset.dragon == "wins" and ruleset.ranks[-1] not in ranks:
        wins = [win for win in wins if win != "dragon_without_two"]  # which is the dragon
    return tuple(wins if ruleset.instant_wins_compete else sorted(wins, key=INSTANT_WINS.index))


def _winning_hands(ruleset: "Ruleset") -> int:
    return len(ruleset.instant_wins) + (ruleset.dragon == "wins")


AXES = {
    "players": Axis(bound=("max_seats", "seat"), scale=8),
    "partners": Axis(
        "none",
        needs=lambda ruleset: ruleset.players == 4,
        refusal="opposite needs four players",
        words={"opposite": "Those who sit opposite each other are partners."},
        brief={"opposite": "two against two"},
    ),
    "hand_size": Axis(
        settled=_settled_size,
        conflicts=_hand_conflicts,
        encode=lambda ruleset: [("most_cards", most_cards(ruleset) / pack_size(ruleset))],
    ),
    "dealer": Axis(encode=lambda _: ()),
    "leftover": Axis("unused", idle=_leftover_is_idle, conflicts=_leftover_conflicts),
    "leftover_shown": Axis(
        False, idle=lambda ruleset: ruleset.leftover != "to_lowest" or cards_over(ruleset) <= 0
    ),
    "draw_on_pass": Axis(
        "none",
        idle=_never_draws,
        needs=lambda ruleset: ruleset.leftover == "stock",
        refusal="needs leftover: stock",
    ),
    "restock": Axis(
        False, needs=lambda ruleset: ruleset.draw_on_pass != "none", refusal="needs draw_on_pass"
    ),
    "exchange": Axis(
        "none",
        turn="exchange",
        words={
            "loser_to_winner": "From the second deal on, the loser of the last deal gives the highest card "
            "to its winner, who returns any card; after a deal that nobody won there is no exchange."
        },
        brief={"loser_to_winner": "loser and winner exchange a card"},
    ),
    "redeal_four_twos": Axis(
        False,
        idle=lambda ruleset: _most_dealt(ruleset) < 4,
        conflicts=_redeal_conflicts,
        words={True: "If somebody holds a two of every suit, the cards are dealt again by the same dealer."},
    ),
    "dragon": Axis(
        "none",
        idle=lambda ruleset: _most_dealt(ruleset) < len(ranks_held(ruleset)),
        never=(("wins", "deal_ends", "last_holder"),),
    ),
    "instant_wins": Axis(settled=_settled_wins, conflicts=_win_conflicts),
    "instant_wins_compete": Axis(True, idle=lambda ruleset: _winning_hands(ruleset) < 2, encode=lambda _: ()),
    "instant_win_penalty": Axis(
        None,
        idle=lambda ruleset: not _winning_hands(ruleset),
        needs=lambda ruleset: ruleset.counts_penalties,
    ),
    "direction": Axis("clockwise", idle=lambda ruleset: ruleset.players == 2, encode=lambda _: ()),
}


def _players(ruleset: "Ruleset") -> Iterator[str]:
    alternating = "clockwise in the first deal, anticlockwise in the second, and so on in turns"
    direction = alternating if ruleset.direction == "alternating" else ruleset.direction
    yield f"There are {number(ruleset.players)} players, and deal and play go {direction}."


def _hands(ruleset: "Ruleset") -> Iterator[str]:
    if isinstance(ruleset.hand_size, int):
        yield f"Each is dealt {counted(ruleset.hand_size, 'card')}."
        return
    share, extra = divmod(pack_size(ruleset), ruleset.players)
    first = "the player" if extra == 1 else f"the {number(extra)} players"
    others = f"{number(share)} to the others"
    yield f"All cards are dealt, {number(share + 1)} to {first} after the dealer, {others}."


def _leftover(ruleset: "Ruleset") -> Iterator[str]:
    over = cards_over(ruleset)
    cards, verb = ("card", "is") if over == 1 else ("cards", "are")
    count = "card" if over == 1 else f"{number(over)} cards"
    if over and ruleset.leftover != "to_lowest":
        yield f"The {count} left over {verb} {'the stock' if ruleset.leftover == 'stock' else 'not used'}."
    elif over:
        way = "shown to all and then taken" if ruleset.leftover_shown else "taken unseen"
        yield f"The {cards} left over {verb} {way} by whoever was dealt the lowest card."


def _dealer(ruleset: "Ruleset") -> Iterator[str]:
    way = "always clockwise" if ruleset.direction == "alternating" else "in the order of play"
    then = f"the deal passes to the next seat, {way}"
    if ruleset.dealer != "rotate":
        then = f"the {ruleset.dealer} of the last deal deals, or the same player again where nobody won"
    yield f"The first deal is the first seat's; then {then}."


def _wins(ruleset: "Ruleset") -> Iterator[str]:
    apart = ", jokers apart," if ruleset.jokers else ","
    dragon = f"A dragon, a hand with a card of every rank{apart} wins at once"
    others = [WIN_NAMES[hand] for hand in ruleset.instant_wins]
    scored = "the others score as if no card had been played."
    if ruleset.instant_win_penalty is not None:
        scored = f"each of the others then has {counted(ruleset.instant_win_penalty, 'penalty point')}."
    if not others:
        yield from [f"{dragon}; {scored}"] if ruleset.dragon == "wins" else []
        return
    other = f"a hand with {listed(others, 'or')}"
    order = others
    if ruleset.dragon == "wins":
        yield f"{dragon}, and so does {other}; {scored}"
        order = [*others, "a dragon"]
    else:
        yield f"A{other[1:]} wins at once; {scored}"
    wins = {*ruleset.instant_wins}
    if wins & {"six_pairs", "five_pairs_and_triple"}:
        yield "Four of a kind are two pairs."
    if wins & {"five_pair_run", "three_triple_run"}:
        yield "In a row means ranks that follow one another, without the two."
    compete = len(order) > 1 and ruleset.instant_wins_compete
    strongest = f"the strongest wins, {weakest_first(order)}; of equals, " if compete else ""
    yield f"Of several players with one, {strongest}the first after the dealer wins."


def _wins_briefly(ruleset: "Ruleset") -> Iterator[str]:
    wins = [*ruleset.instant_wins, "dragon"] if ruleset.dragon == "wins" else ruleset.instant_wins
    if wins:
        yield f"{listed([WIN_NAMES[hand] for hand in wins], 'or')} wins at once"


SECTIONS = {
    "Deal": Section((_players, "partners", _hands, _leftover, _dealer), ("partners",)),
    "Before the play": Section(("redeal_four_twos", _wins, "exchange"), ("exchange", _wins_briefly)),
}
