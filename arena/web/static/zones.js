// Offers the reader's own time zone for the times of a form, and says beside each what it is in UTC. Without it, type the zone.
const wall = (at, zone) => Date.parse(`${new Intl.DateTimeFormat("sv", { timeZone: zone, dateStyle: "short", timeStyle: "medium" }).format(at).replace(" ", "T")}Z`);

/** Returns the time at which clocks in a zone show a local time. */
function utcOf(local, zone) {
  const shown = Date.parse(`${local}Z`);
  const guess = shown - (wall(shown, zone) - shown);
  return guess - (wall(guess, zone) - shown);
}

function inUtc(local, zone) {
  try {
    return `${new Date(utcOf(local, zone)).toISOString().slice(0, 16).replace("T", " ")} in UTC`;
  } catch {
    return ""; // not a time yet, or not a zone
  }
}

for (const field of document.querySelectorAll("input[type=datetime-local]")) {
  const zone = field.form.elements.zone;
  if (!zone) continue;
  const [told, names] = [document.createElement("output"), document.createElement("datalist")];
  told.className = "sub";
  names.id = `${zone.id}-names`;
  names.replaceChildren(...Intl.supportedValuesOf("timeZone").map((name) => Object.assign(document.createElement("option"), { value: name })));
  zone.after(names);
  zone.setAttribute("list", names.id);
  field.after(told);
  if (!field.value && !zone.value) zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const tell = () => (told.textContent = field.value ? inUtc(field.value, zone.value || "UTC") : "");
  for (const part of [field, zone]) part.addEventListener("input", tell);
  tell();
}
