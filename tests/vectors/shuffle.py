"""Shuffles, the tree of seeds, and the cards that follow from a seed."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from itertools import islice
from typing import Any

from referee.deals.deal import Deal
from referee.deals.dealing import deal_cards, has_all_twos
from referee.deals.shuffle import deal_seed, draw, luck, seed_hash, session_seed, shuffle, words
from referee.records.record import action_text, parse_action
from tests.vectors.dice import Dice
from tests.vectors.files import CARDS, HEX, SEAT, TEXT, WHOLE, Case, VectorFile, array, maybe, record
from tests.vectors.follow import BOMBS, DRAW_ONE, LAST_HOLDER, RESTOCK
from tests.vectors.rulesets import DEALT, label, rules_named
from tests.vectors.settle import STEPS

Input = dict[str, Any]


def answer(given: Mapping[str, Any]) -> object:
    """Return what follows from a seed."""
    seed = bytes.fromhex(given["seed"])
    match given["of"]:
        case "words":
            return [*islice(words(seed, given["label"]), given["count"])]
        case "shuffle":
            order = [*range(given["size"])]
            shuffle(seed, given["label"], order)
            return order
        case "draw":
            return draw(seed, given["label"], given["choices"])
        case "hash":
            return seed_hash(seed)
        case "luck":
            return luck(seed, given["beacon_value"]).hex()
        case "session":
            return session_seed(seed, given["round"], given["table"], given["session"]).hex()
        case "deal":
            return deal_seed(seed, given["deal"], given["attempt"]).hex()
        case "play":
            return _play(seed, given)
    return _cards(seed, given)


def _play(seed: bytes, given: Mapping[str, Any]) -> dict[str, object]:
    rules = rules_named(given["ruleset"])
    deal = Deal(rules, seed, 1, given["dealer"], STEPS[given["direction"]])
    for text in given["actions"]:
        deal.follow(*parse_action(rules, text))
    return {
        "actions": [action_text(rules, entry) for entry in deal.log],
        "left": [*map(rules.text, deal.left)],
        "next": [*deal.owing()],
        "points": [*deal.points],
    }


def _cards(seed: bytes, given: Mapping[str, Any]) -> dict[str, object]:
    rules = rules_named(given["ruleset"])
    deal = Deal(rules, seed, 1, given["dealer"], STEPS[given["direction"]])
    return {
        "hands": [*map(rules.text, deal.dealt)],
        "leftover": " ".join(map(rules.card_text, deal.leftover)),
        "start": [*map(rules.text, deal.start)],
        "leader": deal.leader,
        "must_include": rules.text(deal.must_include) or None,
        "end": deal.end or None,
    }


def _seed(name: str) -> bytes:
    return sha256(f"vectors/{name}".encode()).digest()


def cases() -> Iterator[Case]:
    """Yield questions about seeds."""
    seed = _seed("seed").hex()
    for name in ("deal", "restock/0", "deal/redeal/1", "é"):
        yield "the words of a seed and a label", {"of": "words", "seed": seed, "label": name, "count": 17}
    for size in (1, 2, 8, 9, 52, 54, 60, 104, 208, 257, 300):
        yield "a shuffle", {"of": "shuffle", "seed": seed, "label": "deal", "size": size}
    for choices in (1, 2, 3, 4, 5, 8, 2**31 + 1, 2**32 - 1, 3 * 10**9):
        for name in ("leader", "a", "b"):
            yield "a draw; words that are too high are skipped", _draw(seed, name, choices)
    yield "the hash that is published first", {"of": "hash", "seed": seed}
    for value in (None, "", "00ff", "é"):
        yield "what all sessions derive from", {"of": "luck", "seed": seed, "beacon_value": value}
    for round, table, session in ((1, 1, 1), (1, None, 1), (12, 3, 45), (12, None, 45)):
        where = {"round": round, "table": table, "session": session}
        yield "a session's seed", {"of": "session", "seed": seed, **where}
    for number, attempt in ((1, 1), (10, 1), (1, 2), (10, 11)):
        yield "a deal's seed", {"of": "deal", "seed": seed, "deal": number, "attempt": attempt}
    yield from _deals()
    yield from _plays()


def _draw(seed: str, label: str, choices: int) -> Input:
    return {"of": "draw", "seed": seed, "label": label, "choices": choices}


def _deals() -> Iterator[Case]:
    for name in (
        *("chinese", "chinese-3", "choi-dai-di", "choi-dai-di-5", "hong-kong", "hong-kong-relatives-3"),
        *("lectio", "only-a-game-8", "pusoy-dos", "tien-len-frame", "zheng-shangyou"),
        *(label(*variant) for variant in DEALT),
    ):
        rules = rules_named(name)
        players = rules.ruleset.players
        for number, direction in enumerate(STEPS):
            where = {"ruleset": name, "dealer": number % players, "direction": direction}
            yield "the cards of a deal", {"of": "cards", "seed": _seed(f"{name}/{number}").hex(), **where}
        if rules.ruleset.redeal_four_twos:
            for number in range(10_000):  # until a hand has all twos
                seed = _seed(f"{name}/redeal/{number}")
                plain = rules_named("chinese")
                if any(has_all_twos(plain, hand) for hand in deal_cards(plain, seed, 0, 1).opening):
                    where = {"ruleset": name, "dealer": 0, "direction": "clockwise"}
                    yield "a hand with all twos is dealt again", {"of": "cards", "seed": seed.hex(), **where}
                    break


def _plays() -> Iterator[Case]:
    """Yield deals by lot in which passes draw, lock out and are followed by bombs, to the end."""
    for name in (DRAW_ONE, RESTOCK, LAST_HOLDER, BOMBS, "chinese-3", "indonesia", "tien-len-frame"):
        rules = rules_named(name)
        dice = Dice(f"vectors/play/{name}")
        seed = _seed(f"play/{name}")
        deal = Deal(rules, seed, 1, 0, 1)
        while not deal.over and len(deal.log) < 60:
            seat = deal.owing()[0]
            choices = deal.choices(seat)
            deal.act(seat, dice.one([choices[-1], dice.one(choices)]) & rules.full)
        actions = [action_text(rules, (seat, cards, 0, bomb)) for seat, cards, _, bomb in deal.log]
        yield (
            "a deal from its seed; passes draw what follows from it",
            {
                "of": "play",
                "seed": seed.hex(),
                "ruleset": name,
                "dealer": 0,
                "direction": "clockwise",
                "actions": actions,
            },
        )


FILE = VectorFile(
    name="shuffle",
    about="What follows from a `seed`, by `of`: `words`, the first 32-bit words; `shuffle`, the numbers 0 "
    "to size - 1 as they are shuffled; `draw`, a number below `choices`; `hash`, the SHA-256 of the "
    "seed; `luck`, what session seeds derive from; `session`, a session's seed (`table` is null in "
    "duplicate tournaments); `deal`, a deal's; `cards`, a first deal: the hands as dealt, the cards "
    "left over, the hands as play begins, who leads, the card that the lead must contain, and how the "
    "deal ended if a hand won at once.",
    answer=answer,
    cases=cases,
    input={
        "type": "object",
        "properties": {
            "of": {"enum": ["words", "shuffle", "draw", "hash", "luck", "session", "deal", "cards", "play"]},
            "seed": HEX,
        },
        "required": ["of", "seed"],
    },
    expected={
        "oneOf": [
            array(WHOLE),
            WHOLE,
            HEX,
            record(actions=array(TEXT), left=array(CARDS), next=array(SEAT), points=array(WHOLE)),
            record(
                hands=array(CARDS),
                leftover=CARDS,
                start=array(CARDS),
                leader=maybe(SEAT),
                must_include=maybe(CARDS),
                end=maybe(TEXT),
            ),
        ]
    },
)
