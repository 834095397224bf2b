"""Rulesets: the presets, and those that tournaments were created with."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlmodel import col, select

from arena.core.cursors import LARGEST, make_cursor, read_cursor
from arena.errors import StateError
from arena.queries.names import is_called, rulesets_called
from arena.store.models import StoredRuleset
from arena.store.storage import Storage
from referee.describe import describe, summary
from referee.ruleset import Ruleset, load_ruleset, preset_names


@dataclass(frozen=True, slots=True)
class RulesetLine:
    """A ruleset in a list."""

    ruleset: str
    """Name and version, as ``hong-kong@1``."""
    name: str
    version: int
    players: int
    """Bots at a table."""
    summary: str
    """What sets it apart, in a line."""
    hash: str
    """SHA-256 of its content."""


@dataclass(frozen=True, slots=True)
class RulesetPage:
    """Some rulesets."""

    rulesets: list[RulesetLine]
    """The presets by name, then the others in the order in which they were first used."""
    next: str | None
    """Cursor of the next page; None if there is none."""


@dataclass(frozen=True, slots=True)
class RulesetShown:
    """A ruleset in full."""

    ruleset: dict[str, object]
    """All its fields."""
    label: str
    """Name and version, as ``hong-kong@1``."""
    hash: str
    """SHA-256 of its content."""
    description: list[str]
    """The rules in words, a paragraph each."""


def list_rulesets(storage: Storage, limit: int, cursor: str | None = None) -> RulesetPage:
    """Return the presets, then those of tournaments. Raise SpecError for a cursor of another list."""
    [after] = read_cursor("rulesets", cursor, int) if cursor is not None else (-LARGEST,)
    presets = [_line(load_ruleset(name)) for name in preset_names()]
    lines = {at - len(presets): line for at, line in enumerate(presets) if at - len(presets) > after}
    others = select(StoredRuleset).where(
        col(StoredRuleset.id) > after, col(StoredRuleset.hash).not_in([preset.hash for preset in presets])
    )
    with storage.read() as tx:
        rows = tx.exec(others.order_by(col(StoredRuleset.id)).limit(limit + 1)).all()
    lines |= {row.id: _line(load_ruleset(row.content)) for row in rows}
    numbers = [*lines][:limit]
    more = make_cursor("rulesets", (numbers[-1],)) if len(lines) > limit else None
    return RulesetPage([lines[number] for number in numbers], more)


def _line(ruleset: Ruleset) -> RulesetLine:
    text = summary(ruleset)
    return RulesetLine(ruleset.label, ruleset.name, ruleset.version, ruleset.players, text, ruleset.hash)


def find_ruleset(storage: Storage, called: str) -> RulesetShown:
    """Return the ruleset with a name, ``name@version``, or the beginning of a hash.

    Raise UnknownError, and StateError if several match.
    """
    presets = [load_ruleset(name) for name in preset_names()]
    by_hash = {each.hash: each for each in presets if is_called(called, each.name, each.version, each.hash)}
    if not by_hash:
        with storage.read() as tx:
            ids = rulesets_called(tx, called)
            rows = tx.exec(select(StoredRuleset).where(col(StoredRuleset.id).in_(ids))).all()
            by_hash = {row.hash: load_ruleset(row.content) for row in rows}
    if len(by_hash) > 1:
        several = ", ".join(f"{ruleset.label} ({hash[:12]})" for hash, ruleset in sorted(by_hash.items()))
        raise StateError(f"several rulesets are called {called!r}: {several}; name one by its hash")
    return shown(next(iter(by_hash.values())))


def check_ruleset(content: Mapping[str, object]) -> RulesetShown:
    """Return a ruleset in full, with all its fields resolved. Raise RulesetError."""
    return shown(load_ruleset(content))


def shown(ruleset: Ruleset) -> RulesetShown:
    """Return a ruleset in full."""
    return RulesetShown(ruleset.to_object(), ruleset.label, ruleset.hash, describe(ruleset))
