"""Refusals if no owner may sit twice at a table: bots of owners that have too many."""

from collections.abc import Sequence

from arena.errors import SpecError

NAMED = 4
"""The most bots that a refusal names."""


def owner_of(bot: str) -> str:
    """Return the owner of ``owner/bot@version``."""
    return bot.partition("/")[0]


def by_owner(bots: Sequence[str]) -> list[list[str]]:
    """Return the bots of each owner, in the order of ``bots``."""
    owned: dict[str, list[str]] = {}
    for bot in bots:
        owned.setdefault(owner_of(bot), []).append(bot)
    return list(owned.values())


def check_entry(bot: str, others: Sequence[str], size: int) -> None:
    """Raise SpecError if ``bot`` is one too many of its owner among the ``others`` at tables of ``size``."""
    own = [one for one in others if owner_of(one) == owner_of(bot)]
    check_tables([*own, bot], len(others) + 1, size)


def check_tables(own: Sequence[str], entrants: int, size: int) -> None:
    """Raise SpecError if one owner has more bots than ``entrants`` fill tables of ``size``."""
    tables = entrants // size
    if len(own) > tables:
        there = "is 1 table" if tables == 1 else f"are {tables} tables"
        raise SpecError(
            "entrants",
            f"{_owner_with_bots(own)}, and there {there} of {size} for {entrants}, "
            "with no owner twice at a table; allow_same_owner = true allows it",
        )


def would_meet(own: Sequence[str], format: str) -> SpecError:
    """Return the refusal of an owner's bots in a format in which any of them may meet."""
    who = _owner_with_bots(own)
    return SpecError("entrants", f"{who}, who would meet in a {format}; allow_same_owner = true allows it")


def _owner_with_bots(own: Sequence[str]) -> str:
    more = [f"{len(own) - NAMED} more"] if len(own) > NAMED else []
    return f"{owner_of(own[0])} has {len(own)} bots ({', '.join([*own[:NAMED], *more])})"
