// What every page has: theme, keys, the command to copy.
// @ts-check

/** @type {Record<string, () => void>} */
const doing = {
  theme() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
    const next = now === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    localStorage.setItem("theme", next);
  },
  "copy-command"() {
    const command = document.querySelector("footer.command code")?.textContent ?? "";
    navigator.clipboard.writeText(command).then(() => announce("Copied."));
  },
};

/** Tell screen readers, and nobody else. @param {string} text */
export function announce(text) {
  const place = document.getElementById("announcements");
  if (place) place.textContent = text;
}

for (const button of document.querySelectorAll("button[data-does]")) {
  if (!(button instanceof HTMLButtonElement)) continue;
  const act = doing[button.dataset.does ?? ""];
  if (!act) continue;
  button.hidden = false;
  button.addEventListener("click", act);
}

addEventListener("keydown", (event) => {
  const target = event.target;
  const types = target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");
  if (types || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    event.preventDefault();
    const field = document.querySelector("form.find input");
    if (field instanceof HTMLInputElement) field.focus();
  } else if (event.key === "T") doing.theme();
});
