// Follows a match that is being played; hands stay face down until their deal is over.
import { follow } from "./follow.js";
import { counted, escape, log, now, table, unfold } from "./table.js";

const box = document.getElementById("watched");
const part = (id) => document.getElementById(id);
const sessions = new Map();
const PACE = 600; // milliseconds that a step is shown at least
const HURRY = 250; // the same while more than a dozen steps wait
const REST = 5; // seconds that a deal that is over stays
let viewed = null; // the deal that is shown, and how far; it stays to its end
let over = false; // the whole match

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
    over = true;
    events.stop();
    if (!viewed) return location.reload(); // which shows how the last deal ended
    part("signal").innerHTML = `The match is over: <a href="${escape(box.dataset.match)}">all its deals</a>`;
    part("signal").classList.remove("live");
  },
};

function takeDeal(told) {
  if (!told.data) return; // it began before anybody watched
  const session = { ...told, data: unfold(told.data), over: false };
  sessions.set(told.session, session);
  signal("live", true);
  if (!viewed) view(session, true);
  else if (told.session === viewed.session && told.deal === viewed.deal) viewed.data = session.data;
  drawSessions();
}

function takeStep(told) {
  const session = sessions.get(told.session);
  if (!session || session.deal !== told.deal) return;
  session.data.steps.push(told.step);
  session.scores = told.scores;
  unfold(session.data);
  drawSessions();
}

function takeEnd(told) {
  const session = sessions.get(told.session);
  if (!session) return;
  session.over = true;
  drawSessions();
}

/** Shows a deal: as it stands at once, or from its first step on. */
function view({ session, deal, data }, atOnce) {
  viewed = { session, deal, data, at: atOnce ? data.steps.length - 1 : 0, rest: REST };
  part("next").textContent = "";
  drawSessions();
  draw(true);
}

/** Returns what to show after a deal: the next one of its session, or one of another session. */
function following() {
  const own = sessions.get(viewed.session);
  if (own && own.deal !== viewed.deal) return own;
  return own && !own.over ? null : [...sessions.values()].find((one) => !one.over && one !== own);
}

function play() {
  setTimeout(play, viewed && viewed.data.steps.length - viewed.at > 12 ? HURRY : PACE);
  if (!viewed) return;
  if (viewed.at < viewed.data.steps.length - 1) {
    viewed.at += 1;
    draw(false);
  }
}

function rest() {
  if (!viewed || viewed.at < viewed.data.steps.length - 1) return;
  const next = following();
  const ended = viewed.data.steps.at(-1).kind === "end";
  if (!ended && !next) return; // a bot is to act
  if (next && viewed.rest <= 0) return view(next, false);
  const of = !next ? "" : next.session === viewed.session ? `Deal ${next.deal}` : `Session ${next.session}, deal ${next.deal}`;
  if (next) part("next").textContent = `${of} is shown in ${viewed.rest} s.`;
  else part("next").textContent = over ? "That was the last deal." : "This deal is over; the next one has not begun.";
  viewed.rest = Math.max(0, viewed.rest - 1);
}

function drawSessions() {
  const names = [...sessions.values()].sort((one, other) => one.session - other.session);
  part("sessions").innerHTML = names
    .map((one) => {
      const current = one.session === viewed?.session ? ' aria-current="true"' : "";
      const state = one.over ? "over" : `deal ${one.deal}, ${counted(one.data.steps.length - 1, "step")}`;
      return `<a href="#session-${one.session}" data-session="${one.session}"${current}>Session ${one.session}: ${state}</a>`;
    })
    .join("");
}

function draw(anew) {
  const { data, at: last } = viewed;
  part("stage").hidden = false;
  part("table").innerHTML = table(data, last, null, true);
  part("now").innerHTML = now(data, last, null);
  const list = part("log");
  const below = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  list.innerHTML = log({ ...data, steps: data.steps.slice(0, last + 1) }, last, null, () => "#table");
  if (below || anew) list.scrollTop = list.scrollHeight;
}

part("sessions").addEventListener("click", (event) => {
  const link = event.target.closest("[data-session]");
  if (!link) return;
  event.preventDefault();
  const session = sessions.get(Number(link.dataset.session)); // none if its link is from before the connection broke
  if (session) view(session, true);
});

const events = follow(box.dataset.events, HEARD);
play();
setInterval(rest, 1000);
