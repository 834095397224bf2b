// Suggests names while somebody types into a search field. Without it, the search has a page.
const PAUSE = 150; // milliseconds without a key until the server is asked

for (const field of document.querySelectorAll("input[data-suggest]")) {
  const list = document.getElementById(field.getAttribute("list"));
  let waiting;
  let asked = "";

  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(suggest, PAUSE);
  });

  async function suggest() {
    const text = field.value.trim();
    if (text === asked) return;
    asked = text;
    if (!text) return list.replaceChildren();
    const answer = await fetch(`${field.dataset.suggest}?limit=6&q=${encodeURIComponent(text)}`).catch(() => null);
    if (!answer?.ok || text !== asked) return;
    const found = await answer.json();
    list.replaceChildren(
      ...found.bots.map((name) => new Option("bot", name)),
      ...found.owners.map((name) => new Option("owner", `${name}/`)),
      ...found.tournaments.map((name) => new Option("tournament", name)),
      ...found.leagues.map((name) => new Option("league", name)),
    );
  }
}
