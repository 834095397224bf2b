"""Loading rulesets from presets, objects and TOML files."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from referee.errors import RulesetError, TomlError
from referee.ruleset.conflicts import refuse_conflicts
from referee.ruleset.model import Ruleset
from referee.toml import problems_in, read_toml
from referee.validation import shown, suggestion

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
        raise RulesetError("ruleset", f"must be a preset's name or an object, not {shown(source)}")
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
        raise RulesetError(field, f"must be a preset's name, not {shown(name)}")
    hint = suggestion(name, presets)
    all_ = f"{'' if hint else ';'} `arena rules list` shows all {len(presets)}"
    raise RulesetError(field, f"no preset is called {shown(name)}{hint}{all_}")


def _resolve(given: Mapping[str, object]) -> Ruleset:
    base = _preset(_known_preset("extends", given.get("extends", DEFAULT)))
    own = {name: value for name, value in given.items() if name != "extends"}
    return _checked({**base.to_object(), **own})


def _checked(resolved: Mapping[str, object]) -> Ruleset:
    from referee.ruleset.reading import read_ruleset  # pydantic, which takes a while to load

    ruleset = read_ruleset(resolved)
    refuse_conflicts(ruleset)
    return ruleset


@cache
def _preset(name: str) -> Ruleset:
    given = tomllib.loads((_PRESETS / f"{name}.toml").read_text(encoding="utf-8"))
    return _checked(given) if name == DEFAULT else _resolve(given)
