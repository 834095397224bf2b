// Follows a match that is being played; hands stay face down until their deal is over.
import { follow } from "./follow.js";
import { counted, escape, log, now, table, unfold } from "./table.js";

const box = document.getElementById("watched");
const part = (id) => document.getElementById(id);
const sessions = new Map();
const SHOWN = 6000; // milliseconds that a finished session stays before the next one is shown
let chosen = null;

const signal = (text, live = false) => {
  part("signal").textContent = text;
  part("signal").classList.toggle("live", live);
};

const HEARD = {
  open: () => {
    sessions.clear();
    signal("connected");
  },
  error: () => signal("connecting again"),
  deal: (event) => takeDeal(JSON.parse(event.data)),
  step: (event) => takeStep(JSON.parse(event.data)),
  over: (event) => takeEnd(JSON.parse(event.data)),
  idle: (event) => signal(JSON.parse(event.data).why),
  end: () => {
    events.stop();
    part("signal").innerHTML = `The match is over: <a href="${escape(box.dataset.match)}">all its deals</a>`;
    part("signal").classList.remove("live");
  },
};

function takeDeal(told) {
  sessions.set(told.session, { ...told, data: unfold(told.data), over: false });
  signal("live", true);
  if (chosen === null || !sessions.has(chosen) || sessions.get(chosen).over) choose(told.session);
  else drawSessions();
  if (told.session === chosen) draw(true);
}

function takeStep(told) {
  const session = sessions.get(told.session);
  if (!session || session.deal !== told.deal) return;
  session.data.steps.push(told.step);
  session.scores = told.scores;
  unfold(session.data);
  if (told.session === chosen) draw(false);
  else drawSessions();
}

function takeEnd(told) {
  const session = sessions.get(told.session);
  if (!session) return;
  session.over = true;
  drawSessions();
  if (told.session === chosen) setTimeout(next, SHOWN);
}

function next() {
  const open = [...sessions.values()].find((one) => !one.over);
  if (sessions.get(chosen)?.over && open) choose(open.session);
}

function choose(number) {
  if (!sessions.has(number)) return; // its link is from before the connection broke
  chosen = number;
  draw(true);
}

function drawSessions() {
  const names = [...sessions.values()].sort((one, other) => one.session - other.session);
  part("sessions").innerHTML = names
    .map((one) => {
      const current = one.session === chosen ? ' aria-current="true"' : "";
      const state = one.over ? "over" : `deal ${one.deal}, ${counted(one.data.steps.length - 1, "step")}`;
      return `<a href="#session-${one.session}" data-session="${one.session}"${current}>Session ${one.session}: ${state}</a>`;
    })
    .join("");
}

function draw(anew) {
  const { data } = sessions.get(chosen);
  part("stage").hidden = false;
  const last = data.steps.length - 1;
  drawSessions();
  part("table").innerHTML = table(data, last, null, true);
  part("now").innerHTML = now(data, last, null);
  const list = part("log");
  const below = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  list.innerHTML = log(data, last, null, () => "#table");
  if (below || anew) list.scrollTop = list.scrollHeight;
}

part("sessions").addEventListener("click", (event) => {
  const link = event.target.closest("[data-session]");
  if (!link) return;
  event.preventDefault();
  choose(Number(link.dataset.session));
});

const events = follow(box.dataset.events, HEARD);
