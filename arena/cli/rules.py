"""``arena rules …`` of the whole arena: lists and shows the rulesets of an arena on the network, too."""

import typer

from arena.cli.context import ask, is_here
from arena.jsonvalues import to_json
from arena.operations import rulesets
from referee.cli import rules
from referee.cli.output import MOST, AsJson, print_json, say, show
from referee.cli.rules import NameOrFile

rules_app = typer.Typer(no_args_is_help=True, help=rules.rules_app.info.help)


@rules_app.command("list")
def list_(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List the presets, or with --server the rulesets of that arena."""
    if is_here(ctx):
        rules.list_(as_json)
        return
    listed = ask(ctx, rulesets.list_rulesets, MOST)
    if as_json:
        print_json(to_json(listed))
    else:
        rows = [(ruleset.ruleset, ruleset.players, ruleset.summary) for ruleset in listed.rulesets]
        show(["ruleset", ">players", "in short"], rows, "no rulesets")


@rules_app.command("show")
def show_(ctx: typer.Context, ruleset: NameOrFile, as_json: AsJson = False) -> None:
    """Print a ruleset in words, or as the resolved object."""
    if is_here(ctx) or rules.is_file(ruleset):
        rules.show_(ruleset, as_json)
        return
    described = ask(ctx, rulesets.show_ruleset, ruleset)
    if as_json:
        print_json({"ruleset": described.ruleset})
    else:
        say(described.label, "", *described.description)


for other in (rules.check, rules.legal, rules.compare, rules.replay, rules.random):
    rules_app.command()(other)
