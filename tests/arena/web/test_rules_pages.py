"""The pages of rulesets: each preset in words, with cards, and what parts two of them."""

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from arena.web.pages.rules import paragraph
from referee.describe import describe
from referee.ruleset import load_ruleset, preset_names
from tests.arena.web.markup import Read


@pytest.fixture
def client(app: FastAPI) -> TestClient:
    return TestClient(app, headers={"Accept": "text/html"}, raise_server_exceptions=False)


def test_rules_when_they_are_read_then_every_preset_is_explained_with_its_fields(client: TestClient) -> None:
    listed = Read(client.get("/rules").text)
    for name in preset_names():
        ruleset = load_ruleset(name)
        path = f"/rules/{ruleset.label}"
        assert path in listed.links
        answer = client.get(path)
        assert answer.status_code == 200
        page = Read(answer.text)
        for field in ruleset.to_object():
            assert field in page.text
        assert ruleset.hash in page.text


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
    for name in differ:
        assert f"<code>{name}</code>" in section
    assert "There are none" in client.get("/rules/chinese?other=chinese").text


def test_rules_when_there_is_no_such_ruleset_then_a_page_says_so(client: TestClient) -> None:
    assert client.get("/rules/bridge").status_code == 404
    assert client.get("/rules/chinese?other=bridge").status_code == 404
