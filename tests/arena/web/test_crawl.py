"""All pages that links lead to, from the leaderboard on, as a browser without scripts would find them."""

import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from urllib.parse import parse_qsl, urlsplit

import pytest
from fastapi.testclient import TestClient

from arena.host.settings import load_settings
from arena.store.models import utc_now
from arena.store.storage import open_storage
from arena.web import limits
from arena.web.app import make_app
from arena.web.headers import POLICY
from arena.web.routing import PREFIX
from tests.arena.web.markup import Read

EACH = 5
"""Maximum number of pages of one kind that are read."""

MADE_UP = re.compile("/matches/winter-.*/1/[0-9]+/[0-9]+/[0-9]+")
"""Deals of the league, whose results are made up, so nobody can replay them."""

NOT_READ = ("/export", "/events")
"""Ends of the paths of long answers, which are not read."""


@pytest.fixture(scope="module")
def client(everything_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = copytree(everything_once, tmp_path_factory.mktemp("crawl") / "arena")
    settings = load_settings({"data": folder / "data"})
    with open_storage(settings) as storage, pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "READS", limits.Rate("reads", 100_000))
        app = make_app(settings, storage, clock=utc_now)
        yield TestClient(app, headers={"Accept": "text/html"}, raise_server_exceptions=False)


def kind_of(link: str) -> str:
    """Return what pages of one kind have in common: the path without names, and the query's keys."""
    parts = urlsplit(link)
    path = (
        re.sub(r"/(bots|matches|rules|leagues|tournaments)/.*", r"/\1/…", parts.path)
        + f" {parts.path.count('/')}"
    )
    return f"{path}?{','.join(sorted(key for key, _ in parse_qsl(parts.query)))}"


def test_pages_when_every_link_is_followed_then_each_leads_to_a_page_that_keeps_the_rules(
    client: TestClient,
) -> None:
    waiting, seen, read = deque(["/"]), {"/"}, dict[str, int]()
    wrong, api = [], set()
    while waiting:
        path = waiting.popleft()
        kind = kind_of(path)
        if read.setdefault(kind, 0) >= EACH:
            continue
        read[kind] += 1
        answer = client.get(path)
        if answer.status_code != 200:
            wrong.append(f"{path}: {answer.status_code}")
            continue
        if not answer.headers["content-type"].startswith("text/html"):
            continue
        if "attachment" in answer.headers.get("content-disposition", ""):
            continue  # a page to download, with a policy of its own
        page = Read(answer.text)
        wrong += [f"{path}: {what}" for what in problems_of(page, answer.headers["content-security-policy"])]
        for link in page.links:
            target = link.partition("#")[0] if not link.startswith("#") else ""
            fragment = link.partition("#")[2]
            if not target and fragment and fragment not in page.ids:
                wrong.append(f"{path}: there is no {link}")
            if not target.startswith("/"):
                elsewhere = path.startswith("/guide") or target.startswith(("https://example.org/", "?"))
                assert not target or elsewhere, (path, link)
            elif target.startswith(PREFIX):
                api.add(target)
            elif target not in seen and not MADE_UP.fullmatch(target):
                seen.add(target)
                waiting.append(target)
    kinds = {kind.partition("?")[0] for kind in read}
    assert wrong == []
    assert len(kinds) >= 15
    for link in sorted(api, key=kind_of)[:: max(1, len(api) // 40)]:
        if not link.endswith(NOT_READ):
            assert client.get(link).status_code == 200, link


def problems_of(page: Read, policy: str) -> Iterator[str]:
    """Yield what is wrong with a page by the rules for all pages."""
    if page.tags & {"style", "iframe"} or "style" in page.attributes or page.inner_scripts:
        yield "a style or a script stands in it, which the policy forbids"
    if [name for name in page.attributes if name.startswith("on")]:
        yield "an attribute is a script"
    if "h1" not in page.tags or "main" not in page.ids:
        yield "no heading, or no main part"
    if policy != POLICY:
        yield "its policy is another one"
