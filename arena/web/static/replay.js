// Goes through a deal step by step: keys, buttons, slider, playing on; every step has an address.
import { log, now, said, table, told, unfold } from "./table.js";

const PACE = 1000; // milliseconds a step, at single speed
const SETTLED = 300; // milliseconds without a step until the address changes: browsers allow few changes

const root = document.documentElement;
const data = unfold(JSON.parse(document.getElementById("replay-data").textContent));
const box = document.getElementById("replay");
const part = (id) => document.getElementById(id);
const last = data.steps.length - 1;
const linked = "linked" in box.dataset; // a file on a disk has no pages of bots beside it
const stops = data.steps.flatMap((step, at) => (at && step.trick !== data.steps[at - 1].trick ? [at] : []));
stops.unshift(0);
stops.push(last);
const whole = (text, most, other) => (/^\d+$/.test(text ?? "") && Number(text) <= most ? Number(text) : other);

const asked = new URLSearchParams(location.search);
const state = {
  number: whole(asked.get("step"), last, 0),
  viewer: whole(asked.get("view"), data.seats.length - 1, null),
  hidden: (asked.get("spoilers") ?? root.dataset.spoilers) === "off",
  playing: null,
};

const keep = (name, value) => {
  root.dataset[name] = value;
  try {
    localStorage.setItem(name, value);
  } catch {
    // then it holds for this page only
  }
};

function address(number = state.number, viewer = state.viewer, hidden = state.hidden) {
  const spoilers = hidden ? "&spoilers=off" : "";
  return `?step=${number}&view=${viewer ?? "open"}${spoilers}`;
}

const toStep = (number) => address(number);

let settling;
function settle() {
  clearTimeout(settling);
  settling = setTimeout(() => {
    try {
      history.replaceState(null, "", address());
    } catch {
      // a file that was opened from a disk may have no other address
    }
  }, SETTLED);
}

const targets = () => ({
  first: 0,
  "trick-back": stops.findLast((one) => one < state.number),
  back: state.number - 1,
  on: state.number + 1,
  "trick-on": stops.find((one) => one > state.number),
  last,
});

