"""The contents of a page, as a browser would parse it."""

from html.parser import HTMLParser

VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
)
SELF_CLOSED = frozenset({"path", "rect", "circle", "line", "polyline", "polygon", "use", "ellipse", "stop"})
"""SVG elements without contents."""


class Read(HTMLParser):
    """A parsed page. Parsing fails if its tags do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.inner_scripts = ""
        self.words: list[str] = []
        self._open: list[str] = []
        self._is_data = False
        self.feed(text)
        self.close()
        assert self._open == [], f"{self._open} are not closed"

    @property
    def text(self) -> str:
        """Return all text, with white space as single spaces."""
        return " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Read the start of an element."""
        self._note(tag, attrs)
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Read an element without contents."""
        assert tag in VOID | SELF_CLOSED, f"<{tag}/> is not closed by that"
        self._note(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        """Read the end of an element."""
        assert self._open, f"</{tag}> closes nothing, at {self.getpos()}"
        assert self._open.pop() == tag, f"</{tag}> at {self.getpos()}"

    def handle_data(self, data: str) -> None:
        """Read text."""
        if self._open[-1:] == ["script"]:
            self.inner_scripts += "" if self._is_data else data.strip()
        else:
            self.words.append(data)

    def _note(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self._is_data = ("type", "application/json") in attrs
        for name, value in attrs:
            assert name != "id" or value not in self.ids, f"the id {value} occurs twice"
            self.attributes.add(name)
            if name == "id":
                self.ids.add(str(value))
            if name in ("href", "src", "action"):
                self.links.append(str(value))


class Sent(HTMLParser):
    """What a browser sends of the only form in a text, if nothing is changed: names and values in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fields: list[tuple[str, str]] = []
        self._select, self._options = "", list[tuple[bool, str]]()
        self._area = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Read a control, or an option of one."""
        given = {name: value or "" for name, value in attrs}
        if tag == "select":
            self._select, self._options = given["name"], []
        elif tag == "option":
            self._options.append(("selected" in given, given["value"]))
        elif tag == "textarea":
            self._area = given["name"]
            self.fields.append((self._area, ""))
        elif tag == "input" and "name" in given and (given["type"] != "checkbox" or "checked" in given):
            self.fields.append((given["name"], given.get("value", "")))

    def handle_endtag(self, tag: str) -> None:
        """Choose what a select sends: the last option that is selected, else the first."""
        if tag == "select":
            chosen = [value for selected, value in self._options if selected]
            self.fields.append((self._select, [self._options[0][1], *chosen][-1]))
        elif tag == "textarea":
            self._area = ""

    def handle_data(self, data: str) -> None:
        """Read the text in a text area, without its first line break."""
        if self._area:
            name, before = self.fields[-1]
            self.fields[-1] = name, before + (data if before else data.removeprefix("\n"))
