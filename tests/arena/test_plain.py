"""Text from outside reaches terminals and logs without anything that would be obeyed rather than shown."""

import io
import json
import logging
import sys
from pathlib import Path

import pytest
from rich.table import Table

from arena.host.logs import JsonFormatter, TextFormatter
from arena.host.settings import Settings
from referee.cli.output import console, print_json, say, show
from referee.cli.tables import PlainConsole
from referee.reading.plain import plain, plain_line
from tests.arena.cli import make_arena

CORPUS = {
    "colour": "\x1b[31mred\x1b[0m",
    "title": "\x1b]0;owned\x07",
    "link": "\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\",
    "erase": "\x1b[2J\x1b[H",
    "c1 csi": "\x9b31m",
    "c1 osc": "\x9d0;owned\x9c",
    "backspace": "wrong\x08\x08\x08\x08\x08right",
    "delete": "a\x7fb",
    "null": "a\x00b",
    "carriage return": "wrong\rright",
    "override": "\u202etxt.exe",
    "isolate": "\u2066a\u2069",
    "marks": "\u200e\u200f\u061c",
    "zero width": "a\u200bb\ufeff",
    "separators": "a\u2028b\u2029c\x85d",
    "tag": "\U000e0041",
    "surrogate": "\udc80",
    "private": "\ue000\U0010ffff",
}
"""What must be shown and never obeyed."""

evil = pytest.mark.parametrize("text", CORPUS.values(), ids=CORPUS.keys())


@evil
def test_plain_of_what_is_obeyed_is_printable_and_says_what_it_was(text: str) -> None:
    shown = plain(text)
    assert shown.isprintable()
    assert all(one in shown for one in text if one.isprintable())
    assert shown.count("\\") >= sum(not one.isprintable() for one in text) > 0
    assert plain_line(text, 200).isprintable()


@pytest.mark.parametrize("text", ["", "ann/greedy@1", "Grüße, 大老二 ♠", "a b"])
def test_plain_of_other_text_is_the_same(text: str) -> None:
    assert plain(text) == plain_line(text, 100) == text


def is_plain(printed: str) -> bool:
    return printed.replace("\n", "").isprintable()


@evil
def test_terminal_when_text_from_outside_is_shown_then_it_is_only_shown(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    say(f"wrong: {text}")
    show(["name"], [[text]], "nothing")
    table = Table()
    table.add_column(text)
    table.add_row(text)
    console().print(table)
    print_json({"name": text})
    out, _ = capsys.readouterr()
    assert is_plain(out)
    assert len(out.splitlines()) > 5


def test_terminal_when_it_has_colours_then_only_the_arenas_own_are_used() -> None:
    file = io.StringIO()
    bold = PlainConsole(file=file, force_terminal=True, color_system="standard", highlight=False)
    bold.print("\x1b[31mred", style="bold")
    assert file.getvalue() == "\x1b[1m\\x1b[31mred\x1b[0m\n"


def logged(formatter: logging.Formatter, text: str) -> str:
    try:
        raise ValueError(text)
    except ValueError:
        record = logging.LogRecord("arena", logging.INFO, "", 1, "said %s", (text,), sys.exc_info())
    return formatter.format(record)


@evil
def test_log_when_text_from_outside_is_logged_then_it_is_only_shown(text: str) -> None:
    lines = logged(TextFormatter("%(levelname)s %(message)s"), f"{text}\nERROR forged")
    assert is_plain(lines)
    assert lines.splitlines()[0] == f"INFO said {plain(text)}\\nERROR forged"
    as_json = logged(JsonFormatter("test"), text)
    assert as_json.isascii()
    assert json.loads(as_json)["message"] == f"said {text}"


@pytest.mark.parametrize("text", [text for text in CORPUS.values() if "\udc80" not in text])
def test_verify_when_a_name_in_the_file_is_evil_then_it_is_only_shown(
    text: str, tmp_path: Path, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    arena = make_arena(settings.data, capsys)
    file = tmp_path / "evil.jsonl"
    file.write_text(json.dumps({"format": f"bigtwo-export/{text}", "part": text, "tournament": text}))
    found = arena("verify", str(file))
    assert found.status == 1
    assert is_plain(found.out + found.err)
    spec = tmp_path / "evil.toml"
    spec.write_text(f"name = {json.dumps(text)}\nformat = {json.dumps(text)}\n", encoding="utf-8")
    refused = arena("tournament", "create", str(spec))
    assert refused.status != 0
    assert is_plain(refused.out + refused.err)
