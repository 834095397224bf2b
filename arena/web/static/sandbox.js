// Puts cards that are clicked into the field chosen last, and shows what the server says of them.
const form = document.querySelector("[data-sandbox]");
const deck = document.querySelector(".deck");
const slots = [...form.querySelectorAll("[data-slot]")];
const CARD = /(1[0-5]|[0-9A-Z])([DCHSJ])/g;
const WAIT = 150; // ms without another card before the server is asked
let slot = slots[0];
let asked = 0;
let timer;

const RANKS = new Set([...deck.querySelectorAll("[data-card]")].map((one) => one.dataset.card.slice(0, -1)));
const TENS = { T: "10", 10: "T" };

function held(field) {
  return [...field.value.toUpperCase().matchAll(CARD)].map(([, rank, suit]) => (RANKS.has(rank) ? rank : (TENS[rank] ?? rank)) + suit);
}

function mark() {
  const cards = held(slot);
  for (const button of deck.querySelectorAll("[data-card]")) {
    const times = cards.filter((one) => one === button.dataset.card).length;
    button.setAttribute("aria-pressed", times > 0);
    if (times > 1) button.dataset.times = times;
    else delete button.dataset.times;
  }
  for (const one of slots) one.classList.toggle("chosen", one === slot);
}

async function ask() {
  const mine = ++asked;
  const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value.trim()));
  const url = `${location.pathname}${query.size ? `?${query}` : ""}`;
  const answer = await fetch(url, { headers: { Accept: "text/html" } });
  if (mine !== asked) return;
  if (!answer.ok) {
    location.assign(`${url}#sandbox`);
    return;
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.getElementById("tried").replaceChildren(...page.getElementById("tried").childNodes);
  for (const one of slots) {
    const fresh = page.getElementById(one.id);
    one.parentElement.querySelector(".trouble")?.remove();
    for (const name of ["aria-invalid", "aria-describedby"]) {
      if (fresh.hasAttribute(name)) one.setAttribute(name, fresh.getAttribute(name));
      else one.removeAttribute(name);
    }
    const trouble = fresh.parentElement.querySelector(".trouble");
    if (trouble) one.after(trouble);
  }
  history.replaceState(null, "", `${url}#sandbox`);
}

function later() {
  mark();
  clearTimeout(timer);
  timer = setTimeout(ask, WAIT);
}

deck.addEventListener("click", (event) => {
  const card = event.target.closest("[data-card]")?.dataset.card;
  if (!card) return;
  const cards = held(slot);
  const times = cards.filter((one) => one === card).length;
  const kept = times < Number(deck.dataset.decks) ? [...cards, card] : cards.filter((one) => one !== card);
  slot.value = kept.join(" ");
  later();
});

for (const one of slots) {
  one.addEventListener("focus", () => {
    slot = one;
    mark();
  });
  one.addEventListener("input", later);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(timer);
  ask();
});

form.querySelector("[data-clear]").addEventListener("click", (event) => {
  event.preventDefault();
  for (const one of slots) one.value = "";
  slots[0].focus();
  later();
});

mark();
