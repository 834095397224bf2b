"""Loading rulesets from presets, objects and TOML files, and refusing fields that conflict."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from referee.errors import Problem, RulesetError, TomlError
from referee.reading.toml import problems_in, read_toml
from referee.reading.validation import short, suggestion
from referee.ruleset.axes import AXES
from referee.ruleset.axes.scoring import excess
from referee.ruleset.axis import Axis
from referee.ruleset.bounds import listing_problem
from referee.ruleset.model import Ruleset


def refuse_conflicts(ruleset: Ruleset, own: Mapping[str, object]) -> None:
    """Raise RulesetError with all contradictions between fields, if there are any.

    ``own`` has the fields that the preset extended does not supply.
    """
    problems = [problem for field, axis in AXES.items() for problem in _conflicts(ruleset, own, field, axis)]
    problems = problems or [*excess(ruleset), *listing_problem(ruleset)]
    if problems:
        raise RulesetError.of(problems)


def _conflicts(ruleset: Ruleset, own: Mapping[str, object], field: str, axis: Axis) -> Iterator[Problem]:
    if axis.refusal and _lacks_needs(ruleset, field, axis):
        yield Problem(field, axis.refusal)
    for value, other, barred in axis.never:
        if (getattr(ruleset, field), getattr(ruleset, other)) == (value, barred):
            yield Problem(field, f"cannot be {value} with {other}: {barred}")
    for conflict in axis.conflicts(ruleset) if axis.conflicts else ():
        if isinstance(conflict, str):
            yield Problem(field, conflict)
        else:
            fields = conflict.fields
            yield Problem(next((name for name in fields if name in own), fields[0]), conflict.reason)


def _lacks_needs(ruleset: Ruleset, field: str, axis: Axis) -> bool:
    return axis.needs is not None and getattr(ruleset, field) != axis.off and not axis.needs(ruleset)


def _without_lost_fields(ruleset: Ruleset, own: Mapping[str, object]) -> Ruleset:
    """Return the ruleset with those fields off that lost what they need to the ``own`` fields."""
    for field, axis in AXES.items():
        if field not in own and _lacks_needs(ruleset, field, axis):
            ruleset = replace(ruleset, **{field: axis.off})
    return ruleset


def _settled(ruleset: Ruleset) -> Ruleset:
    """Return the ruleset that plays as this one does, the same for all that play alike."""
    for field, axis in AXES.items():
        now: Any = getattr(ruleset, field)
        is_idle = (axis.idle and axis.idle(ruleset)) or _lacks_needs(ruleset, field, axis)
        value = axis.off if is_idle else axis.settled(ruleset) if axis.settled else now
        if value != now:
            ruleset = replace(ruleset, **{field: value})
    return ruleset


DEFAULT = "chinese"
"""The preset that supplies the fields that an object lacks, unless it extends another."""

_PRESETS = files("referee") / "presets"


@cache
def preset_names() -> list[str]:
    """Return the names of all presets: the default first, then the others in alphabetical order."""
    names = [file.name.removesuffix(".toml") for file in _PRESETS.iterdir() if file.name.endswith(".toml")]
    return sorted(names, key=lambda name: (name != DEFAULT, name))


def load_ruleset(source: str | Mapping[str, object]) -> Ruleset:
    """Return the ruleset of a preset's name, or of an object whose ``extends`` names a preset.

    ``{"name": N}`` alone is preset N. Fields that an object lacks come from the preset that it extends,
    ``chinese`` if it names none. Raise RulesetError for any value that is not a ruleset.
    """
    if isinstance(source, str):
        return _preset(_known_preset("ruleset", source))
    if not isinstance(source, Mapping):
        raise RulesetError("ruleset", f"must be a preset's name or an object, not {short(source)}")
    if set(source) == {"name"}:
        return _preset(_known_preset("name", source["name"]))
    return _resolve(source)


def load_ruleset_file(path: Path) -> Ruleset:
    """Return the ruleset in a TOML file. Raise RulesetError, which names the file and each wrong field."""
    try:
        return load_ruleset(read_toml(path))
    except TomlError as error:
        raise RulesetError(str(path), error.reason) from None
    except RulesetError as error:
        raise RulesetError.of(problems_in(path, error.problems)) from None


def _known_preset(field: str, name: object) -> str:
    presets = preset_names()
    if isinstance(name, str) and name in presets:
        return name
    if not isinstance(name, str):
        raise RulesetError(field, f"must be a preset's name, not {short(name)}")
    hint = suggestion(name, presets)
    all_ = f"{'' if hint else ';'} `arena rules list` shows all {len(presets)}"
    raise RulesetError(field, f"no preset is called {short(name)}{hint}{all_}")


def _resolve(source: Mapping[str, object]) -> Ruleset:
    from referee.ruleset.reading import read_ruleset  # pydantic, which takes a while to load

    preset = _known_preset("extends", source.get("extends", DEFAULT))
    own = {name: value for name, value in source.items() if name != "extends"}
    ruleset = _without_lost_fields(read_ruleset({**_written(preset), **own}), own)
    refuse_conflicts(ruleset, own)
    return _named(_settled(ruleset), preset, named="name" in own)


def _named(ruleset: Ruleset, preset: str, *, named: bool) -> Ruleset:
    """Return the ruleset under another name than a preset's, unless it is that preset."""
    if ruleset.name not in preset_names() or ruleset == _preset(ruleset.name):
        return ruleset
    if named:
        raise RulesetError("name", f"is a preset's: give rules that differ from {ruleset.name} another name")
    return replace(ruleset, name=f"{preset}-variant")


@cache
def _written(name: str) -> Mapping[str, object]:
    """Return all fields of a preset as it has them, also those that are idle in it, for what extends it."""
    from referee.ruleset.reading import read_ruleset

    own = tomllib.loads((_PRESETS / f"{name}.toml").read_text(encoding="utf-8"))
    base = {} if name == DEFAULT else _written(str(own.pop("extends", DEFAULT)))
    return read_ruleset({**base, **own}).to_object()


@cache
def _preset(name: str) -> Ruleset:
    from referee.ruleset.reading import read_ruleset

    ruleset = read_ruleset(_written(name))
    refuse_conflicts(ruleset, {})
    return _settled(ruleset)
