"""The API's page for people."""

from html.parser import HTMLParser

from fastapi import FastAPI
from fastapi.testclient import TestClient


class Read(HTMLParser):
    """What a page has in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids.add(str(value))
            if name in ("href", "src"):
                self.links.append(str(value))


def test_docs_when_they_are_read_then_every_route_is_told_with_nothing_from_elsewhere(app: FastAPI) -> None:
    client = TestClient(app)
    answer = client.get("/docs")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    page = Read(answer.text)
    routes = [one for routes in app.openapi()["paths"].values() for one in routes.values()]
    assert {one["operationId"] for one in routes} <= page.ids
    assert {*app.openapi()["components"]["schemas"]} <= page.ids
    assert not page.tags & {"script", "style", "img", "iframe"}  # the policy allows none of these inside
    assert not [name for name in page.attributes if name == "style" or name.startswith("on")]
    for link in page.links:
        assert link[1:] in page.ids if link.startswith("#") else client.get(link).status_code == 200
    assert client.get("/docs.css").headers["content-type"].startswith("text/css")
