"""What happened in a step, in words."""

from collections.abc import Iterable, Sequence

from arena.queries.replays.steps import Cards, Fault, Kind, Step, Words, spoken_rank
from referee.cards import JOKERS
from referee.ruleset.words import listed, number

COMBINATIONS = {
    "single": "single card",
    "pair": "pair",
    "triple": "triple",
    "two_pair": "two pairs",
    "straight": "straight",
    "flush": "flush",
    "full_house": "full house",
    "quads": "four of a kind",
    "straight_flush": "straight flush",
    "royal_flush": "royal flush",
    "bare_quads": "four of a kind",
    "bare_two_pair": "two pairs",
    "run": "run",
    "suited_run": "run of one suit",
    "pair_run": "run of pairs",
    "dragon": "dragon",
    "triple_run": "run of triples",
    "triple_run_plus_pairs": "run of triples with pairs",
    "triple_plus_two_pairs": "triple with two pairs",
    "straight_flush_plus_two": "straight flush with two more cards",
}
"""The name of a play of each kind."""

_RUNS = {
    "run": (1, "cards"),
    "pair_run": (2, "pairs"),
    "triple_run": (3, "triples"),
    "triple_run_plus_pairs": (5, "triples with as many pairs"),
}
"""By kind, how many cards a run has for each of its ranks, and what it is a run of."""

FAULTS = {
    "illegal": "answered with an action that is not legal",
    "malformed": "answered with something that cannot be read",
    "timeout": "ran out of time",
    "stall": "stopped answering",
    "disconnect": "was not connected",
    "flood": "sent too much",
    "exception": "failed in its own code",
}
"""What a seat did that made the referee act for it."""

DONE_FOR = {
    "default_action": "the referee takes the default action",
    "stand_in": "the referee makes the weakest legal play",
}

ENDS = {
    "out": "The deal is over.",
    "dragon": "The deal is over: a hand with every rank wins at once.",
    "instant_win": "The deal is over: a hand that the rules name wins at once.",
    "last_top_card": "The deal is over: a card that loses as the last one was left to somebody.",
    "forfeit": "The deal is over by a forfeit.",
}


