// Draws a table with cards: from values to markup, the same as the templates cards.html and replay.html make.

const SUITS = { D: "diamonds", C: "clubs", H: "hearts", S: "spades" };
const JOKERS = { BJ: "black joker", RJ: "red joker" };
const RANKS = { T: "10", J: "jack", Q: "queen", K: "king", A: "ace" };
const NTH = ["", "1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th"];
const MANY = 14;
const PLAYS_SHOWN = 5;

const cardsOf = (text) => (text ? text.split(" ") : []);

export const escape = (text) =>
  String(text).replace(/[&<>"']/g, (one) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;" })[one]);

const suit = (card) => card.slice(-1);
const face = (card) => (card.slice(0, -1) === "T" ? "10" : card.slice(0, -1));
export const spoken = (card) => JOKERS[card] ?? `${RANKS[card.slice(0, -1)] ?? card.slice(0, -1)} of ${SUITS[suit(card)]}`;
export const counted = (count, thing = "card") => `${count} ${thing}${count === 1 ? "" : "s"}`;
const signed = (number) => (number > 0 ? `+${number}` : number < 0 ? `−${-number}` : "0");

export function lasted(ms) {
  if (ms < 1000) return `${ms} ms`;
  const tenths = Math.floor((ms + 50) / 100);
  return `${Math.floor(tenths / 10)}.${tenths % 10} s`;
}

const card = (text) =>
  `<svg class="card ${suit(text)}" role="img" aria-label="${spoken(text)}" viewBox="0 0 60 84"><use href="#card-${suit(text)}"></use>` +
  `<text${face(text).length > 1 ? ' class="wide"' : ""} x="13" y="22">${face(text)}</text></svg>`;

const BACK = '<svg class="card back" aria-hidden="true" viewBox="0 0 60 84"><use href="#card-back"></use></svg>';

const hand = (cards, label) =>
  `<ul class="hand${cards.length > MANY ? " many" : ""}" aria-label="${escape(label)}">` +
  `${cards.map((one) => `<li>${card(one)}</li>`).join("")}</ul>`;

const faceDown = (count) =>
  `<ul class="hand down${count > MANY ? " many" : ""}" role="img" aria-label="${counted(count)}, face down">` +
  `${`<li>${BACK}</li>`.repeat(count)}</ul>`;

const inline = (cards) =>
  cards
    .map((one) => `<b class="mini ${suit(one)}" role="img" aria-label="${spoken(one)}">${face(one)}</b>`)
    .join(" ");

const sentence = (words) => words.map((part) => (typeof part === "string" ? escape(part) : inline(part))).join("");

/** Returns a sentence with its cards as they are said. */
export const said = (words) =>
  words.map((part) => (typeof part === "string" ? part : part.map(spoken).join(", "))).join("");

/** Puts the hands of all steps, and what they cost, together from what changes. */
export function unfold(data) {
  let hands = data.seats.map(() => []);
  let costs;
  for (const step of data.steps) {
    hands = hands.map((hand, seat) => (step.hands?.[seat] === undefined ? hand : cardsOf(step.hands[seat])));
    step.held = hands;
    step.costs = costs = step.costs ?? costs;
  }
  return data;
}

/** Returns what a viewer may know of a step; null may know all. */
export const told = (step, viewer) =>
  viewer !== null && step.knows && !step.knows.includes(viewer) ? step.hidden : step.words;

const began = (data, number) => {
  const { trick } = data.steps[number];
  return trick ? data.steps.slice(0, number + 1).filter((one) => one.trick === trick) : [];
};

const chip = (seat) => `<b class="chip">${seat}</b>`;

/** Returns the address of the page of `owner/bot@version`. */
export function botPage(name) {
  const [owner, bot, version] = name.split(/[/@]/).map(encodeURIComponent);
  return `/bots/${owner}/${bot}${version ? `?version=${version}` : ""}`;
}

