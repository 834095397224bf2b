// Follows a match that is being played; hands stay face down until their deal is over. It connects again by itself.
import { counted, escape, log, now, table, unfold } from "./table.js";

const box = document.getElementById("watched");
const part = (id) => document.getElementById(id);
const sessions = new Map();
const SHOWN = 6000; // milliseconds that a finished session stays before the next one is shown
let chosen = null;

const source = new EventSource(box.dataset.events);
const signal = (text, live = false) => {
  part("signal").textContent = text;
  part("signal").classList.toggle("live", live);
};

source.addEventListener("open", () => {
  sessions.clear();
  signal("connected");
});
source.addEventListener("error", () => signal("connecting again"));

source.addEventListener("deal", (event) => {
  const told = JSON.parse(event.data);
  sessions.set(told.session, { ...told, data: unfold(told.data), over: false });
  signal("live", true);
  if (chosen === null || !sessions.has(chosen) || sessions.get(chosen).over) choose(told.session);
  else drawSessions();
  if (told.session === chosen) draw(true);
});

source.addEventListener("step", (event) => {
  const told = JSON.parse(event.data);
  const session = sessions.get(told.session);
  if (!session || session.deal !== told.deal) return;
  session.data.steps.push(told.step);
  session.scores = told.scores;
  unfold(session.data);
  if (told.session === chosen) draw(false);
  else drawSessions();
});

source.addEventListener("over", (event) => {
  const told = JSON.parse(event.data);
  const session = sessions.get(told.session);
  if (!session) return;
  session.over = true;
  drawSessions();
  if (told.session === chosen) setTimeout(next, SHOWN);
});

source.addEventListener("idle", (event) => signal(JSON.parse(event.data).why));
source.addEventListener("end", () => {
  source.close();
  part("signal").innerHTML = `The match is over: <a href="${escape(box.dataset.match)}">all its deals</a>`;
  part("signal").classList.remove("live");
});

function next() {
  const open = [...sessions.values()].find((one) => !one.over);
  if (sessions.get(chosen)?.over && open) choose(open.session);
}

function choose(number) {
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
  part("table").innerHTML = table(data, last, null, () => "#table");
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
