// Looks again and again how far a bot has come, until it has played its test match. Without it, load the page again.
const lights = document.querySelector("[data-lights]");
const AGAIN = 2000; // ms between two looks

async function look() {
  const answer = document.hidden ? null : await fetch(lights.dataset.lights, { headers: { Accept: "text/html" } }).catch(() => null);
  if (answer?.ok) {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("lights");
    if (fresh && fresh.innerHTML !== lights.innerHTML) lights.replaceChildren(...fresh.childNodes);
  }
  setTimeout(look, AGAIN);
}

if (lights) setTimeout(look, AGAIN);
