"""Tests for what authors of bots may rely on: names, parameters and annotations of the SDK."""

import inspect
from types import ModuleType
from typing import Any

import pytest

import referee.bot
import referee.testing
from referee.bot import EndedDeal, EndedSession, Play, Turn, main, run
from referee.testing import DealPlayed, play_deal, turn_at, turn_from

NAMES: dict[ModuleType, str] = {
    referee.bot: "Action Answer Bot Chooser EndedDeal EndedSession ManyChooser Play Turn main run",
    referee.testing: "DealPlayed play_deal turn_at turn_from",
}

PARAMETERS: dict[Any, str] = {
    main: "bot *, max_sessions=0",
    run: "bot *, token *, addresses *, max_sessions=0 *, tls=None",
    play_deal: "*bots *, ruleset='chinese' *, seed='1'",
    turn_at: "record *, deal=None *, action",
    turn_from: "text",
}

MEMBERS = {
    Turn: "actions bank_ms can_pass clockwise counts deal dealer decision_ms hand hand_mask happened kind"
    " legal legal_codes position rules ruleset scores seat seats session to_beat",
    Play: "beats cards code kind mask",
    EndedDeal: "actions clockwise deal dealer end hands left out points ruleset scores seat seats session",
    EndedSession: "end faults forfeits points ruleset seat seats session tournament",
    DealPlayed: "points record seconds",
}


@pytest.mark.parametrize("module", NAMES, ids=lambda module: module.__name__)
def test_modules_of_the_sdk_have_these_names(module: ModuleType) -> None:
    assert sorted(module.__all__) == sorted(NAMES[module].split())
    assert all(hasattr(module, name) for name in module.__all__)


@pytest.mark.parametrize("function", PARAMETERS, ids=lambda function: function.__name__)
def test_functions_of_the_sdk_take_these_arguments_and_say_of_which_type(function: object) -> None:
    signature = inspect.signature(function)  # type: ignore[arg-type]
    assert " ".join(_parameter(one) for one in signature.parameters.values()) == PARAMETERS[function]
    assert all(one.annotation is not one.empty for one in signature.parameters.values())
    assert signature.return_annotation is not signature.empty


def _parameter(one: inspect.Parameter) -> str:
    before = "*, " if one.kind is one.KEYWORD_ONLY else "*" if one.kind is one.VAR_POSITIONAL else ""
    return f"{before}{one.name}" + ("" if one.default is one.empty else f"={one.default!r}")


@pytest.mark.parametrize("kind", MEMBERS, ids=lambda kind: kind.__name__)
def test_values_of_the_sdk_have_these_members_each_with_its_type(kind: type) -> None:
    annotated = inspect.get_annotations(kind)
    found = {name for name in (*dir(kind), *annotated) if not name.startswith("_")}
    assert found == set(MEMBERS[kind].split())
    for name in found - set(annotated) - {"code"}:
        member = inspect.getattr_static(kind, name)
        function: Any = member.fget if isinstance(member, property) else member
        assert inspect.signature(function).return_annotation is not inspect.Signature.empty, name
