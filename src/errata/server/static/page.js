// What every page has: theme, keys, links and commands to copy.
// @ts-check

const PAIR = 1_200;
const LETTERS = "letters";
/** After `g`. @type {Record<string, string>} */
const places = { r: "/", d: "/review", c: "/compare", b: "/buckets", l: "/leaderboard" };

/** @type {Record<string, (button?: HTMLElement) => void>} */
const doing = {
  theme() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
    const next = now === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    localStorage.setItem("theme", next);
  },
  keys() {
    const dialog = theDialog();
    if (dialog && !dialog.open) dialog.showModal();
  },
  "copy-command"() {
    copy(document.querySelector("footer.command code")?.textContent ?? "", "Command copied.");
  },
  "copy-link"() {
    copy(linkHere(), "Link copied.");
  },
  "copy-beside"(button) {
    copy(button?.parentElement?.querySelector("code")?.textContent ?? "", "Copied.");
  },
};

/** Announce to screen readers, and to nobody else. @param {string} text */
export function announce(text) {
  const place = document.getElementById("announcements");
  if (place) place.textContent = text;
}

/** @param {string} text @param {string} done */
export function copy(text, done) {
  navigator.clipboard.writeText(text).then(
    () => announce(done),
    () => announce("The browser does not allow copying."),
  );
}

/** Whether keys without Ctrl do something here (WCAG 2.1.4). */
export function lettersWork() {
  return localStorage.getItem(LETTERS) !== "off";
}

/** Whether keys write text there. @param {EventTarget | null} target */
export function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["radio", "checkbox", "button", "submit"].includes(target.type);
  return target.isContentEditable || target.matches("textarea, select");
}

/** @returns {HTMLDialogElement | null} */
function theDialog() {
  const dialog = document.getElementById("keys");
  return dialog instanceof HTMLDialogElement ? dialog : null;
}

/** The page, at the place that has the focus if that has an address. */
function linkHere() {
  const place = document.activeElement?.closest("[id]");
  const address = new URL(location.href);
  if (place && place.id !== "content" && !place.closest("header, footer, dialog")) address.hash = place.id;
  return address.href;
}

/** One level up, or the page without its filters. */
function leave() {
  if (location.search) return location.assign(location.pathname);
  const parts = location.pathname.split("/").filter(Boolean);
  if (!parts.length) return;
  // `/runs/R/cases/C/N` is below its run, and a run is below the list of runs
  const up = parts[0] === "runs" && parts.length > 2 ? `/runs/${parts[1]}` : parts.length > 1 && parts[0] !== "runs" ? `/${parts[0]}` : "/";
  location.assign(up);
}

for (const button of document.querySelectorAll("button[data-does]")) {
  if (!(button instanceof HTMLButtonElement)) continue;
  const act = doing[button.dataset.does ?? ""];
  if (!act || (button.dataset.does === "keys" && !theDialog())) continue;
  button.hidden = false;
  button.addEventListener("click", () => act(button));
}

/** To the link that has this key. @param {string} key */
export function follow(key) {
  const link = document.querySelector(`a[data-key="${CSS.escape(key)}"]`);
  if (link instanceof HTMLAnchorElement) location.assign(link.href);
}

const letters = document.getElementById(LETTERS);
if (letters instanceof HTMLInputElement) {
  letters.checked = lettersWork();
  letters.addEventListener("change", () => localStorage.setItem(LETTERS, letters.checked ? "on" : "off"));
}

/** @param {KeyboardEvent} event */
const isPlain = (event) => !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing;

// before anything else on the page: a letter that is switched off does nothing anywhere
addEventListener(
  "keydown",
  (event) => {
    if (event.key.length === 1 && isPlain(event) && !lettersWork() && !isTyping(event.target)) event.stopImmediatePropagation();
  },
  { capture: true },
);

const hasOwnLetters = document.body.dataset.section === "review";
let pairUntil = 0;

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || !isPlain(event) || theDialog()?.open) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape" && event.target instanceof HTMLElement) event.target.blur();
    return;
  }
  const act = actFor(event.key);
  if (!act) return;
  event.preventDefault();
  act();
});

/** @param {string} key @returns {(() => void) | undefined} */
function actFor(key) {
  if (performance.now() < pairUntil && key in places) {
    pairUntil = 0;
    return () => location.assign(places[key]);
  }
  pairUntil = 0;
  if (key === "/") return () => field()?.focus();
  if (key === "T") return doing.theme;
  if (hasOwnLetters) return undefined;
  if (key === "g") return () => void (pairUntil = performance.now() + PAIR);
  if (key === "?") return doing.keys;
  if (key === "y") return doing["copy-link"];
  if (key === "Escape") return leave;
  return undefined;
}

/** @returns {HTMLInputElement | null} */
function field() {
  return document.querySelector("form.find input");
}
