// Finds bots while somebody types, and writes those that are picked into a list. Without it, type their names.
const PAUSE = 150; // milliseconds without a key until the server is asked
const MOST = 12;

function prepare(part) {
  const list = document.getElementById(part.dataset.into);
  const [field, found, said] = [part.querySelector("input"), part.querySelector("ul"), part.querySelector("[role=status]")];
  let waiting;

  const names = () => list.value.split("\n").map((line) => line.trim()).filter(Boolean);

  function draw(bots) {
    const entered = new Set(names().map((name) => name.split("@")[0]));
    found.replaceChildren(...bots.filter((bot) => !entered.has(bot)).slice(0, MOST).map((bot) => {
      const [item, button] = [document.createElement("li"), document.createElement("button")];
      Object.assign(button, { type: "button", className: "button quiet", textContent: `+ ${bot}` });
      button.addEventListener("click", () => add(bot, item));
      item.append(button);
      return item;
    }));
  }

  function add(bot, item) {
    list.value = [...names(), bot].join("\n") + "\n";
    list.dispatchEvent(new Event("input", { bubbles: true }));
    said.textContent = `${bot} is in the list, which has ${names().length}.`;
    (item.nextElementSibling ?? item.previousElementSibling)?.querySelector("button").focus();
    item.remove();
  }

  async function ask(path) {
    const answer = await fetch(path, { headers: { Accept: "application/json" } }).catch(() => null);
    return answer?.ok ? answer.json() : null;
  }

  async function find() {
    const text = field.value.trim().toLowerCase();
    if (!text) {
      const newest = await ask(`/api/v1/bots?limit=${4 * MOST}`);
      return field.value.trim() ? undefined : draw([...new Set((newest?.bots ?? []).map((one) => one.bot.split("@")[0]))]);
    }
    const by = (q) => ask(`/api/v1/search?limit=${MOST}&q=${encodeURIComponent(q)}`);
    const [named, owned] = await Promise.all([by(text), text.includes("/") ? null : by(`${text}/`)]);
    if (text !== field.value.trim().toLowerCase()) return;
    const bots = [...new Set([...(named?.bots ?? []), ...(owned?.bots ?? [])])];
    said.textContent = bots.length ? "" : "No bot is called that.";
    draw(bots);
  }

  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(find, PAUSE);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // which would send the form
    found.querySelector("button")?.click();
  });
  list.addEventListener("change", find);
  find();
}

const prepareAll = (within) => within.querySelectorAll("[data-into]").forEach(prepare);
document.addEventListener("renewed", ({ target }) => prepareAll(target));
prepareAll(document);
