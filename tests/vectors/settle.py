"""What finished deals score: the deals that wrong rules score otherwise."""

from collections.abc import Iterator, Mapping
from typing import Any

from referee.deals.action import Stage
from referee.deals.deal import Deal
from referee.deals.dealing import Dealt
from referee.deals.facts import rule_facts
from referee.records.record import DIRECTIONS, action_text, parse_action
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import Ruleset
from tests.vectors.dice import Dice
from tests.vectors.files import CARDS, RULESET, SEAT, TEXT, WHOLE, Case, VectorFile, array, maybe, record
from tests.vectors.rulesets import SCORED, SETTLING, readings, rules_named, ruleset_named

STEPS = {name: step for step, name in DIRECTIONS.items()}

POOL = 260
"""Deals of a ruleset from which the telling ones are chosen."""

EACH = 3
"""How many deals tell a wrong reading from the right one."""

Input = dict[str, Any]


def answer(given: Mapping[str, Any]) -> dict[str, object]:
    """Return how a deal ends and what it scores."""
    rules = rules_named(given["ruleset"])
    deal = replayed(rules, given)
    return {"end": deal.end, "out": deal.out, "left": [*map(rules.text, deal.left)], "points": [*deal.points]}


def replayed(rules: Rules, given: Mapping[str, Any]) -> Deal:
    """Return the deal at its end."""
    deal = begun(rules, given)
    for text in given["actions"]:
        deal.follow(*parse_action(rules, text))
    if given["forfeit"] is not None:
        deal.forfeit(given["forfeit"])
    return deal


def _rescored(deal: Deal, wrong: Rules) -> tuple[int, ...]:
    """Return what a deal that is over scores under rules that only score it otherwise."""
    other = deal.copy()
    other.rules, other._facts = wrong, rule_facts(wrong)
    other._score()
    return other.points


def begun(rules: Rules, given: Mapping[str, Any]) -> Deal:
    """Return the deal with which a vector begins."""
    hands = tuple(map(rules.parse, given["hands"]))
    dealt = Dealt(hands, (), hands)
    step = STEPS[given["direction"]]
    return Deal(rules, bytes(32), 1, given["dealer"], step, leader=given["leader"], dealt=dealt)


def cases() -> Iterator[Case]:
    """Yield deals of each ruleset in question."""
    for name in SCORED:
        rules = rules_named(name)
        pool = [_played(name, rules, number) for number in range(POOL)]
        deals = [replayed(rules, given) for given in pool]
        chosen: dict[int, str] = {}
        for axis, other in readings(name, SETTLING):
            wrong = compile_ruleset(other)
            telling = [
                at
                for at, deal in enumerate(deals)
                if (replayed(wrong, pool[at]).points if axis == "guard" else _rescored(deal, wrong))
                != deal.points
            ]
            telling.sort(key=lambda at: (at not in chosen, len(str(pool[at]))))
            for at in telling[:EACH]:
                chosen.setdefault(at, f"would differ with {axis} = {shown(other, axis)}")
        for end in ("out", "dragon", "instant_win", "last_top_card", "forfeit"):
            ended = [at for at, deal in enumerate(deals) if deal.end == end and at not in chosen]
            ended.sort(key=lambda at: len(str(pool[at])))
            chosen |= dict.fromkeys(ended[:EACH], f"ends by {end}")
        yield from ((about, pool[at]) for at, about in sorted(chosen.items()))
    yield from _precautions()
    yield from _honours()


def _honours() -> Iterator[Case]:
    """Yield deals that end at once, with honours left and four twos played."""
    for name in SCORED:
        honours = ruleset_named(name).honours_left
        if any(entry.honour == "straight_flush" for entry in honours):
            for left in (
                "JD QD KD AD 2D",
                "TD JD QD KD AD",
                "AD 2D 3D 4D 5D",
                "TD JD QD KD AC",
                "3D 4D 5D 6D 7D",
            ):
                given = _at_once(name, ["3S", left, "4C", "4H"], ["0:3S"])
                yield "honours left in a hand", given
    two, three = "2D 2C 2H 2S 3D", "3C 4C 4H 4S 4D"
    rest = ["9D", "9H TH JH"]
    for hand, then in ((f"{two} 9S", ["1:-", "2:-", "3:-", "0:-", "0:9S"]), (two, [])):
        yield "four twos that nobody beat", _at_once("indonesia", [hand, three, *rest], [f"0:{two}", *then])
    quads = ["0:3C 4C 4H 4S 4D", "1:2D 2C 2H 2S 3D"]
    yield "quads that four twos beat", _at_once("indonesia", [f"{three} 9S", two, *rest], quads)


def _at_once(name: str, hands: list[str], actions: list[str]) -> Input:
    given = {"ruleset": name, "dealer": 0, "direction": "clockwise", "leader": 0, "hands": hands}
    return {**given, "actions": actions, "forfeit": None}


