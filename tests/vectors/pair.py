"""Pairings: the next rounds of a tournament of each format, for each size of tables."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from arena.core.formats import FORMATS, Rated, Setup, Situation
from arena.core.pairing.values import Batches, Pairing, Past
from arena.core.ranking import MatchOutcome, results_of
from tests.vectors.dice import Dice
from tests.vectors.files import FLAG, HEX, TEXT, WHOLE, Case, VectorFile, array, maybe, record

Input = dict[str, Any]


def answer(given: Mapping[str, Any]) -> list[dict[str, object]]:
    """Return the rounds that follow from what has been played, until results are needed."""
    setup = Setup(
        size=given["size"],
        rounds=given["rounds"],
        options=given["options"],
        lots=bytes.fromhex(given["lots"]),
        owners_apart=given["owners_apart"],
    )
    entrants = range(1, len(given["owners"]) + 1)
    pairings = [Pairing(tuple(map(tuple, one["tables"])), tuple(one["byes"])) for one in given["played"]]
    batches = Batches()
    for pairing in pairings:
        batches.add(pairing)
    free = {bot["entrant"]: Rated(bot["rating"], bot["weight"]) for bot in given["free"] or ()}
    present = [*free] if free else [number for number in entrants if number not in given["withdrawn"]]
    situation = Situation(
        entrants=entrants,
        present=present,
        paired=len(pairings),
        past=Past(() if free else pairings),
        owners=dict(zip(entrants, given["owners"], strict=True)),
        outcomes=lambda: _outcomes(given["played"]),
        results=lambda: results_of(_outcomes(given["played"]), [out for one in pairings for out in one.byes]),
        ratings=lambda: free,
        recent=lambda: batches.recent(len(entrants), present),
    )
    rounds = FORMATS[given["format"]].next(setup, situation)
    return [{"tables": [*map(list, one.tables)], "byes": [*one.byes]} for one in rounds]


def _outcomes(played: list[Input]) -> list[MatchOutcome]:
    return [
        MatchOutcome(number, at, dict(zip(table, points, strict=True)))
        for number, one in enumerate(played, 1)
        for at, (table, points) in enumerate(zip(one["tables"], one["points"], strict=True), 1)
    ]


def cases() -> Iterator[Case]:
    """Yield tournaments before their first round and after some rounds."""
    for size in range(2, 9):
        for about, given in _tournaments(size):
            dice = Dice(f"vectors/pair/{size}/{about}")
            for paired in range(3):
                yield f"{about}, after {paired} rounds", given
                rounds = answer(given)
                if given["format"] == "round-robin" or not rounds:
                    break
                given = {**given, "played": [*given["played"], _played(rounds[0], dice)]}
                if paired and given["format"] == "swiss":
                    given["withdrawn"] = [2]
                if given["free"]:
                    given["free"] = [
                        {**bot, "rating": bot["rating"] + dice.below(40)} for bot in given["free"][1:]
                    ]


def _played(pairing: Mapping[str, Any], dice: Dice) -> Input:
    """Return a round with points by lot; often, some are equal."""
    points = [[dice.below(4) - 2 for _ in table] for table in pairing["tables"]]
    return {**pairing, "points": points}


def _tournaments(size: int) -> Iterator[tuple[str, Input]]:
    dice = Dice(f"vectors/pair/{size}")
    usual: Input = {"size": size, "lots": sha256(f"vectors/pair/{size}".encode()).hexdigest(), "options": {}}
    usual |= {"rounds": None, "owners_apart": False, "played": [], "withdrawn": [], "free": None}
    number = 2 * size + 1
    alone = [*range(number)]
    shared = [min(entrant, number - 2) for entrant in range(number)]
    yield "swiss", {**usual, "format": "swiss", "rounds": 3, "owners": alone}
    yield (
        "swiss, owners apart",
        {
            **usual,
            "format": "swiss",
            "rounds": 3,
            "owners": shared,
            "owners_apart": True,
        },
    )
    yield "knockout", {**usual, "format": "knockout", "owners": [*range(3 * size + 2)]}
    yield (
        "knockout, one advances",
        {**usual, "format": "knockout", "owners": shared, "options": {"advance": 1}},
    )
    yield "gauntlet", {**usual, "format": "gauntlet", "owners": alone}
    yield (
        "gauntlet, two challengers",
        {**usual, "format": "gauntlet", "owners": alone, "options": {"challengers": 2}},
    )
    few = [*range(size + 2)]
    yield "round-robin", {**usual, "format": "round-robin", "rounds": 2, "owners": few}
    if size <= 4:
        yield "round-robin, whole", {**usual, "format": "round-robin", "owners": few}
        once = {"meetings": "at-least-once"}
        yield "round-robin, at least once", {**usual, "format": "round-robin", "owners": few, "options": once}
    free = [
        {"entrant": entrant, "rating": 1400.0 + 10 * dice.below(20), "weight": float(dice.below(3))}
        for entrant in range(1, number + 1)
    ]
    yield "continuous", {**usual, "format": "continuous", "owners": shared, "free": free}


ROUND = {"tables": array(array(WHOLE)), "byes": array(WHOLE)}

FILE = VectorFile(
    name="pairing",
    about="A tournament and the rounds played so far, with the points at each table. `owners` has the owner "
    "of each entrant, by number from 1; `free` the bots that can be seated in a continuous "
    "tournament, else null. Expected are the rounds that follow (several where they do not depend on "
    "results, none at the end), each with its tables, in the order of places, and those who sit out.",
    answer=answer,
    cases=cases,
    input=record(
        format=TEXT,
        size=WHOLE,
        rounds=maybe(WHOLE),
        options={"type": "object"},
        lots=HEX,
        owners_apart=FLAG,
        owners=array(WHOLE),
        played=array(record(**ROUND, points=array(array({"type": "number"})))),
        withdrawn=array(WHOLE),
        free=maybe(array(record(entrant=WHOLE, rating={"type": "number"}, weight={"type": "number"}))),
    ),
    expected=array(record(**ROUND)),
)