def short_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the shortest names that tell bots apart: without owner, else without version, else in full."""
    without = [name.partition("@")[0] for name in names]
    for shorter in ([name.rpartition("/")[2] for name in without], without):
        if len(set(shorter)) == len(shorter) and not any(not name or name.isdigit() for name in shorter):
            return tuple(shorter)
    return tuple(names)


def counted(count: int, thing: str = "card") -> str:
    """Return ``1 card`` or ``9 cards``."""
    return f"{count} {thing}{'' if count == 1 else 's'}"


def combination(kind: str, cards: Cards) -> str:
    """Return the name of a play: ``pair of 4s``, ``full house of kings``, ``four 9s``, ``straight``."""
    ranks = ["joker" if card in JOKERS else card[:-1] for card in cards]
    name = COMBINATIONS[kind]
    if kind in _RUNS:
        size, things = _RUNS[kind]
        return f"run of {number(len(cards) // size)} {things}"
    if kind == "triple_plus_two_pairs":
        triple = next(rank for rank in ranks if ranks.count(rank) == 3)
        return f"triple of {spoken_rank(triple)}s with two pairs"
    if kind in ("two_pair", "bare_two_pair"):
        low, high = [rank for rank in dict.fromkeys(ranks) if ranks.count(rank) == 2]
        return f"two pairs of {spoken_rank(high)}s and {spoken_rank(low)}s"
    if kind in ("pair", "triple", "full_house", "quads", "bare_quads"):
        most = max(ranks, key=ranks.count)
        name = number(ranks.count(most)) if kind in ("quads", "bare_quads") else f"{name} of"
        return f"{name} {spoken_rank(most)}s"
    return name


def signed(points: int) -> str:
    """Return points with their sign; 0 has none."""
    return f"{points:+d}".replace("-", "−") if points else "0"


def dealt_words(names: Sequence[str], dealer: int, counts: Sequence[int]) -> Words:
    """Say that the cards were dealt."""
    each = (
        f"{counted(counts[0])} each"
        if len(set(counts)) == 1
        else listed([f"{counted(count)} to {name}" for name, count in zip(names, counts, strict=True)])
    )
    return (f"{names[dealer]} deals {each}.",)


def take_words(name: str, cards: Cards) -> tuple[Words, Words]:
    """Say that a seat takes the cards left over, once for those who see them and once for the others."""
    it = "the card" if len(cards) == 1 else f"the {len(cards)} cards"
    sentence = f"{name} holds the lowest card and takes {it} left over"
    return (f"{sentence}: ", cards, "."), (f"{sentence}.",)


def exchange_words(giver: str, taker: str, cards: Cards, returned: bool) -> tuple[Words, Words]:
    """Say what changed hands in an exchange, once for those who see it and once for the others."""
    what = "returns" if returned else "gives the highest card,"
    hidden = "returns a card" if returned else "gives the highest card"
    return (f"{giver} {what} ", cards, f" to {taker}."), (f"{giver} {hidden} to {taker}.",)


def play_words(name: str, step: Step, before: tuple[str, Cards] | None, place: int) -> Words:
    """Describe a play; ``before`` is the combination that it beats with its cards, None for a lead.

    ``place`` is the seat's place in the order of going out with this play, 0 if it has cards left.
    """
    verb = "bombs out of turn with" if step.kind is Kind.BOMB else "plays" if before else "leads"
    parts: list[str | Cards] = [f"{name} {verb} ", step.cards]
    if len(step.cards) > 2:
        article = "" if step.combination.startswith(("two", "four", "five")) else "a "
        parts.append(f", {article}{step.combination}")
    if before is not None:
        what, cards = before
        comma = "," if len(step.cards) > 2 else ""
        parts += [" over ", cards] if len(cards) == 1 else [f"{comma} over the {what}"]
    assert step.seat is not None
    left = len(step.hands[step.seat])
    parts.append(f", and goes out{_ordinal(place)}." if place else f"; {counted(left)} left.")
    return tuple(parts)


def _ordinal(place: int) -> str:
    return ["", "", " second", " third"][place] if place < 4 else f" as number {place}"


def pass_words(name: str, step: Step, locks: bool, leading: bool) -> tuple[Words, Words]:
    """Describe a pass, once for those who see the cards drawn and once for the others."""
    verb = "has nothing to lead, and passes" if leading else "passes"
    if step.forced and not leading:
        verb = "cannot beat it, and passes"
    if locks and not leading:
        verb += ", out until the trick ends"
    if not step.drawn:
        return (f"{name} {verb}.",), ()
    return (
        (f"{name} {verb}, and draws ", step.drawn, "."),
        (f"{name} {verb}, and draws {counted(len(step.drawn))}.",),
    )


def fault_words(names: Sequence[str], faults: Iterable[Fault]) -> Words:
    """Say what the referee decided for seats."""
    return tuple(
        f" {names[fault.seat]} {FAULTS.get(fault.kind, fault.kind)}"
        + (" when asked for a bomb." if fault.bombing else ", so the referee decided.")
        for fault in faults
    )


def end_words(names: Sequence[str], end: str, hands: Sequence[Cards], points: Sequence[int]) -> Words:
    """Say how the deal ended and what it scored."""
    scores = [
        f"{name} {signed(score)}" + (f" with {counted(len(hand))} left" if hand else "")
        for name, hand, score in zip(names, hands, points, strict=True)
    ]
    return (f"{ENDS.get(end, 'The deal is over.')} Points: {', '.join(scores)}.",)


def lasted(ms: int) -> str:
    """Return a time as it is shown: ``340 ms``, ``1.3 s``."""
    tenths = (ms + 50) // 100
    return f"{ms} ms" if ms < 1000 else f"{tenths // 10}.{tenths % 10} s"