def _precautions() -> Iterator[Case]:
    """Yield deals in which the seat before one with a single card takes the precaution, or does not."""
    two, three = "3D 4D 5D 6D 7S", "8D 9D TD JD QS"
    for about, lead, last, actions in (
        ("leads its highest card", "3C 9C", "TC", ["0:9C", "1:TC"]),
        ("leads a lower card than it could", "3C 9C", "TC", ["0:3C", "1:TC"]),
        ("leads a pair", "3C 3H 5C 9C", "TC", ["0:3C 3H", "1:-", "2:-", "3:-", "0:9C", "1:TC"]),
        ("leads a card of a pair", "3C 3H 9C", "TC", ["0:3C", "1:TC"]),
        ("leads its highest card though it has a pair", "3C 3H 9C", "TC", ["0:9C", "1:TC"]),
    ):
        hands = [lead, last, two, three]
        yield f"guard: {about}", _guarded(0, hands, actions)
    for about, seat, actions in (
        ("plays its highest card", "4C 9C", ["3:3C", "0:9C", "1:TC"]),
        ("plays a lower card than it could", "4C 9C", ["3:3C", "0:4C", "1:TC"]),
        ("passes though it could play", "4C 9C", ["3:3C", "0:-", "1:TC"]),
        ("passes because its highest card does not beat the last play", "4C 9C", ["3:9S", "0:-", "1:TC"]),
        ("passes on a pair", "4C 4H 9C", ["3:3C 3H", "0:-", "1:-", "2:-", "3:3S", "0:9C", "1:TC"]),
    ):
        hands = [seat, "TC", two, "3C 3H 3S 9S JS"]
        yield f"guard: {about}", _guarded(3, hands, actions)


def _guarded(leader: int, hands: list[str], actions: list[str]) -> Input:
    given = {"ruleset": "chinese-stakes", "dealer": 0, "direction": "clockwise", "leader": leader}
    return {**given, "hands": hands, "actions": actions, "forfeit": None}


def shown(ruleset: Ruleset, axis: str) -> str:
    """Return the value of a field in a few words."""
    value = ruleset.to_object()[axis]
    return "none" if value in ([], None) else str(value).replace("'", "")


def _played(name: str, rules: Rules, number: int) -> Input:
    """Return a deal with chosen cards and random actions, until it is over or somebody forfeits."""
    dice = Dice(f"vectors/settle/{name}/{number}")
    ruleset = ruleset_named(name)
    hands = _hands(rules, dice)
    given: Input = {
        "ruleset": name,
        "dealer": dice.below(ruleset.players),
        "direction": dice.one([*STEPS]),
        "leader": dice.below(ruleset.players),
        "hands": [*map(rules.text, hands)],
        "actions": [],
        "forfeit": None,
    }
    deal = begun(rules, given)
    stop = dice.below(8) if number % 6 == 0 else -1
    while not deal.over and len(deal.log) != stop:
        seat = deal.owing()[0]
        choices = deal.choices(seat)
        if deal.stage is Stage.BOMBS or len(choices) == 1:
            deal.act(seat, choices[dice.below(len(choices))] & rules.full)
        else:  # plays rather than passes, and the largest play often
            plays = choices[:-1] if not choices[-1] and dice.below(4) else choices
            play = (
                max(plays, key=lambda code: (code & rules.full).bit_count())
                if dice.below(2)
                else dice.one(plays)
            )
            deal.act(seat, play & rules.full)
    if not deal.over:
        given["forfeit"] = dice.below(ruleset.players)
    return {**given, "actions": [action_text(rules, entry) for entry in deal.log]}


def _hands(rules: Rules, dice: Dice) -> list[int]:
    """Return hands of many sizes, with cards at random, ranks together or suits together."""
    players = rules.ruleset.players
    cards = dice.shuffled(rules.pack)
    match dice.below(3):
        case 1:
            order = dice.shuffled(range(16))
            cards.sort(key=lambda card: order[card >> 2])
        case 2:
            order = dice.shuffled(range(4))
            start = dice.below(13)
            cards.sort(key=lambda card: (order[card & 3], ((card >> 2) + start) % 13))
    most = min(13, len(cards) // players)
    sizes = [max(1, dice.one((most, most, most - 1, most - 2, most - 3, 8, 5, 2, 1))) for _ in range(players)]
    sizes = [min(size, most) for size in sizes]
    short = dice.below(players)
    sizes[short] = min(most, dice.one((1, 2, 4, 5, 5)))
    if dice.below(2):  # cards that count are at the front of somebody's hand
        front = dice.one([0, 1, 2])
        twos = [card for card in cards if card >> 2 == len(rules.ruleset.ranks) - 1][:front]
        cards = [*twos, *(card for card in cards if card not in twos)]
    hands, at = [], 0
    for size in sizes:
        hands.append(rules.mask(sorted(cards[at : at + size])))
        at += size
    return dice.shuffled(hands)


FILE = VectorFile(
    name="settle",
    about="A deal from the first lead to its end, with the hands as play began (they need not have the "
    "ruleset's number of cards): how it ends, who went out in which order, the cards left and the "
    "points. `forfeit` is the seat that ends the deal by a forfeit after the actions; null if they "
    "end it. Actions are those of deal records.",
    answer=answer,
    cases=cases,
    input=record(
        ruleset=RULESET,
        dealer=SEAT,
        direction={"enum": [*STEPS]},
        leader=SEAT,
        hands=array(CARDS),
        actions=array(TEXT),
        forfeit=maybe(SEAT),
    ),
    expected=record(end=TEXT, out=array(SEAT), left=array(CARDS), points=array(WHOLE)),
)
