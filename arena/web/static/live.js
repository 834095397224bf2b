// Follows a tournament while it runs: progress at once, standings every few seconds. Without it the page stands still.
import { follow } from "./follow.js";

const followed = document.querySelector("[data-events]");
const REFRESH = 8000; // ms between two looks at the tables, and up to as much again, so that not all readers ask at once

if (followed) {
  const bar = document.getElementById("sessions");
  const text = document.getElementById("progress-text");
  const live = document.getElementById("live");
  const state = document.getElementById("state");
  let waiting = false;
  let shown = "";

  const events = follow(followed.dataset.events, {
    open: () => (live.hidden = false),
    error: () => (live.hidden = true),
    status: (event) => tell(JSON.parse(event.data)),
    end: () => {
      events.stop();
      live.hidden = true;
      later(REFRESH / 2 + REFRESH * Math.random()); // what others are given again is older by then
    },
  });

  function tell(now) {
    bar.max = now.sessions_total || 1;
    bar.value = now.sessions_done;
    const rounds = now.rounds ? `round ${now.round} of ${now.rounds}` : `round ${now.round}`;
    const total = `${now.sessions_total} session${now.sessions_total === 1 ? "" : "s"}`;
    text.textContent = `${now.sessions_done} of ${total}, ${rounds}`;
    const key = `${now.state} ${now.sessions_done} ${now.round}`;
    if (shown && key !== shown) later(REFRESH * (1 + Math.random()));
    shown = key;
  }

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
    if (!answer?.ok) return later(REFRESH * (1 + Math.random()));
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const old of document.querySelectorAll("[data-live]")) {
      const fresh = page.getElementById(old.id);
      if (fresh && fresh.innerHTML !== old.innerHTML && !old.contains(document.activeElement)) old.replaceChildren(...fresh.childNodes);
    }
    const word = page.getElementById("state");
    if (word) state.replaceChildren(...word.childNodes);
  }
}
