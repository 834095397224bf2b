// Counts down to starts, which the page has as of when it was made.
function left(seconds) {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (days > 0) return `in ${days} d ${hours % 24} h`;
  if (hours > 0) return `in ${hours} h ${minutes % 60} min`;
  if (minutes > 0) return `in ${minutes} min ${seconds % 60} s`;
  return seconds > 0 ? `in ${seconds} s` : "any moment now";
}

function tell() {
  for (const one of document.querySelectorAll("time.until")) {
    const text = left(Math.floor((Date.parse(one.dateTime) - Date.now()) / 1000));
    if (one.textContent !== text) one.textContent = text;
  }
}

tell();
setInterval(tell, 1000);
