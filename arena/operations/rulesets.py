"""Rulesets: which exist, what they mean, and whether one is valid."""

from typing import Annotated, Any

from annotated_types import Len

from arena.operations.operation import Context, operation
from arena.operations.parameters import Cursor, Limit
from arena.queries import rulesets
from arena.queries.replays import sandbox
from referee.ruleset import load_ruleset

Called = Annotated[str, Len(max_length=200), "Name, `name@version`, or the beginning of its hash."]


@operation("GET", "/rulesets", tag="rulesets", lines="rulesets")
def list_rulesets(context: Context, limit: Limit = 100, cursor: Cursor = None) -> rulesets.RulesetPage:
    """List the presets, and the rulesets that tournaments were created with."""
    return rulesets.list_rulesets(context.storage, limit, cursor)


@operation("GET", "/rulesets/{ruleset}", tag="rulesets")
def show_ruleset(context: Context, ruleset: Called) -> rulesets.RulesetShown:
    """Return a ruleset: all its fields, and the rules in words. Presets precede others of the same name."""
    return rulesets.find_ruleset(context.storage, ruleset)


@operation("GET", "/rulesets/{ruleset}/plays", tag="rulesets")
def try_cards(
    context: Context,
    ruleset: Called,
    cards: Annotated[str, Len(1, 200), "As `3D 3C 10H`."],
    against: Annotated[str, Len(max_length=200), "Other cards, in the same notation."] = "",
) -> sandbox.Tried:
    """Return what cards are under a ruleset, what beats them, and whether they beat others."""
    played = load_ruleset(rulesets.find_ruleset(context.storage, ruleset).ruleset)
    put, other = (sandbox.read_cards(played, *pair) for pair in (("cards", cards), ("against", against)))
    return sandbox.try_cards(played, put, other)


@operation("POST", "/rulesets/check", tag="rulesets", body="ruleset")
def check_ruleset(
    context: Context,
    ruleset: Annotated[dict[str, Any], "Fields of a ruleset, as its file has them."],
) -> rulesets.RulesetShown:
    """Return a ruleset in words and its hash, or what is wrong with its fields; nothing is stored."""
    return rulesets.check_ruleset(ruleset)
