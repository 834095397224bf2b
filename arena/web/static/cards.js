// How cards are coloured, and whether what comes is hidden: what the reader chose here. Runs before the page is drawn.
for (const name of ["cards", "spoilers"]) {
  try {
    const kept = localStorage.getItem(name);
    if (kept) document.documentElement.dataset[name] = kept;
  } catch {
    // storage is off
  }
}
