// Keeps what is typed into a form of the desk in this browser, also over a sign-out, until it is made. Without it, a form that is left is empty again.
const at = (action) => `draft:${action}`;

function read(action) {
  try {
    return JSON.parse(localStorage.getItem(at(action)));
  } catch {
    return null; // storage is off, or holds something else
  }
}

function write(action, draft) {
  try {
    if (draft) localStorage.setItem(at(action), JSON.stringify(draft));
    else localStorage.removeItem(at(action));
  } catch {
    // then there is no draft
  }
}

const isChosen = ({ type }) => type === "checkbox" || type === "radio";
const fieldsOf = (form) => [...form.elements].filter((field) => field.name && !["hidden", "password", "file", "submit"].includes(field.type));
const contents = (form) => fieldsOf(form).map((field) => [field.name, isChosen(field) ? field.checked : field.value]);

/** Puts a draft into a form, and unfolds what it changes. */
function fill(form, draft) {
  const left = [...draft.fields];
  for (const field of fieldsOf(form)) {
    const place = left.findIndex(([name]) => name === field.name);
    if (place < 0) continue;
    const [[, value]] = left.splice(place, 1);
    const property = isChosen(field) ? "checked" : "value";
    if (field[property] === value) continue;
    field[property] = value;
    if (field.closest("details")) field.closest("details").open = true;
  }
}

function offerToDiscard(form, action, draft) {
  const [note, button] = [document.createElement("p"), document.createElement("button")];
  note.className = "box";
  note.setAttribute("role", "status");
  note.textContent = `What you typed here until ${new Date(draft.at).toLocaleString()} is back. `;
  Object.assign(button, { type: "button", className: "button quiet", textContent: "Discard it" });
  button.addEventListener("click", () => {
    write(action, null);
    form.reset();
    note.remove();
  });
  note.append(button);
  form.before(note);
}

for (const form of document.querySelectorAll("form[data-draft]")) {
  const action = form.dataset.draft;
  const fresh = JSON.stringify(contents(form)); // as the server wrote it
  const draft = read(action);
  const keep = () => write(action, { at: Date.now(), fields: contents(form) });
  if ("sent" in form.dataset) keep();
  else if (draft && JSON.stringify(draft.fields) !== fresh) {
    fill(form, draft);
    offerToDiscard(form, action, draft);
  }
  for (const name of ["input", "change"]) form.addEventListener(name, keep);
  form.addEventListener("submit", ({ submitter }) => {
    if (submitter?.value !== "preview") write(action, { at: Date.now(), fields: contents(form), makes: true });
  });
}

// The page that a form leads to: what it made needs no draft any more.
for (const { dataset } of document.querySelectorAll("[data-made]")) {
  for (const action of JSON.parse(dataset.forms)) {
    const draft = read(action);
    const named = draft?.fields.find(([name]) => name === "name");
    const file = draft?.fields.find(([name]) => name === "file")?.[1] ?? "";
    if (draft?.makes && (!named || named[1] === dataset.made || file.includes(`"${dataset.made}"`))) write(action, null);
  }
}
