// Copies what the page shows: a token, a key, a link.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const shown = document.getElementById(button.dataset.copy);
  getSelection().selectAllChildren(shown);
  try {
    await navigator.clipboard.writeText(shown.textContent); // which only pages over HTTPS may
  } catch {
    if (!document.execCommand("copy")) return; // it is selected, at least
  }
  button.textContent = "Copied";
});
