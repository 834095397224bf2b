// Reads a chosen file into a field of the page. Without it, copy the text of the file.
document.addEventListener("change", async ({ target }) => {
  const [file] = target.files ?? [];
  if (!target.dataset.fill || !file) return;
  const field = document.getElementById(target.dataset.fill);
  field.value = await file.text();
  field.dispatchEvent(new Event("input", { bubbles: true }));
});
