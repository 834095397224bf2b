"""From deal to deal: who deals and leads, which cards are exchanged, and when the session is over."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from random import Random
from typing import Any

from referee.deals.deal import Deal
from referee.deals.dealing import Dealt
from referee.deals.session import Legacy, Session, legacy, setup
from referee.records.record import DIRECTIONS
from referee.rules.plays import Rules
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
    """Yield how deals of sessions played at random ended."""
    for name in (
        *("chinese", "choi-dai-di", "choi-dai-di-5", "hong-kong", "indonesia", "lectio", "only-a-game"),
        *("online-hk", "tien-len-frame"),
        *(label(*variant) for variant in SUCCEEDING),
    ):
        yield "the first deal", {"ruleset": name, "last": None}
        rules = rules_named(name)
        end = rules.ruleset.session
        for number in range(8):
            last = _ended(rules, f"vectors/session/{name}/{number}", number)
            yield f"after a deal that ends by {last['end']}", {"ruleset": name, "last": last}
        for limit in [value for value in (end.target, end.chips and -end.chips) if value]:
            for score in (limit - 1, limit, limit + 1):
                last = _at_score(rules, f"vectors/session/{name}/{score}", score)
                yield "at the edge of the session's end", {"ruleset": name, "last": last}
        for number in (end.deals - 1, end.deals) if end.deals else ():
            last = _of_number(rules, f"vectors/session/{name}", number)
            yield "at the edge of the session's last deal", {"ruleset": name, "last": last}


def _ended(rules: Rules, seed: str, number: int) -> Input:
    """Return how a deal ended: often, several have as many cards left."""
    latest = (1, 2, 3, 9, 4, 5, 6, 7)[number]
    if number == 4:
        return next(_played(rules, seed, latest, lambda deal: deal.end == "forfeit", forfeits=True))
    if number == 5 and rules.ruleset.last_top_card == "loses":
        return next(_played(rules, seed, latest, lambda deal: deal.end == "last_top_card"))
    return next(_played(rules, seed, latest, lambda deal: number % 2 == 0 or _is_tied(deal)))


def _of_number(rules: Rules, seed: str, number: int) -> Input:
    return next(_played(rules, seed, number, lambda deal: deal.number == number))


def _is_tied(deal: Deal) -> bool:
    counts = sorted(map(int.bit_count, deal.left))
    return counts[-1] == counts[-2] or deal.rules.ruleset.deal_ends == "last_holder"


def _at_score(rules: Rules, seed: str, score: int) -> Input:
    """Return how a deal ended after which one score, that counts for the end of the session, is this."""
    best = max if score > 0 else min
    return next(_played(rules, seed, 40, lambda _: True, lambda scores: best(scores) == score))


def _played(
    rules: Rules,
    seed: str,
    latest: int,
    ended: Callable[[Deal], bool],
    scored: Callable[[Sequence[int]], bool] = lambda _: True,
    *,
    forfeits: bool = False,
) -> Iterator[Input]:
    """Yield how deals up to the number ``latest`` ended, session after session, that are asked for."""
    for attempt in count():
        random = Random(f"{seed}/{attempt}")
        session, weak = Session(rules, random.randbytes(32)), random.randrange(-1, rules.ruleset.players)
        while not session.over and session.deals_played < latest:
            deal = session.next_deal()
            if forfeits and random.random() < 0.5 and not deal.over:
                deal.forfeit(random.choice(deal.owing()))
            _play(deal, random, weak)
            session.close_deal()
            if ended(deal) and scored(session.scores):
                yield {
                    "deal": deal.number,
                    "dealer": deal.dealer,
                    "direction": DIRECTIONS[deal.step],
                    "end": deal.end,
                    "out": deal.out,
                    "culprit": deal.culprit,
                    "left": [*map(rules.text, deal.left)],
                    "scores": [*session.scores],
                }


def _play(deal: Deal, random: Random, weak: int) -> None:
    """Play a deal at random to its end; the seat ``weak`` passes where it may, and so loses soon."""
    while not deal.over:
        seat = deal.owing()[0]
        choices = deal.choices(seat)
        passes = seat == weak and 0 in choices
        deal.act(seat, 0 if passes else random.choice(choices) & deal.rules.full)


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
