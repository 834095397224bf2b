"""Rulesets: variants of Big Two as validated, frozen values."""

from referee.ruleset.axes.pack import pack_size
from referee.ruleset.axes.scoring import Bonuses, Bracket, Honour
from referee.ruleset.axes.session import SessionEnd
from referee.ruleset.load import DEFAULT, load_ruleset, load_ruleset_file, preset_names
from referee.ruleset.model import Ruleset

__all__ = [
    "DEFAULT",
    "Bonuses",
    "Bracket",
    "Honour",
    "Ruleset",
    "SessionEnd",
    "load_ruleset",
    "load_ruleset_file",
    "pack_size",
    "preset_names",
]
