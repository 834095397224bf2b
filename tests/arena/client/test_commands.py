"""The commands over the network: what they print, what they change, and which are refused."""

import json
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from arena.bots.journal import DatabaseJournal
from arena.bots.versions import register_version
from arena.cli.context import actor_at_terminal
from arena.client import Client
from arena.people.tokens import DatabaseAuthenticator
from referee.check import SCENARIOS, Report
from referee.check import Result as Scenario
from referee.cli.app import run
from referee.matches.journal import Entry, EntryKind
from tests.arena.cli import Result, assert_one_line
from tests.arena.client.conftest import Remote
from tests.arena.everywhere import CALLS, all_connected, commands
from tests.arena.fakes import ROOT, Clock
from tests.arena.random_play import play_randomly
from tests.arena.test_cli_loading import loaded_by
from tests.arena.world import World

READ = {
    **{name: CALLS[name] for name in CALLS if name.split()[-1] in ("list", "show", "history", "versus")},
    "account invitations": "",
    "audit": "",
    "bot faults": "",
    "bot games": "owner-0/bot-0 --limit 3",
    "bot log": "owner-0/bot-0 --limit 3",
    "crosstable": CALLS["crosstable"],
    "deal costs": "cup 1 1 1 1",
    "deal find": "swing",
    "deal luck": "cup 1 1 1 1",
    "export": "cup",
    "leaderboard": "",
    "rating export": "",
    "league entries": "spring",
    "tournament entries": "asking",
    "tournament may-enter": CALLS["tournament may-enter"],
    "tournament pairings": "cup --explain",
    "tournament soft-play": "cup",
    "tournament standings": CALLS["tournament standings"],
    "tournament watch": "cup",
}
"""Commands that print the same here and over the network."""

CHANGE = {
    "account create": "ann --password-stdin",
    "account role": "zoe organiser",
    "account password": "zoe --password-stdin",
    "account disable": "zoe --yes",
    "account enable": "zoe",
    "account reset": "zoe",
    "account invite": "",
    "account revoke-invitation": "1 --yes",
    "bot register": "owner-0/new --language go --link https://example.org/",
    "rating baseline": "owner-0/bot-0",
    "rating rebuild": "",
    "rating references": "",
    "bot describe": "owner-0/new --language rust",
    "bot rotate": "owner-0/new --yes",
    "bot revoke": "owner-0/new --yes",
    "bot test": "owner-0/bot-0",
    "league apply": "FOLDER/winter.toml --yes",
    "league decline": "spring owner-1/bot-1 --reason late",
    "league approve": "spring owner-1/bot-1",
    "league invite": "spring owner-1",
    "league join": "winter owner-0/bot-0",
    "league leave": "winter member-1/bot",
    "token create": "viewer --scope spectator",
    "token rotate": "viewer --yes",
    "token revoke": "viewer --yes",
    "tournament create": "FOLDER/new.toml",
    "tournament delete": "new --yes",
    "tournament change": "waiting --sessions 3",
    "tournament decline": "asking owner-1/bot-5 --reason late",
    "tournament approve": "asking owner-1/bot-5",
    "tournament invite": "asking owner-1",
    "tournament enter": "waiting owner-1/bot-5",
    "tournament withdraw": "waiting owner-0/bot-4",
    "tournament lock": "waiting",
    "tournament start": "waiting",
    "tournament pause": "running",
    "tournament resume": "paused",
    "tournament stop": "running",
    "tournament cancel": "running --yes",
    "tournament correct": CALLS["tournament correct"],
    "tournament confirm": CALLS["tournament confirm"],
    "webhook add": CALLS["webhook add"],
    "webhook rotate": "mine",
    "webhook test": "mine",
    "webhook deliveries": "mine",
    "webhook remove": "mine --yes",
}
"""Commands that change an arena, here or over the network, in an order in which all succeed."""

OTHERWISE = {
    "account keys": "is about an account, which the terminal has not",
    "account revoke-key": "is about an account, which the terminal has not",
    "bot mine": "is about an account's bots, which the terminal has not",
    "deal estimate": "is asked by an account, which the terminal has not",
    "bot check": "is run here, and stored over the network",
    "doctor": "what is measured may differ",
    "rules list": "has all rulesets of the arena over the network",
    "webhook list": "has the account's over the network, and the terminal's here",
    "verify": "takes files, and tournaments over the network",
}
"""Commands that also work over the network but print something else, and why."""

