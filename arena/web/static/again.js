// Looks again and again at the parts of a page that change by themselves. Without it, load the page again.
// A part is left alone as long as something is typed into it.
const isBusy = (part) =>
  [...part.querySelectorAll("input:not([type=hidden]), select, textarea")].some((one) => one.value || one === document.activeElement);

const seen = new Map([...document.querySelectorAll("[data-again]")].map((part) => [part, part.innerHTML])); // as the server wrote it

function renew(old, fresh) {
  if (fresh.innerHTML === seen.get(old)) return;
  seen.set(old, fresh.innerHTML);
  for (const one of old.querySelectorAll("details[open][id]")) {
    const again = [...fresh.querySelectorAll("details")].find(({ id }) => id === one.id);
    if (again) again.open = true;
  }
  const held = old.contains(document.activeElement) ? document.activeElement : null;
  old.replaceChildren(...fresh.childNodes);
  old.dispatchEvent(new Event("renewed", { bubbles: true }));
  if (!held) return;
  const alike = [...old.querySelectorAll(held.tagName)].find((one) => one.textContent === held.textContent);
  alike?.focus({ preventScroll: true });
}

async function look(from, wait) {
  const answer = document.hidden ? null : await fetch(from, { headers: { Accept: "text/html" } }).catch(() => null);
  if (answer?.ok) {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const old of document.querySelectorAll("[data-again]")) {
      const fresh = page.getElementById(old.id);
      if (old.dataset.from !== from || !fresh || isBusy(old)) continue;
      renew(old, fresh);
      if (!fresh.dataset.again) delete old.dataset.again; // it changes no more
    }
  }
  if ([...document.querySelectorAll("[data-again]")].some((one) => one.dataset.from === from)) setTimeout(look, wait, from, wait);
}

for (const from of new Set([...document.querySelectorAll("[data-again]")].map((one) => one.dataset.from))) {
  const { again } = [...document.querySelectorAll("[data-again]")].find((one) => one.dataset.from === from).dataset;
  setTimeout(look, Number(again), from, Number(again));
}
