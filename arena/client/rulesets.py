"""Calls about rulesets."""

from collections.abc import Mapping

from arena.client.call import Call
from arena.queries.rulesets import RulesetPage, RulesetShown
from arena.replays.sandbox import Tried


def list_rulesets(limit: int = 100, cursor: str | None = None) -> Call[RulesetPage]:
    """List the presets, and the rulesets of tournaments."""
    return Call("GET", "/rulesets", RulesetPage, query={"limit": limit, "cursor": cursor}, lines="rulesets")


def show_ruleset(ruleset: str) -> Call[RulesetShown]:
    """Return a ruleset: by name, ``name@version``, or the beginning of its hash."""
    return Call("GET", "/rulesets/{ruleset}", RulesetShown, {"ruleset": ruleset})


def try_cards(ruleset: str, cards: str, against: str = "") -> Call[Tried]:
    """Return what cards such as ``3D 3C 10H`` are under a ruleset, and whether they beat others."""
    query = {"cards": cards, "against": against}
    return Call("GET", "/rulesets/{ruleset}/plays", Tried, {"ruleset": ruleset}, query)


def check_ruleset(fields: Mapping[str, object]) -> Call[RulesetShown]:
    """Return the ruleset that these fields describe; the answer to wrong ones names what is wrong."""
    return Call("POST", "/rulesets/check", RulesetShown, body=fields)
