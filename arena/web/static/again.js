// Looks again and again at the parts of a page that change by themselves. Without it, load the page again.
const parts = [...document.querySelectorAll("[data-again]")];

async function look(from, wait) {
  const answer = document.hidden ? null : await fetch(from, { headers: { Accept: "text/html" } }).catch(() => null);
  if (answer?.ok) {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const old of parts.filter((one) => one.dataset.from === from)) {
      const fresh = page.getElementById(old.id);
      if (fresh && fresh.innerHTML !== old.innerHTML && !old.contains(document.activeElement)) old.replaceChildren(...fresh.childNodes);
    }
  }
  setTimeout(look, wait, from, wait);
}

for (const from of new Set(parts.map((one) => one.dataset.from))) {
  const wait = Number(parts.find((one) => one.dataset.from === from).dataset.again);
  setTimeout(look, wait, from, wait);
}
