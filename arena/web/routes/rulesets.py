"""Rulesets: which exist, what they mean, and whether one is valid."""

from typing import Annotated, Any

from fastapi import Body, Path, Query

from arena.queries import rulesets
from arena.replays import sandbox
from arena.web.context import Shared
from arena.web.paging import Cursor, Limit
from arena.web.routing import api_router
from arena.web.shapes import shape
from referee.ruleset import load_ruleset

router = api_router("rulesets")

RulesetPage = shape(rulesets.RulesetPage)
RulesetShown = shape(rulesets.RulesetShown)
Tried = shape(sandbox.Tried)

Called = Annotated[
    str, Path(max_length=200, description="Name, `name@version`, or the beginning of its hash.")
]


@router.get("/rulesets", response_model=RulesetPage)
def list_rulesets(web: Shared, limit: Limit = 100, cursor: Cursor = None) -> rulesets.RulesetPage:
    """List the presets, and the rulesets that tournaments were created with."""
    return rulesets.list_rulesets(web.storage, limit, cursor)


@router.get("/rulesets/{ruleset}", response_model=RulesetShown)
def show_ruleset(web: Shared, ruleset: Called) -> rulesets.RulesetShown:
    """Return a ruleset: all its fields, and the rules in words. Presets precede others of the same name."""
    return rulesets.find_ruleset(web.storage, ruleset)


@router.get("/rulesets/{ruleset}/plays", response_model=Tried)
def try_cards(
    web: Shared,
    ruleset: Called,
    cards: Annotated[str, Query(min_length=1, max_length=200, description="As `3D 3C 10H`.")],
    against: Annotated[str, Query(max_length=200, description="Other cards, in the same notation.")] = "",
) -> sandbox.Tried:
    """Return what cards are under a ruleset, what beats them, and whether they beat others."""
    played = load_ruleset(rulesets.find_ruleset(web.storage, ruleset).ruleset)
    put, other = (sandbox.read_cards(played, *one) for one in (("cards", cards), ("against", against)))
    return sandbox.try_cards(played, put, other)


@router.post("/rulesets/check", response_model=RulesetShown)
def check_ruleset(
    sent: Annotated[dict[str, Any], Body(description="Fields of a ruleset, as its file has them.")],
) -> rulesets.RulesetShown:
    """Return a ruleset in words and its hash, or what is wrong with its fields; nothing is stored."""
    return rulesets.check_ruleset(sent)