function drawButtons() {
  const goal = targets();
  for (const button of box.querySelectorAll("[data-go]")) {
    const target = goal[button.dataset.go];
    const goes = target >= 0 && target <= last && target !== state.number;
    if (goes) button.setAttribute("href", toStep(target));
    else button.removeAttribute("href");
    button.toggleAttribute("aria-disabled", !goes);
    if (!goes) button.setAttribute("aria-disabled", "true");
  }
  const play = box.querySelector("[data-play]");
  play.setAttribute("aria-pressed", String(state.playing !== null));
  play.setAttribute("aria-label", state.playing === null ? "Play" : "Pause");
  for (const link of box.querySelectorAll("[data-view]")) {
    const viewer = link.dataset.view === "open" ? null : Number(link.dataset.view);
    link.setAttribute("href", address(state.number, viewer));
    if (viewer === state.viewer) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  for (const link of box.querySelectorAll("[data-step]")) {
    link.setAttribute("href", toStep(Number(link.dataset.step)));
    link.classList.toggle("later", Number(link.dataset.step) > state.number);
  }
  const spoil = box.querySelector("[data-spoil]");
  spoil.textContent = state.hidden ? "Show what comes" : "Hide what comes";
  spoil.setAttribute("href", address(state.number, state.viewer, !state.hidden));
}

function drawLog() {
  part("log").innerHTML = log(data, state.number, state.viewer, toStep);
  showLine();
}

function markLog() {
  [...part("log").children].forEach((line, index) => {
    line.classList.toggle("later", index > state.number);
    if (index === state.number) line.setAttribute("aria-current", "step");
    else line.removeAttribute("aria-current");
  });
  showLine();
}

function showLine() {
  const list = part("log");
  const line = list.children[state.number];
  const above = line.offsetTop - list.scrollTop;
  if (above < 0 || above + line.offsetHeight > list.clientHeight) {
    list.scrollTop = line.offsetTop - list.clientHeight / 3;
  }
}

function draw() {
  part("table").innerHTML = table(data, state.number, state.viewer, linked);
  part("now").innerHTML = now(data, state.number, state.viewer);
  part("number").textContent = state.number;
  part("slider").value = state.number;
  part("slider").setAttribute("aria-valuetext", `Step ${state.number}`);
  part("said").textContent = said(told(data.steps[state.number], state.viewer));
  box.dataset.spoilers = state.hidden ? "off" : "on";
  drawButtons();
  settle();
}

function go(number) {
  const wanted = Math.min(Math.max(number, 0), last);
  if (wanted === state.number) return;
  state.number = wanted;
  draw();
  markLog();
}

function look(viewer) {
  state.viewer = viewer;
  draw();
  drawLog();
}

function pause() {
  clearInterval(state.playing);
  state.playing = null;
  drawButtons();
}

function play() {
  if (state.number === last) go(0);
  clearInterval(state.playing);
  state.playing = setInterval(() => {
    go(state.number + 1);
    if (state.number === last) pause();
  }, PACE / Number(part("speed").value));
  drawButtons();
}

function step(number) {
  pause();
  go(number);
}

const KEYS = {
  ArrowLeft: () => step(state.number - 1),
  ArrowRight: () => step(state.number + 1),
  "shift ArrowLeft": () => step(targets()["trick-back"] ?? 0),
  "shift ArrowRight": () => step(targets()["trick-on"] ?? last),
  Home: () => step(0),
  End: () => step(last),
  " ": () => (state.playing === null ? play() : pause()),
};

document.addEventListener("keydown", (event) => {
  const busy = event.target.closest("input, select, textarea") || (event.key === " " && event.target.closest("button, a"));
  const key = event.shiftKey ? `shift ${event.key}` : event.key;
  if (busy || event.ctrlKey || event.altKey || event.metaKey || !(key in KEYS)) return;
  event.preventDefault();
  KEYS[key]();
});

const PLAIN = (event) => event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);

box.addEventListener("click", (event) => {
  if (!PLAIN(event)) return;
  const { target } = event;
  const goes = target.closest("[data-go]");
  const line = target.closest("#log a");
  const view = target.closest("[data-view]");
  const moment = target.closest("[data-step]");
  const seat = target.closest("a") ? null : target.closest("[data-seat]");
  if (target.closest("[data-play]")) KEYS[" "]();
  else if (goes) step(targets()[goes.dataset.go]);
  else if (moment) step(Number(moment.dataset.step));
  else if (line) step([...part("log").children].indexOf(line.parentElement));
  else if (view) look(view.dataset.view === "open" ? null : Number(view.dataset.view));
  else if (seat) look(Number(seat.dataset.seat) === state.viewer ? null : Number(seat.dataset.seat));
  else if (target.closest("[data-spoil]")) hide(!state.hidden);
  else return;
  event.preventDefault();
});

box.addEventListener("renewed", drawButtons);

function hide(hidden) {
  state.hidden = hidden;
  keep("spoilers", hidden ? "off" : "on");
  draw();
  drawLog();
}

part("slider").addEventListener("input", (event) => step(Number(event.target.value)));
part("speed").addEventListener("change", () => state.playing !== null && play());
part("colours").value = root.dataset.cards ?? "four";
part("colours").addEventListener("change", (event) => keep("cards", event.target.value));

const live = document.createElement("p");
live.id = "said";
live.className = "unseen";
live.setAttribute("aria-live", "polite");
box.append(live);
draw();
drawLog();

for (const form of document.querySelectorAll("form[data-view]")) {
  form.addEventListener("submit", () => {
    form.elements.step.value = state.number;
    form.elements.view.value = state.viewer ?? "open";
    form.elements.spoilers.value = state.hidden ? "off" : "on";
  });
}
