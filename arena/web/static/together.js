// Goes through the tricks of one deal at many tables without leaving the page: keys and links.
const box = () => document.getElementById("together");
let going = 0;

async function follow(url) {
  const mine = ++going;
  const answer = await fetch(url, { headers: { Accept: "text/html" } });
  if (mine !== going) return; // the reader is further on already
  if (!answer.ok) {
    location.assign(url);
    return;
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const focused = document.activeElement?.textContent;
  box().replaceWith(page.getElementById("together"));
  history.replaceState(null, "", url);
  [...box().querySelectorAll("[data-trick]")].find((one) => one.textContent === focused)?.focus();
}

const KEYS = { Home: "First", ArrowLeft: "Back", ArrowRight: "On", End: "Last" };

document.addEventListener("keydown", (event) => {
  if (!(event.key in KEYS) || event.target.closest("input, select, textarea")) return;
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  const link = [...box().querySelectorAll("a[data-trick]")].find((one) => one.textContent === KEYS[event.key]);
  if (!link) return;
  event.preventDefault();
  follow(link.href);
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-trick]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  follow(link.href);
});
