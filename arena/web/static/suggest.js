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
    const names = [...found.bots, ...found.owners.map((name) => `${name}/`), ...found.tournaments, ...found.leagues];
    list.replaceChildren(...names.map(suggestion));
  }
}

/** Returns an option without a text of its own, which some browsers would show instead of the name. */
function suggestion(name) {
  const option = document.createElement("option");
  option.value = name;
  return option;
}
