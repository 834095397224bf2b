"""The ruleset in the forms of tournaments and leagues: a preset, one that the arena knows, or a file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Len

from arena.core.specs import PLAYED
from arena.operations.operation import Parameter
from arena.queries.rulesets import find_ruleset, list_rulesets
from arena.store.storage import Storage
from arena.web.pages.drawing import Choices
from arena.web.pages.files import read_toml
from referee.docstrings import FormField
from referee.ruleset import Ruleset, load_ruleset, preset_names

FIELD = "ruleset"
FILE = "ruleset_file"

MOST = 100
"""How many rulesets are offered at most: the presets, then those that were used first."""


def file_parameter(within: str = "") -> Parameter:
    """Return the field for a ruleset's file."""
    told = (
        "The fields of its file, as `arena rules check` takes them, such as "
        '`name = "house"` and `extends = "hong-kong"`; it counts instead of the one chosen above.'
    )
    shown = FormField(PLAYED, "A ruleset of your own", rare=True)
    return Parameter(f"{within}{FILE}", Annotated[str, Len(max_length=50_000), shown], None, told)


@dataclass(frozen=True, slots=True)
class Offered:
    """The rulesets that are offered."""

    choices: Choices
    """By name if they are presets, else by hash."""
    chosen: str
    """The present one; empty if there is none."""


def offered(storage: Storage, present: Mapping[str, Any] | str | None) -> Offered:
    """Return the rulesets to choose from; ``present`` is always among them."""
    presets = {load_ruleset(name).hash: name for name in preset_names()}
    known = {line.hash: (line.ruleset, line.players) for line in list_rulesets(storage, MOST).rulesets}
    chosen = ""
    if present is not None:
        one: Ruleset = load_ruleset(present)
        known.setdefault(one.hash, (one.label, one.players))
        chosen = presets.get(one.hash, one.hash)
    labels = [label for label, _ in known.values()]
    choices = {
        presets.get(hash, hash): f"{presets.get(hash, label)}, {players} at a table"
        + (f" ({hash[:8]})" if labels.count(label) > 1 else "")
        for hash, (label, players) in known.items()
    }
    return Offered(choices, chosen)


def put_ruleset(storage: Storage, given: dict[str, Any], present: Mapping[str, Any] | str | None) -> None:
    """Put the ruleset that a form chose, or has as a file, into the fields that it sent.

    Raise SpecError for what is not TOML, and UnknownError.
    """
    file, chosen = given.pop(FILE, None), given.get(FIELD)
    if file is not None:
        given[FIELD] = read_toml(file, FILE)
    elif present is not None and chosen == load_ruleset(present).hash:
        given[FIELD] = present
    elif chosen is not None and chosen not in preset_names():
        given[FIELD] = find_ruleset(storage, chosen).ruleset
