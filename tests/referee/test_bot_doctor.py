"""``arena bot doctor``: a sentence for each thing that is right or wrong."""

import pytest

from referee.bot.diagnosis import check_token, examine
from referee.cli.app import run
from referee.tls import ClientTls
from tests.referee.support import lowest, referee, sdk_bots
from tests.referee.test_server_tls import World, options, world

__all__ = ["world"]


@pytest.mark.parametrize(
    ("token", "right", "said"),
    [
        ("bt_bot_abc", True, "has a form that a token can have"),
        ("", False, "ARENA_TOKEN is not set; it is what `arena bot register` printed"),
        ("bt_bot_a\nb", False, "ARENA_TOKEN contains characters that no token has"),
        (
            "bt_worker_x",
            False,
            "ARENA_TOKEN is a token of another kind (worker); a bot's begins with bt_bot_",
        ),
    ],
)
def test_token_when_its_form_is_looked_at_then_that_is_said(token: str, right: bool, said: str) -> None:
    assert check_token(token) == ("token", right, said)


async def test_examination_when_all_is_right_then_a_bot_that_plays_is_not_disturbed() -> None:
    async with referee() as address, sdk_bots(address, {1: lowest}):
        found = await examine([address], "bot-1", None)
    assert [(one.right, one.text) for one in found] == [
        (True, "can be reached, without TLS"),
        (True, "knows the token"),
        (True, "speaks version 1 of the protocol, as this SDK does"),
    ]


async def test_examination_when_the_token_is_of_nobody_then_that_is_said(world: World) -> None:
    async with referee(options=options(world)) as address:
        found = await examine([address], "nobody's", ClientTls(world.ours.certificate))
    assert [one.right for one in found] == [True, False]
    assert found[1].text.endswith(": is it of this arena, and of the bot's present version?")


def test_doctor_when_nobody_listens_then_it_says_so_and_exits_with_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_TOKEN", "bt_bot_x")
    assert run(["bot", "doctor", "--referee", "127.0.0.1:1"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "ok     token: has a form that a token can have",
        "wrong  127.0.0.1:1: nobody listens there",
    ]


def test_doctor_when_nothing_is_right_then_each_thing_has_its_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARENA_TOKEN", raising=False)
    assert run(["bot", "doctor", "--referee", "somewhere"]) == 1
    shown = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[0] for line in shown] == ["wrong  token", "wrong  ARENA_REFEREE"]
