// Follows events of the server. A browser connects again by itself when a connection breaks, but gives up where it is
// answered with an error, as by a proxy while the server starts again: then this begins anew.
const PAUSE = 3000; // ms before the first time, twice as long each time, and up to as much again: not all readers at once
const LONGEST = 60_000;

/** Calls `heard[name]` with each event of that name, till `stop` of what is returned. */
export function follow(address, heard) {
  let source;
  let pause = PAUSE;

  function begin() {
    source = new EventSource(address);
    for (const [name, act] of Object.entries(heard)) source.addEventListener(name, act);
    source.addEventListener("open", () => (pause = PAUSE));
    source.addEventListener("error", () => {
      if (source.readyState !== EventSource.CLOSED) return;
      setTimeout(begin, pause * (1 + Math.random()));
      pause = Math.min(2 * pause, LONGEST);
    });
  }

  begin();
  return { stop: () => source.close() };
}
