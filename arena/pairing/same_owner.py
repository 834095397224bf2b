"""Who is refused where no owner may sit twice at a table: bots of owners that have too many."""

from collections.abc import Mapping, Sequence

from arena.errors import SpecError
from arena.pairing.options import option

APART = ("swiss", "continuous")
"""Formats that keep an owner's bots apart however long they go on; in the others all may come to meet."""

NAMED = 4
"""Bots that a refusal names at most."""


def owner_of(bot: str) -> str:
    """The owner of ``owner/bot@version``."""
    return bot.partition("/")[0]


def check_owners(format: str, options: Mapping[str, object], bots: Sequence[str], size: int) -> None:
    """SpecError where bots of one owner would have to sit together, at tables of ``size``, or come to."""
    challengers = set(bots[: option(options, "challengers", size)]) if format == "gauntlet" else set()
    owned: dict[str, list[str]] = {}
    for bot in bots:
        owned.setdefault(owner_of(bot), []).append(bot)
    for own in owned.values():
        if format in APART:
            _check_tables(own, len(bots), size)
        elif len(own) > 1 and not challengers.issuperset(own):  # challengers do not meet each other
            raise SpecError(
                "entrants",
                f"{_owner_with_bots(own)}, who would meet in a {format}; allow_same_owner = true allows it",
            )


def check_entry(bot: str, others: Sequence[str], size: int) -> None:
    """SpecError if ``bot`` is one too many of its owner beside the ``others``, in a format of ``APART``."""
    own = [one for one in others if owner_of(one) == owner_of(bot)]
    _check_tables([*own, bot], len(others) + 1, size)


def _check_tables(own: Sequence[str], entrants: int, size: int) -> None:
    tables = entrants // size
    if len(own) > tables:
        there = "is 1 table" if tables == 1 else f"are {tables} tables"
        raise SpecError(
            "entrants",
            f"{_owner_with_bots(own)}, and there {there} of {size} for {entrants}, "
            "with no owner twice at a table; allow_same_owner = true allows it",
        )


def _owner_with_bots(own: Sequence[str]) -> str:
    more = [f"{len(own) - NAMED} more"] if len(own) > NAMED else []
    return f"{owner_of(own[0])} has {len(own)} bots ({', '.join([*own[:NAMED], *more])})"