WITHOUT_ARENA = {
    *(
        "bot doctor",
        "bot explain",
        "bot new",
        "bot rewind",
        "bot run",
        "play",
        "compare",
        "login",
        "logout",
        "match seating",
    ),
    *("rules check", "rules compare", "rules legal", "rules random", "rules replay", "vectors export"),
}
"""Commands that concern no arena or name it themselves, so that ``--server`` makes no difference."""

REFUSED = {
    *(
        "backup",
        "beat",
        "config",
        "demo",
        "migrate",
        "referee",
        "restore",
    ),
    *("up", "web", "worker"),
}
"""Commands that need the arena's data or its machine."""

for other in ("rules list", "webhook list"):
    READ.pop(other)
CSV = [name for name in READ if any("--csv" in one.opts for one in dict(commands())[name].params)]

MADE = {
    "token",
    "key",
    "link",
    "code",
    "secret",
    "message",
    "seed",
    "seed_hash",
    "commitment",
    "invited_by",
    "answered_by",
    "name",
    "by",
    "at",
}
"""Keys whose values are drawn at random, or depend on who made the change and when."""

Arena = Callable[..., Result]


def test_every_command_is_in_one_of_the_lists() -> None:
    listed = [*READ, *CHANGE, *OTHERWISE, *WITHOUT_ARENA, *REFUSED]
    assert sorted(listed) == sorted(dict(commands()))


