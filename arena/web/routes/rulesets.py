"""Rulesets: which there are, what they mean, and whether one is right."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path

from arena.queries import rulesets
from arena.web.context import Shared
from arena.web.paging import Cursor, Limit
from arena.web.shapes import shape

router = APIRouter(tags=["rulesets"])

RulesetPage = shape(rulesets.RulesetPage)
RulesetShown = shape(rulesets.RulesetShown)

Called = Annotated[
    str, Path(max_length=200, description="Name, `name@version`, or the beginning of its hash.")
]


@router.get("/rulesets", response_model=RulesetPage)
def list_rulesets(web: Shared, limit: Limit = 100, cursor: Cursor = None) -> rulesets.RulesetPage:
    """List the presets, and the rulesets that tournaments were created with."""
    return rulesets.list_rulesets(web.storage, limit, cursor)


@router.get("/rulesets/{ruleset}", response_model=RulesetShown)
def show_ruleset(web: Shared, ruleset: Called) -> rulesets.RulesetShown:
    """Return a ruleset: all its fields, and the rules in words. A preset goes before others of its name."""
    return rulesets.find_ruleset(web.storage, ruleset)


@router.post("/rulesets/check", response_model=RulesetShown)
def check_ruleset(
    sent: Annotated[dict[str, Any], Body(description="Fields of a ruleset, as its file has them.")],
) -> rulesets.RulesetShown:
    """Return what a ruleset means, its hash too, or what is wrong with its fields; nothing is stored."""
    return rulesets.check_ruleset(sent)
