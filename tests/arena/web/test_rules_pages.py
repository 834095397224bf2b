"""The pages of rulesets: each preset in words, with cards, and how two of them differ."""

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from arena.actors import Role
from arena.web.pages.rules import OWN_RULESET, paragraph
from referee.describe import describe, summary
from referee.ruleset import load_ruleset, preset_names
from tests.arena.web.markup import Read
from tests.arena.web.test_desk import Browse
from tests.arena.web.test_desk import browse as browse


@pytest.fixture
def client(app: FastAPI) -> TestClient:
    return TestClient(app, headers={"Accept": "text/html"}, raise_server_exceptions=False)


def test_rules_when_they_are_read_then_every_preset_is_explained_with_its_fields(client: TestClient) -> None:
    listed = Read(client.get("/rules").text)
    for name in preset_names():
        ruleset = load_ruleset(name)
        path = f"/rules/{ruleset.label}"
        assert path in listed.links
        assert summary(ruleset) in listed.text
        assert ruleset.hash[:12] not in listed.text
        answer = client.get(path)
        assert answer.status_code == 200
        page = Read(answer.text)
        for field in ruleset.to_object():
            assert field in page.text
        assert ruleset.hash in page.text


def test_summaries_when_presets_differ_in_more_than_their_players_then_so_do_their_lines() -> None:
    by_line: dict[str, set[str]] = {}
    for ruleset in map(load_ruleset, preset_names()):
        by_line.setdefault(summary(ruleset), set()).add(ruleset.name.removesuffix(f"-{ruleset.players}"))
    assert [names for names in by_line.values() if len(names) > 1] == []
    assert summary(load_ruleset("taiwan")) == (
        "One loser pays the winner; suits from clubs up to spades; straights up to 10 J Q K A; "
        "flushes by suit; four of a kind or a straight flush is a bomb."
    )


@pytest.mark.parametrize("name", preset_names())
def test_paragraphs_when_their_parts_are_joined_then_they_are_the_rules_word_for_word(name: str) -> None:
    for text in describe(load_ruleset(name)):
        found = paragraph(text)
        words = "".join(part if isinstance(part, str) else " ".join(part) for part in found.words)
        assert text == (f"{found.title}: {words}" if found.title else words)


def test_paragraph_when_it_has_examples_then_each_is_drawn_as_cards() -> None:
    [found] = [one for text in describe(load_ruleset("hong-kong")) if (one := paragraph(text)).examples]
    assert found.examples[0][0] == "straight"
    assert [len(cards) for _, cards in found.examples] == [5, 5, 5, 5, 5]


def test_rules_when_two_are_compared_then_only_what_differs_is_listed(client: TestClient) -> None:
    answer = client.get("/rules/hong-kong?other=chinese")
    one, other = (load_ruleset(name).to_object() for name in ("hong-kong", "chinese"))
    differ = {name for name in one if one[name] != other[name]} - {"name", "version"}
    section = answer.text.partition('id="differences"')[2].partition("</section>")[0]
    assert differ
    assert section.count("<tr>") == len(differ) + 1
    assert "holder of the <code>lowest</code> card" in section
    assert "A 2 3 4 5<br>2 3 4 5 6<br>" in section
    assert "`" not in section
    for name in differ:
        assert f"<code>{name}</code>" in section
    assert "Only the name differs" in client.get("/rules/chinese?other=chinese").text


def test_ruleset_of_ones_own_when_it_is_checked_then_the_page_says_what_it_means_or_what_is_wrong(
    client: TestClient, browse: Browse
) -> None:
    assert "/sign-in?next=%2Frules" in Read(client.get("/rules").text).links
    ann = browse("ann", Role.AUTHOR)
    own = load_ruleset({"extends": "hong-kong", "name": "our-house", "last_top_card": "allowed"})
    page = Read(ann.post("/rules", data={"ruleset": OWN_RULESET}).text)
    assert own.hash in page.text
    assert "our-house@1" in page.text
    for text in describe(own):
        assert text.partition(": ")[0].split(" (")[0] in page.text
    wrong = ann.post("/rules", data={"ruleset": 'extends = "hong-kong"\nlast_top_cart = "allowed"'})
    assert wrong.status_code == 422
    assert "did you mean 'last_top_card'?" in Read(wrong.text).text
    assert 'last_top_cart = "allowed"' in Read(wrong.text).text
    assert "is not TOML" in Read(ann.post("/rules", data={"ruleset": "]"}).text).text


def test_rules_when_there_is_no_such_ruleset_then_a_page_says_so(client: TestClient) -> None:
    assert client.get("/rules/bridge").status_code == 404
    assert client.get("/rules/chinese?other=bridge").status_code == 404


def test_cards_when_they_stand_in_the_address_then_the_page_tells_what_they_are(client: TestClient) -> None:
    page = Read(client.get("/rules/chinese?cards=4D4C&against=3D3S").text)
    for said in ("Pair of 4s", "Of the 39 strengths", "The first beats the second.", "Beat it", "67 of 73"):
        assert said in page.text
    assert "Beat it" not in Read(client.get("/rules/chinese").text).text
    alone = Read(client.get("/rules/chinese?cards=3D4C").text)
    assert "These cards are no play" in alone.text
    assert "Single card : 2, from 3 to 4" in alone.text
    assert "it beats any play" in Read(client.get("/rules/gamesky?cards=9D9C9H9S3C").text).text


def test_cards_when_they_are_wrong_then_the_field_says_why_and_keeps_what_was_written(
    client: TestClient,
) -> None:
    answer = client.get("/rules/chinese?cards=3D4C&against=<b>&other=hong-kong")
    assert answer.status_code == 200
    page = Read(answer.text)
    assert "'<B>' is not a card; write them as 3D 3C 10H" in page.text
    assert "against-wrong" in page.ids
    assert 'value="&lt;b&gt;"' in answer.text
    assert 'name="other" value="hong-kong"' in answer.text
    assert client.get(f"/rules/chinese?cards={'3D' * 101}").status_code == 422
