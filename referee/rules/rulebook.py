"""Compiled rules for a ruleset in JSON, by name or as an object, cached as many lines have the same one."""

import json
from functools import lru_cache

from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import load_ruleset


def rules_of(source: object) -> Rules:
    """Return the compiled rules of a preset's name or a ruleset object. Raise RulesetError if it is wrong."""
    return _compiled(json.dumps(source, sort_keys=True))


@lru_cache(maxsize=64)
def _compiled(text: str) -> Rules:
    return compile_ruleset(load_ruleset(json.loads(text)))
