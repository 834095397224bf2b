"""Tests that the pages show what was really sent and the real reasons, and that the protos agree."""

import re

from referee.protocol.capabilities import turn_kinds
from referee.protocol.reasons import MEANINGS
from referee.ruleset import load_ruleset, preset_names
from referee.v1 import bots_pb2
from tests.wire import page


def test_pages_when_their_parts_are_made_anew_then_they_are_the_same() -> None:
    for path, made in ((page.PAGE, page.page()), (page.STUDIES, page.studies())):
        assert (page.ROOT / path).read_text(encoding="utf-8") == made, "run make golden"


def test_reasons_when_the_proto_is_read_then_it_has_the_same_ones_and_their_statuses() -> None:
    proto = (page.ROOT / "proto/referee/v1/errors.proto").read_text(encoding="utf-8")
    said = re.findall(r"// ERROR_REASON_(\w+), ([A-Z_]+): ", proto)
    assert said == [(reason.value, meaning.status.name) for reason, meaning in MEANINGS.items()]


def test_reasons_when_the_proto_is_read_then_the_same_ones_are_final() -> None:
    proto = (page.ROOT / "proto/referee/v1/errors.proto").read_text(encoding="utf-8")
    comments = re.findall(r"// ERROR_REASON_(\w+), (.*?)ERROR_REASON_\w+ = ", proto, re.DOTALL)
    again = {name for name, comment in comments if re.search(r"Try\s+(//\s+)?again", comment)}
    assert again == {
        reason.value for reason, meaning in MEANINGS.items() if meaning.retry_seconds is not None
    }


def test_page_when_presets_are_read_then_the_kinds_of_turns_are_those_that_they_ask_for() -> None:
    written = (page.ROOT / page.PAGE).read_text(encoding="utf-8")
    told = re.findall(r"^\| `([A-Z_]+)` \| [^|]+ \| (all|none|`[^|]+`) \| ", written, re.MULTILINE)
    presets = {name: turn_kinds(load_ruleset(name)) for name in preset_names()}
    expected = []
    for kind in [kind for kind in bots_pb2.TurnKind.values() if kind]:
        names = [name for name, kinds in presets.items() if kind in kinds]
        shown = "all" if len(names) == len(presets) else ", ".join(f"`{name}`" for name in names) or "none"
        expected.append((bots_pb2.TurnKind.Name(kind).removeprefix("TURN_KIND_"), shown))
    assert told == expected


def test_page_when_the_protos_are_read_then_it_names_every_message_kind_and_code() -> None:
    written = (page.ROOT / page.PAGE).read_text(encoding="utf-8")
    fields = [
        field.name
        for message in (bots_pb2.PlayRequest, bots_pb2.PlayResponse, bots_pb2.Event)
        for field in message.DESCRIPTOR.fields
    ]
    values = [
        name.removeprefix(prefix)
        for enum, prefix in (
            (bots_pb2.TurnKind, "TURN_KIND_"),
            (bots_pb2.FaultKind, "FAULT_KIND_"),
            (bots_pb2.NoticeCode, "NOTICE_CODE_"),
        )
        for name in enum.keys()  # noqa: SIM118  # it is not a dictionary
        if not name.endswith("_UNSPECIFIED")
    ]
    assert [name for name in (*fields, *values) if f"| `{name}` |" not in written] == []