function seat(data, number, viewer, which, linked) {
  const step = data.steps[number];
  const trick = began(data, number).filter((one) => one.seat === which);
  const shown = step.kind === "end" || (data.hidden ? false : viewer === null || viewer === which);
  const held = step.held[which];
  const faulty = (step.faults ?? []).some((one) => one.seat === which);
  const asked = (step.asked ?? []).includes(which);
  const out = (step.out ?? []).indexOf(which) + 1;
  const points = step.points?.[which];
  const name = escape(data.short[which]);
  const at = (which - (viewer ?? 0) + data.seats.length) % data.seats.length;
  const classes = [`seat at-${at}`, step.seat === which && "acted", asked && "asked", faulty && "faulty"];
  const title = `title="${escape(data.seats[which])}"`;
  const link = `<a class="name" href="${escape(botPage(data.seats[which]))}" ${title}>${name}</a>`;
  let who = `${chip(which)} ${linked ? link : `<b class="name" ${title}>${name}</b>`}`;
  if (which === data.dealer) who += ' <span class="mark-dealer" title="dealer" role="img" aria-label="dealer">D</span>';
  if (faulty) who += ' <span class="did fault">fault</span>';
  if (out) who += ` <span class="did went"><span class="unseen">out </span>${NTH[out]}</span>`;
  else if (asked) who += ' <span class="did">to act</span>';
  else if (trick.at(-1)?.kind === "pass") who += ' <span class="did">passed</span>';
  if (points !== undefined) {
    who += ` <b class="points${points > 0 ? " plus" : points < 0 ? " minus" : ""}">${signed(points)}</b>`;
  }
  const cost = shown && step.costs ? `, penalty ${step.costs[which]}` : "";
  return (
    `<section class="${classes.filter(Boolean).join(" ")}" data-seat="${which}" aria-label="${name}">` +
    `<div class="sitter">${who}</div><p class="held">${counted(held.length)}${cost}</p>` +
    `${shown ? hand(held, `hand of ${data.short[which]}`) : faceDown(held.length)}</section>`
  );
}

function piles(data, number) {
  const { trick } = data.steps[number];
  const plays = began(data, number).filter((one) => one.kind === "play" || one.kind === "bomb");
  const drawn = plays.slice(-PLAYS_SHOWN).map((one) => {
    const cards = hand(cardsOf(one.cards), one.combination);
    return `<figure class="pile">${cards}<figcaption>${chip(one.seat)} <span class="name">${escape(data.short[one.seat])}</span></figcaption></figure>`;
  });
  const latest = drawn.pop() ?? "";
  return (
    `<section class="piles" aria-label="trick"><p class="trick-number">${trick ? `Trick ${trick}` : ""}</p>` +
    `<div class="earlier">${drawn.join("")}</div><div class="topmost">${latest}</div></section>`
  );
}

/** Returns the table after a step; names are links to the bots' pages if it is `linked`. */
export function table(data, number, viewer, linked) {
  const seats = data.seats.map((_, index) => (index + 1 + (viewer ?? 0)) % data.seats.length);
  const drawn = seats.map((which) => seat(data, number, viewer, which, linked));
  const near = drawn.pop();
  return drawn.join("") + piles(data, number) + near;
}

function time(data, step) {
  if (step.ms === undefined) return "";
  const width = Math.max(Math.floor((step.ms * 100) / Math.max(data.slowest, 1)), 1);
  return (
    '<span class="time"><svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">' +
    `<rect class="rail" width="100" height="6"></rect><rect width="${width}" height="6"></rect></svg>${lasted(step.ms)}</span>`
  );
}

function legal(step) {
  const { count, legal: listed = [], may_pass: mayPass } = step;
  const pass = mayPass ? ", or a pass" : "";
  const first = count ? `${count} ${count === 1 ? "play was" : "plays were"} legal${pass}:` : "No play was legal.";
  const options = listed.map(
    (one) => ` <span class="option${one === step.cards ? " chosen" : ""}">${inline(cardsOf(one))}</span>`,
  );
  const rest = count > listed.length ? ` <span class="rest">and ${count - listed.length} more</span>` : "";
  return `<p class="legal">${first}${options.join("")}${rest}</p>`;
}

/** Returns what there is to tell of a step. */
export function now(data, number, viewer) {
  const step = data.steps[number];
  let more = "";
  if (step.ms !== undefined) {
    const credit = step.credit_ms ? `, with ${lasted(step.credit_ms)} of credit for the network` : "";
    more += `<p>Decided in ${time(data, step)}${credit}</p>`;
  }
  if (step.answers) {
    const asked = step.answers.map(([which, ms]) => `${escape(data.short[which])} ${lasted(ms)}`);
    more += `<p>Asked for a bomb before: ${asked.join(", ")}</p>`;
  }
  if (step.count !== undefined && (viewer === null || viewer === step.seat)) more += legal(step);
  return `<p class="words">${sentence(told(step, viewer))}</p><div class="detail">${more}</div>`;
}

/** Returns the log; `at` returns the address of a step. */
export function log(data, number, viewer, at) {
  const lines = data.steps.map((step, index) => {
    const begins = step.trick && step.trick !== data.steps[index - 1]?.trick;
    const classes = [step.kind, begins && "begins", step.faults && "faulty", step.folded && "folded", index > number && "later"];
    const current = index === number ? ' aria-current="step"' : "";
    const trick = step.trick ? ` data-trick="${step.trick}"` : "";
    const text = sentence(told(step, viewer));
    return (
      `<li class="${classes.filter(Boolean).join(" ")}"${trick}${current}>` +
      `<a href="${escape(at(index))}">${text}</a>${time(data, step)}</li>`
    );
  });
  return lines.join("");
}
