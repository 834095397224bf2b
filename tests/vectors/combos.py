"""Sets of cards at the boundaries of kinds and strengths, for any ruleset: what wrong rules tell apart."""

from collections.abc import Iterable, Iterator, Sequence

from referee.ruleset import Ruleset

SUITS = "DCHS"

FLUSHES = (
    *((0, 1, 2, 3, 5), (0, 1, 2, 4, 5), (1, 2, 3, 4, 6), (0, 2, 4, 6, 8), (0, 1, 4, 6, -4)),
    *((0, 3, 4, -3, -2), (1, 3, 4, -3, -2), (0, 1, 3, -3, -1), (0, 5, 8, -3, -1), (2, 5, 8, -3, -1)),
    (0, 1, 5, -2, -1),
)
"""Ranks of flushes by place: neighbours, the same top with other cards below, the highest."""


def card_sets(ruleset: Ruleset) -> list[str]:
    """Return sets of cards as text, each once: combinations, and what only resembles one."""
    texts = [*_equal(ruleset), *_fives(ruleset), *_runs(ruleset), *_others(ruleset)]
    return list(dict.fromkeys(filter(lambda text: _is_held(ruleset, text), texts)))


def _is_held(ruleset: Ruleset, text: str) -> bool:
    cards = text.split()
    jokers = {"RJ": ruleset.jokers > 0, "BJ": ruleset.jokers > 1}
    return all(
        jokers.get(card, card not in ruleset.removed_cards) and cards.count(card) <= ruleset.decks
        for card in cards
    )


def _of(ruleset: Ruleset, ranks: Iterable[int], suits: Sequence[str]) -> str:
    """Return one card of each of these ranks, by place, in these suits."""
    return " ".join(ruleset.ranks[rank] + suit for rank, suit in zip(ranks, suits, strict=True))


def _equal(ruleset: Ruleset) -> Iterator[str]:
    """Yield cards of one rank."""
    for rank in (0, 1, 2, -4, -3, -2, -1):
        yield from (_of(ruleset, [rank], suit) for suit in SUITS)
        for suits in ("DC", "DH", "DS", "CH", "HS", "DD", "SS", "DCH", "DCS", "CHS", "DDS", "DDC", "SSH"):
            yield _of(ruleset, [rank] * len(suits), suits)
        for suits in ("DCHS", "DDCC", "HHSS", "DDCCH"):
            yield _of(ruleset, [rank] * len(suits), suits)
    yield from ("BJ", "RJ", "BJ RJ", "RJ RJ", "BJ BJ", "BJ BJ RJ", "BJ RJ RJ", "BJ BJ RJ RJ")


def _fives(ruleset: Ruleset) -> Iterator[str]:
    count, ranks = len(ruleset.ranks), ruleset.ranks
    for start in range(count):  # every five ranks in a row, around the corner too
        window = [(start + step) % count for step in range(5)]
        highest = window.index(max(window))
        suitings = {"CCDDS", "SSDDC", "DDDDD", "SSSSS"}
        suitings |= {
            "".join("S" if place == at else "DC"[place % 2] for place in range(5)) for at in (highest, 4)
        }
        yield from (_of(ruleset, window, suits) for suits in sorted(suitings))
    for flush in FLUSHES:
        for suit in SUITS:
            yield _of(ruleset, flush, suit * 5)
        yield _of(ruleset, flush, "SSSSD")
    yield _of(ruleset, (0, 0, 1, 2, -1), "DDDDD")
    yield _of(ruleset, (3, 3, 4, 4, 8), "SSSSS")
    for one, other in ((0, 1), (1, 0), (0, -1), (-1, 0), (-2, -3), (-3, -2), (3, 7), (2, 7)):
        yield _of(ruleset, (one, one, one, other, other), "DCHDS")
        yield _of(ruleset, (one, one, one, other, other), "CHSCH")
        yield _of(ruleset, (one, one, one, one, other), "DCHSD")
        yield _of(ruleset, (one, one, one, one, other), "DCHSS")
    for one, other, fifth in (
        (0, 1, 2),
        (0, 1, -1),
        (1, 0, -2),
        (3, 8, 0),
        (4, 8, 0),
        (0, 8, -1),
        (-2, -1, 0),
    ):
        yield _of(ruleset, (one, one, other, other, fifth), "DCDCS")
        yield _of(ruleset, (one, one, other, other, fifth), "HSHSD")
        yield _of(ruleset, (one, one, other, other, fifth), "DCDSD")
    three = " ".join(ranks[0] + suit for suit in "DCH")
    yield from (
        f"{three} BJ RJ",
        f"{three} {ranks[0]}S RJ",
        f"{ranks[0]}D {ranks[1]}D {ranks[2]}D {ranks[3]}D RJ",
    )
    yield from ("BJ BJ RJ 3D 3C", f"{ranks[0]}D {ranks[0]}C {ranks[1]}D {ranks[1]}C RJ", "BJ RJ 3D 3C 4S")


