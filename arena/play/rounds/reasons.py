"""Why a table of a Swiss round is as it is, in words."""

from collections.abc import Iterator, Mapping

from arena.core.pairing import TableReason


def reason_lines(reason: TableReason, names: Mapping[int, str]) -> Iterator[str]:
    """Yield lines with the reasons for a table; ``names`` are those of the entrants."""
    places = ", ".join(map(str, reason.places))
    scores = ", ".join(map(_number, reason.scores))
    yield f"places {places}; scores {scores}; gap {_number(reason.gap)}"
    counts = [
        ("avoided: same owner", reason.owners_avoided),
        ("avoided: they have met", reason.repeats_avoided),
        ("accepted: same owner", reason.owners_accepted),
        ("accepted: they have met", reason.repeats_accepted),
    ]
    for what, pairs in counts:
        if pairs:
            yield f"{what}: {', '.join(f'{names[a]} – {names[b]}' for a, b in pairs)}"
    if reason.instead is None and (reason.owners_accepted or reason.repeats_accepted):
        yield "no exchange with a nearby table would improve it"
    if reason.instead is not None:
        best, change = reason.instead, reason.instead.change
        parts = [
            ("same owner", change.owners),
            ("repeats", change.repeats),
            ("squared gaps", change.gaps / 4),
        ]
        costs = ", ".join(f"{what} {'+' if more > 0 else ''}{_number(more)}" for what, more in parts)
        yield f"best exchange: {names[best.entrant]} for {names[best.other]} of table {best.table}: {costs}"


def _number(value: float) -> str:
    """Return a number with at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
