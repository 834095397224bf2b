"""From deal to deal: who deals and leads, which cards are exchanged, and when the session is over."""

from collections.abc import Iterator, Mapping
from typing import Any

from referee.deals.deal import Deal
from referee.deals.dealing import Dealt
from referee.deals.session import Session
from referee.deals.succession import Legacy, legacy, setup
from referee.records.record import DIRECTIONS
from referee.rules.plays import Rules
from tests.vectors.dice import Dice
from tests.vectors.files import (
    CARDS,
    FLAG,
    RULESET,
    SEAT,
    TEXT,
    WHOLE,
    Case,
    VectorFile,
    array,
    maybe,
    record,
)
from tests.vectors.rulesets import SUCCEEDING, label, rules_named
from tests.vectors.settle import STEPS

Input = dict[str, Any]


def answer(given: Mapping[str, Any]) -> dict[str, object]:
    """Return how a deal begins after the last, or that the session is over."""
    rules, last = rules_named(given["ruleset"]), given["last"]
    left = None
    if last is not None:
        left = _legacy(rules, last)
        session = Session(rules, bytes(32))
        session.forfeited_by = last["culprit"] if last["end"] == "forfeit" else None
        session.go_on(left, last["scores"])
        if session.over:
            return {"over": True, "dealer": None, "direction": None, "leader": None, "exchange": None}
    begins = setup(rules.ruleset, 1 if last is None else last["deal"] + 1, left)
    exchange = begins.exchange and dict(zip(("loser", "winner"), begins.exchange, strict=True))
    direction = DIRECTIONS[begins.step]
    return {
        "over": False,
        "dealer": begins.dealer,
        "direction": direction,
        "leader": begins.leader,
        "exchange": exchange,
    }


def _legacy(rules: Rules, last: Mapping[str, Any]) -> Legacy:
    hands = tuple(map(rules.parse, last["left"]))
    dealt, step = Dealt(hands, (), hands), STEPS[last["direction"]]
    ended = Deal(rules, bytes(32), last["deal"], last["dealer"], step, leader=0, dealt=dealt, begun=True)
    ended.culprit, ended.out = last["culprit"], last["out"]
    return legacy(ended)


def cases() -> Iterator[Case]:
    """Yield how deals ended."""
    for name in (
        *("chinese", "choi-dai-di", "choi-dai-di-5", "hong-kong", "indonesia", "lectio", "only-a-game"),
        *("online-hk", "tien-len-frame"),
        *(label(*variant) for variant in SUCCEEDING),
    ):
        yield "the first deal", {"ruleset": name, "last": None}
        rules = rules_named(name)
        end = rules.ruleset.session
        limits = [value for value in (end.target, end.chips and -end.chips) if value]
        for number in range(8):
            dice = Dice(f"vectors/session/{name}/{number}")
            last = _ended(rules, dice, number)
            yield f"after a deal that ends by {last['end']}", {"ruleset": name, "last": last}
        for limit in limits:
            for score in (limit - 1, limit, limit + 1):
                scores = [score, *[0] * (rules.ruleset.players - 1)]
                yield (
                    "at the edge of the session's end",
                    {"ruleset": name, "last": {**last, "scores": scores}},
                )
        if end.deals:
            for number in (end.deals - 1, end.deals):
                played = {**_ended(rules, Dice(f"vectors/session/{name}"), 0), "deal": number}
                yield "at the edge of the session's last deal", {"ruleset": name, "last": played}


def _ended(rules: Rules, dice: Dice, number: int) -> Input:
    """Return how a deal ended: often, several have as many cards left."""
    players = rules.ruleset.players
    winner = dice.below(players)
    cards = dice.shuffled(rules.pack)
    size = dice.one((1, 2, 5))
    sizes = [0 if seat == winner else size + (dice.below(3) == 0) for seat in range(players)]
    left, at = [], 0
    for seat in range(players):
        left.append(rules.text(rules.mask(sorted(cards[at : at + sizes[seat]]))))
        at += sizes[seat]
    lost = number == 5 and rules.ruleset.last_top_card == "loses"
    ends = "forfeit" if number == 4 else "last_top_card" if lost else "out"
    culprit = None if ends == "out" else (winner + 1) % players
    return {
        "deal": (1, 2, 3, 9, 4, 5, 6, 7)[number],
        "dealer": dice.below(players),
        "direction": dice.one([*STEPS]),
        "end": ends,
        "out": [winner] if culprit is None else [],
        "culprit": culprit,
        "left": left,
        "scores": [0] * players,
    }


LAST = record(
    deal=WHOLE,
    dealer=SEAT,
    direction={"enum": [*STEPS]},
    end=TEXT,
    out=array(SEAT),
    culprit=maybe(SEAT),
    left=array(CARDS),
    scores=array(WHOLE),
)

FILE = VectorFile(
    name="session",
    about="How a deal of a session begins after the `last` one (null: it is the first): who deals, the "
    "direction, who leads (null: the lowest card decides), and loser and winner if they exchange "
    "cards; or that the session is over. `culprit` is the seat that ended the last deal without a "
    "winner; `scores` are the sums after it.",
    answer=answer,
    cases=cases,
    input=record(ruleset=RULESET, last=maybe(LAST)),
    expected=record(
        over=FLAG,
        dealer=maybe(SEAT),
        direction=maybe({"enum": [*STEPS]}),
        leader=maybe(SEAT),
        exchange=maybe(record(loser=SEAT, winner=SEAT)),
    ),
)