def _runs(ruleset: Ruleset) -> Iterator[str]:
    """Yield runs of cards, pairs and triples of several lengths, around the corner too."""
    count = len(ruleset.ranks)
    for length in (2, 3, 4, 6, 12):
        for start in (0, 1, 2, count - length - 2, count - length - 1, count - length, count - 2, count - 1):
            window = [(start + step) % count for step in range(length)]
            for last in "DS":
                yield _of(ruleset, window, ["DC"[place % 2] for place in range(length - 1)] + [last])
                yield _of(ruleset, window, last * length)
            if length <= 6:
                pairs = [rank for rank in window for _ in range(2)]
                yield _of(ruleset, pairs, "DC" * (length - 1) + "HS")
                yield _of(ruleset, pairs, "HS" * (length - 1) + "DC")
    for start in (0, 1, count - 3, count - 2, count - 1):
        window = [(start + step) % count for step in range(2)]
        triples = [rank for rank in window for _ in range(3)]
        yield _of(ruleset, triples, "DCHDCH")
        yield _of(ruleset, triples, "CHSDHS")
        beside = [(start + 4) % count] * 2 + [(start + 7) % count] * 2
        yield _of(ruleset, triples + beside, "DCHCHSDCDC")
        yield _of(ruleset, triples[:3] + beside, "DCHDCDC")
    for length in (5, 7):
        for start in (0, count - length):
            pairs = [start + step for step in range(length) for _ in range(2)]
            yield _of(ruleset, pairs, "DC" * length)


def odd_sets(ruleset: Ruleset) -> list[str]:
    """Return sets of cards that resemble combinations of any ruleset, and are hardly ever one."""
    return [text for text in _others(ruleset) if _is_held(ruleset, text)]


def _others(ruleset: Ruleset) -> Iterator[str]:
    count = len(ruleset.ranks)
    yield _of(ruleset, range(count), ("DC" * 8)[: count - 1] + "S")
    yield _of(ruleset, range(count - 1), ("DC" * 8)[: count - 1]) + " RJ"
    yield _of(ruleset, range(count), ("HS" * 8)[: count - 1] + "D")
    for start in (0, count - 6, count - 5):
        for suit in "DS":
            flush = [start + step for step in range(5)]
            yield _of(ruleset, [*flush, 0, 1], suit * 5 + "CH")
            yield _of(
                ruleset, [*flush, *([start + 5] if start + 5 < count else [start - 1]), 2], suit * 6 + "C"
            )
    yield _of(ruleset, (0, 0, 0, 1, 1, 1, 4, 5), "DCHDCHDC")
    yield _of(ruleset, (0, 0, 0, 4, 5), "DCHDC")
    yield _of(ruleset, (0, 1), "DD")
    yield _of(ruleset, (0, 0, 1), "DCD")
    yield _of(ruleset, (0, 0, 1, 1), "DCDC")
    yield from (_of(ruleset, (0, 0, 4, 4), suits) for suits in ("DCDC", "HSHS"))
    yield _of(ruleset, (0, 1, 2, 3), "DDDD")
    yield _of(ruleset, (0, 1, 2, 3, 5), "DCHSD")
