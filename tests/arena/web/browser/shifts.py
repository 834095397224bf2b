"""How far the parts of a page shift after they were first drawn."""

from playwright.sync_api import Page

SHIFTED = 0.01
"""A layout shift too small to see; up to 0.1 counts as good."""

_NOTE = """
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifted += one.value;
}).observe({ type: "layout-shift", buffered: true });
"""
_DRAWN_TWICE = """() => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(window.shifted)))))"""


def note_shifts(page: Page) -> None:
    """Make a page record layout shifts, from the next navigation on."""
    page.add_init_script(_NOTE)


def shifted(page: Page) -> float:
    """Return the total layout shift, once the page has been drawn again."""
    return float(page.evaluate(_DRAWN_TWICE))
