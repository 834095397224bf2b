"""``arena rules …``: rulesets in words, and the rules tools for bot authors."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from referee.cli.output import MOST, AsJson, print_json, say, show
from referee.describe import describe, summary
from referee.errors import RefereeError
from referee.records import tools
from referee.records.random_play import random_records
from referee.records.replay import Replayer
from referee.rules.plays import compile_ruleset
from referee.ruleset import Ruleset, load_ruleset, load_ruleset_file, preset_names

rules_app = typer.Typer(no_args_is_help=True, help="Show, check and try rulesets.")

NameOrFile = Annotated[str, typer.Argument(metavar="NAME|FILE", help="A preset, or a TOML file.")]

_CHUNK = 1 << 16


@rules_app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the presets."""
    rulesets = [load_ruleset(name) for name in preset_names()]
    if as_json:
        print_json({"rulesets": [_listed(ruleset) for ruleset in rulesets]})
    else:
        rows = [_row(ruleset) for ruleset in rulesets]
        show(["ruleset", ">players", ">packs", ">hand", "points", "draws", ">bombs"], rows, "no rulesets")


@rules_app.command("show")
def show_(ruleset: NameOrFile, as_json: AsJson = False) -> None:
    """Print a ruleset in words, or as the resolved object."""
    _tell(load(ruleset), as_json)


@rules_app.command()
def check(
    file: Annotated[Path, typer.Argument(help="A TOML file of ruleset fields.")], as_json: AsJson = False
) -> None:
    """Print what a ruleset file means, or why it is refused."""
    _tell(load_ruleset_file(file), as_json)


@rules_app.command()
def legal() -> None:
    """Answer, line by line, which plays are legal: JSON in, JSON out (docs/formats.md)."""
    _answer_lines(tools.legal)


@rules_app.command()
def compare() -> None:
    """Answer, line by line, which of two plays beats the other: JSON in, JSON out (docs/formats.md)."""
    _answer_lines(tools.compare)


@rules_app.command()
def replay() -> None:
    """Check deal records, line by line; the exit status is 1 if any is wrong or unreadable."""
    replayer = Replayer()
    if not _answer_lines(lambda record: tools.replay(replayer, record)):
        raise typer.Exit(1)


@rules_app.command()
def random(
    ruleset: Annotated[str, typer.Option(metavar="NAME|FILE", help="A preset, or a TOML file.")],
    deals: Annotated[int, typer.Option(min=1, max=MOST, help="How many deals to play.")],
    seed: Annotated[
        str,
        typer.Option(
            metavar="HEX", help="The tournament seed, 64 digits; a shorter one is padded with zeros."
        ),
    ],
    session_deals: Annotated[
        int | None,
        typer.Option(min=1, max=MOST, help="Deals in a session; by default as many as the ruleset says."),
    ] = None,
) -> None:
    """Play random deals, and write their records."""
    rules = compile_ruleset(load(ruleset))
    for record in random_records(rules, _seed(seed), deals, session_deals):
        sys.stdout.write(_line(record))


def load(name: str) -> Ruleset:
    """Return the ruleset of a preset, or of a file."""
    return load_ruleset_file(Path(name)) if is_file(name) else load_ruleset(name)


def is_file(name: str) -> bool:
    """Return whether this names a file, and not a preset."""
    return name not in preset_names() and (name.endswith(".toml") or Path(name).exists())


def _tell(ruleset: Ruleset, as_json: bool) -> None:
    if as_json:
        print_json({"ruleset": ruleset.to_object()})
    else:
        say(ruleset.label, "", *describe(ruleset))


def _row(ruleset: Ruleset) -> tuple[object, ...]:
    """Return what sets a ruleset apart for users who choose one, in 80 columns for every preset."""
    draws = "" if ruleset.draw_on_pass == "none" else ruleset.draw_on_pass
    cards = ruleset.decks, ruleset.hand_size
    return ruleset.label, ruleset.players, *cards, ruleset.settle, draws, len(ruleset.bombs) or ""


def _listed(ruleset: Ruleset) -> dict[str, object]:
    return {
        "ruleset": ruleset.label,
        "name": ruleset.name,
        "version": ruleset.version,
        "players": ruleset.players,
        "summary": summary(ruleset),
        "hash": ruleset.hash,
    }


def _seed(text: str) -> bytes:
    if not re.fullmatch("[0-9a-fA-F]{1,64}", text):
        raise typer.BadParameter(f"{text!r} is not 1 to 64 hexadecimal digits", param_hint="'--seed'")
    return bytes.fromhex(text.ljust(64, "0"))


def _answer_lines(answer: Callable[[object], dict[str, object]]) -> bool:
    """Answer each line of standard input with one on standard output; return whether none is an error."""
    right = True
    for lines in _batches(sys.stdin.buffer):
        answers = [_answered(line, answer) for line in lines]
        right = right and not any("error" in reply for reply in answers)
        sys.stdout.write("".join([_line(reply) for reply in answers]))
        sys.stdout.flush()
    return right


def _answered(line: bytes, answer: Callable[[object], dict[str, object]]) -> dict[str, object]:
    try:
        return answer(json.loads(line))
    except RefereeError as error:
        return {"error": str(error)}
    except (ValueError, RecursionError) as error:
        return {"error": f"the line is not JSON: {error}"}


def _line(value: object) -> str:
    return json.dumps(value, separators=(",", ":")) + "\n"


def _batches(stream: BinaryIO) -> Iterator[list[bytes]]:
    """Yield the lines of a stream as they come, in batches of those that are there already."""
    rest = b""
    while chunk := stream.read1(_CHUNK):  # type: ignore[attr-defined]
        *lines, rest = (rest + chunk).split(b"\n")
        yield lines
    if rest:
        yield [rest]