@pytest.fixture(autouse=True)
def signed_in(remote: Remote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a key, and make all bots appear connected, as in the served arena."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("ARENA_KEY", remote.key)
    monkeypatch.setenv("LOGNAME", "root")
    actor_at_terminal.cache_clear()
    monkeypatch.setattr("arena.tournaments.referees.asker", lambda _: all_connected)
    monkeypatch.setattr("arena.play.messages.wake", lambda *_: None)


def called(capsys: pytest.CaptureFixture[str], *arguments: object) -> Result:
    """Run ``arena`` with these arguments, and return how it ended."""
    capsys.readouterr()
    status = run([*map(str, arguments)])
    return Result(status, *capsys.readouterr())


FORMS = [
    (name, form)
    for name in READ
    for form in ("", "--json", "--csv")
    if (form != "--csv" or name in CSV) and (form != "--json" or not name.endswith("export"))
]


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_command_that_reads_prints_the_same_over_the_network(
    name: str, form: str, remote: Remote, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*name.split(), *READ[name].split(), *form.split()]
    here = called(capsys, "--data", remote.folder / "data", *words)
    there = called(capsys, "--server", remote.url, *words)
    assert here.status == 0, here
    assert there == here
    assert here.out


def normal(found: Any) -> Any:
    """Return what was printed without the values that depend on chance, on the clock or on who did it."""
    if isinstance(found, dict):
        return {
            name: normal(one)
            for name, one in found.items()
            if name not in MADE and not name.endswith(("_at", "_on")) and "test-" not in str(one)
        }
    return [*map(normal, found)] if isinstance(found, list) else found


def test_commands_that_change_something_do_the_same_over_the_network(
    remote: Remote, everything: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, rest in CHANGE.items():
        words = [*name.split(), *rest.replace("FOLDER", str(everything)).split(), "--json"]
        found = []
        for where in (["--data", str(everything / "data")], ["--server", remote.url]):
            monkeypatch.setattr(sys, "stdin", StringIO("correct horse battery\n"))
            found.append(called(capsys, *where, *words))
        assert [one.status for one in found] == [0, 0], (name, found)
        here, there = (normal(json.loads(one.out)) for one in found)
        assert there == here, name


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_command_that_takes_the_arenas_data_is_refused_over_the_network(
    name: str, remote: Remote, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rest = CALLS.get(name, "").replace("FOLDER", str(remote.folder))
    refused = called(capsys, "--server", remote.url, *name.split(), *rest.split())
    assert_one_line(refused, 1, f"`arena {name}` works where the arena's data is")


def test_log_is_followed_over_the_network_too(
    remote: Remote, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = iter(["one more", "and one more"])

    def pause() -> None:
        if (text := next(texts, None)) is None:
            raise KeyboardInterrupt
        with DatabaseJournal(remote.storage, "127.0.0.1:8710") as journal:
            journal.add(Entry(1, EntryKind.NOTICE, "", text))

    monkeypatch.setattr("referee.cli.botlog.pause", pause)
    monkeypatch.setenv("ARENA_KEY", remote.key)
    done = called(capsys, "--server", remote.url, "bot", "log", "owner-0/bot-0", "--follow", "--json")
    told = [json.loads(line)["text"] for line in done.out.splitlines()]
    assert told[-2:] == ["one more", "and one more"]
    assert (told.count("one more"), told.count("and one more")) == (1, 1)


def test_check_is_stored_over_the_network(
    remote: Remote, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = tuple(Scenario(one.code, one.title, "passed", "", 0.1) for one in SCENARIOS)

    async def check(**_: Any) -> Report:
        return Report("owner-2/bot-2@1", "none", 1, passed)

    monkeypatch.setattr("referee.check.check", check)
    done = called(capsys, "--server", remote.url, "bot", "check", "owner-2/bot-2", "--json")
    assert (done.status, json.loads(done.out)["passed"]) == (0, True)
    shown = called(capsys, "--server", remote.url, "bot", "list", "--owner", "owner-2", "--json")
    assert json.loads(shown.out)["bots"][0]["check_passed_at"] is not None


def test_doctor_tells_of_the_arena_on_the_network(remote: Remote, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(called(capsys, "--server", remote.url, "doctor", "--json").out)["findings"]
    assert {"database", "disk"} <= {one["check"] for one in found}


def test_rulesets_are_those_of_the_arena_on_the_network(
    remote: Remote, capsys: pytest.CaptureFixture[str]
) -> None:
    here, there = (
        json.loads(called(capsys, *where, "rules", "list", "--json").out)["rulesets"]
        for where in ([], ["--server", remote.url])
    )
    assert there[: len(here)] == here
    told = called(capsys, "--server", remote.url, "rules", "list").out
    assert there[0]["summary"].split()[0] in told
    assert there[0]["hash"][:12] not in told


def test_tournament_on_the_network_is_verified_like_its_export(
    remote: Remote, capsys: pytest.CaptureFixture[str]
) -> None:
    here = called(capsys, "verify", remote.folder / "cup.jsonl")
    there = called(capsys, "--server", remote.url, "verify", "cup")
    assert there == here._replace(out=here.out.replace(str(remote.folder / "cup.jsonl"), "cup"))


def test_export_on_the_network_is_written_to_a_file(
    remote: Remote, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cup.jsonl"
    assert called(capsys, "--server", remote.url, "export", "cup", "--output", file).status == 0
    assert file.read_text() == (remote.folder / "cup.jsonl").read_text()


def test_list_when_it_is_cut_then_the_cursor_is_that_of_here(
    remote: Remote, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["match", "list", "--limit", "3", "--json"]
    here = json.loads(called(capsys, "--data", remote.folder / "data", *words).out)
    more = called(capsys, "--server", remote.url, *words, "--cursor", here["next"])
    assert json.loads(more.out)["matches"][0] not in here["matches"]


@pytest.mark.parametrize(
    "arguments",
    [
        "tournament show cupp",
        "bot show owner-0/bot-9",
        "bot revoke owner-0/bot-9 --yes",
        "bot rotate owner-0/bot-9 --yes",
        "bot revoke owner-0/bot-0@9 --yes",
        "league show wintr",
        "leaderboard --ruleset chines",
        "crosstable owner-0/bot-7 owner-0/bot-8",
        "match show cup 9 9",
        "match show cup 1 1 --session 9",
        "tournament enter cup owner-0/bot-0",
        "tournament create FOLDER/new.toml --entrant member-1/bott --entrant zoe/zigzag",
        "bot register owner-0/bot-0 --language x\ty",
        "token revoke organizer --yes",
    ],
)
def test_error_is_told_in_the_same_words_over_the_network(
    arguments: str, remote: Remote, capsys: pytest.CaptureFixture[str]
) -> None:
    words = arguments.replace("FOLDER", str(remote.folder)).split(" ")
    here = called(capsys, "--data", remote.folder / "data", *words)
    there = called(capsys, "--server", remote.url, *words)
    assert here.status == 1
    assert there == here


def test_webhooks_over_the_network_are_those_of_the_account(
    remote: Remote, capsys: pytest.CaptureFixture[str]
) -> None:
    def webhooks() -> list[str]:
        found = json.loads(called(capsys, "--server", remote.url, "webhook", "list", "--json").out)
        return [one["name"] for one in found["webhooks"]]

    assert webhooks() == []
    called(capsys, "--server", remote.url, "webhook", "add", "own", "https://example.org/hook")
    assert webhooks() == ["own"]
    called(capsys, "--server", remote.url, "webhook", "remove", "own", "--yes")


def test_leaderboard_over_the_network_loads_nothing_of_a_database(remote: Remote) -> None:
    shown, loaded = loaded_by("--server", remote.url, "leaderboard", "--json")
    assert json.loads(shown)["leaderboard"]
    forbidden = ("sqlalchemy", "sqlmodel", "arena.store.models", "arena.store.storage", "grpc", "celery")
    assert [name for name in forbidden if name in loaded] == []


BOTS = """
[[bots]]
bot = "pat/one"
language = "go"

[[bots]]
bot = "pat/two"
expires_in = 30
"""


def test_bots_of_a_file_are_registered_over_the_network_each_with_its_token_in_a_file(
    remote: Remote, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, tokens = tmp_path / "bots.toml", tmp_path / "tokens"
    file.write_text(BOTS)
    words = ["--server", remote.url, "bot", "register", "--file", file, "--tokens"]
    done = called(capsys, *words, tokens, "--json")
    made = json.loads(done.out)["bots"]
    assert [one["bot"] for one in made] == ["pat/one@1", "pat/two@1"]
    assert "bt_bot_" not in done.out
    authenticator = DatabaseAuthenticator(remote.storage, "hush")
    for one in made:
        path = Path(one["token_file"])
        identity = authenticator.bot(path.read_text().strip())
        assert identity is not None
        assert (identity.name, path.stat().st_mode & 0o777) == (one["bot"], 0o600)
    again = called(capsys, *words, tmp_path / "others")
    *named, summed = again.err.splitlines()
    assert named == [f"error: bots: {name} is registered already" for name in ("pat/one", "pat/two")]
    assert summed.startswith("error: bots: all 2 are registered already: ")
    assert not (tmp_path / "others").exists()


def test_bots_of_a_file_when_their_tokens_cannot_be_written_then_what_to_do_is_said(
    remote: Remote, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, tokens = tmp_path / "bots.toml", tmp_path / "tokens"
    file.write_text(BOTS.replace("pat/", "kim/"))
    real = Client.send

    def send(client: Client, call: Any) -> Any:
        answer = real(client, call)
        (tokens / "kim.two.token").unlink()
        return answer

    monkeypatch.setattr(Client, "send", send)
    refused = called(capsys, "--server", remote.url, "bot", "register", "--file", file, "--tokens", tokens)
    assert (refused.status, tokens.exists()) == (1, False)
    assert "registered all the same" in refused.err
    assert "arena bot rotate" in refused.err
    assert f"tokens: cannot write in {tokens}: No such file or directory" in refused.err


@pytest.mark.parametrize("form", ["", "--json"])
def test_match_whose_deals_others_still_have_to_play_is_shown_without_them_here_and_there(
    remote: Remote, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    name = f"open{len(form)}"
    world = World(remote.storage, Clock())
    names = [register_version(world.storage, ROOT, f"{name}/{n}", world.clock()).bot for n in range(8)]
    cup = world.tournament_of(names, name=name, format="swiss", rounds=1, deals=1, duplicate=True)
    world.advance(cup.id)
    world.play(world.messages[0], play_randomly)
    shown = []
    for where in (["--data", remote.folder / "data"], ["--server", remote.url]):
        shown.append(called(capsys, *where, "match", "show", name, "1", "1", *form.split()))
        refused = called(capsys, *where, "match", "show", name, "1", "1", "--session", "1")
        assert_one_line(refused, 1, "other tables still have to play these deals")
    here, there = shown
    assert (here.status, there) == (0, here)
    assert "other tables still have to play these deals" in here.out
    if form:
        sessions = json.loads(here.out)["sessions"]
        assert sessions
        assert all(
            (one["points"], one["deal_points"], one["records"]) == (None, None, []) for one in sessions
        )
    else:
        assert f"{name}/" in here.out
