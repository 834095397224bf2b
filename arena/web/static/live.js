// Follows a tournament while it runs: progress at once, standings every few seconds. Without it the page stands still.
const followed = document.querySelector("[data-events]");
const REFRESH = 8000; // ms between two looks at the tables, and up to as much again, so that not all readers ask at once

if (followed) {
  const bar = document.getElementById("sessions");
  const text = document.getElementById("progress-text");
  const live = document.getElementById("live");
  const state = document.getElementById("state");
  const source = new EventSource(followed.dataset.events); // it connects again by itself
  let waiting = false;
  let shown = "";

  source.addEventListener("open", () => (live.hidden = false));
  source.addEventListener("error", () => (live.hidden = true));
  source.addEventListener("status", (event) => {
    const now = JSON.parse(event.data);
    bar.max = now.sessions_total || 1;
    bar.value = now.sessions_done;
    const rounds = now.rounds ? `round ${now.round} of ${now.rounds}` : `round ${now.round}`;
    text.textContent = `${now.sessions_done} of ${now.sessions_total} sessions, ${rounds}`;
    const key = `${now.state} ${now.sessions_done} ${now.round}`;
    if (shown && key !== shown) later(REFRESH * (1 + Math.random()));
    shown = key;
  });
  source.addEventListener("end", () => {
    source.close();
    live.hidden = true;
    later(REFRESH / 2 + REFRESH * Math.random()); // what others are given again is older by then
  });

  function later(wait) {
    if (waiting) return;
    waiting = true;
    setTimeout(async () => {
      waiting = false;
      if (document.hidden) return document.addEventListener("visibilitychange", () => later(0), { once: true });
      await refresh();
    }, wait);
  }

  async function refresh() {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
    if (!answer?.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const old of document.querySelectorAll("[data-live]")) {
      const fresh = page.getElementById(old.id);
      if (fresh && fresh.innerHTML !== old.innerHTML && !old.contains(document.activeElement)) old.replaceChildren(...fresh.childNodes);
    }
    const word = page.getElementById("state");
    if (word) state.replaceChildren(...word.childNodes);
  }
}
