// Keys that a reader has changed: what is pressed is passed on as the key that it stands for.
// @ts-check
import { isTyping } from "./page.js";

const KEPT = "keys";
const ONE = /^[!-~]$/;

/** What is pressed → what it means; a permutation, so that no key is lost. @returns {Record<string, string>} */
function changed() {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "{}") ?? {};
  } catch {
    return {};
  }
}

/** The key to press for what is usually done by this one. @param {string} usual */
function keyFor(usual) {
  return Object.entries(changed()).find(([, meaning]) => meaning === usual)?.[0] ?? usual;
}

/** From now on this key does what the usual one does; the two change places. @param {string} usual @param {string} wanted */
function change(usual, wanted) {
  const now = changed();
  const before = keyFor(usual);
  const other = now[wanted] ?? wanted;
  now[wanted] = usual;
  now[before] = other;
  for (const [pressed, meaning] of Object.entries(now)) if (pressed === meaning) delete now[pressed];
  localStorage.setItem(KEPT, JSON.stringify(now));
}

addEventListener(
  "keydown",
  (event) => {
    if (!event.isTrusted || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const meaning = changed()[event.key];
    if (!meaning || document.querySelector("dialog[open]")) return;
    event.stopImmediatePropagation();
    const { bubbles, cancelable, repeat } = event;
    const passedOn = new KeyboardEvent("keydown", { key: meaning, bubbles, cancelable, repeat });
    if (!(event.target ?? document.body).dispatchEvent(passedOn)) event.preventDefault();
  },
  { capture: true },
);

// --- the dialog

const dialog = document.getElementById("keys");
/** @type {HTMLElement | null} */
let asked = null;

function show() {
  for (const cap of caps()) cap.textContent = keyFor(cap.dataset.usual ?? "");
  asked = null;
}

/** @returns {HTMLElement[]} Caps of single keys; those of pairs such as `g r` stay. */
function caps() {
  return /** @type {HTMLElement[]} */ ([...(dialog?.querySelectorAll("dt:not(.pair) kbd, th kbd") ?? [])]).filter((cap) =>
    ONE.test(cap.dataset.usual ?? cap.textContent ?? ""),
  );
}

for (const cap of caps()) {
  cap.dataset.usual = cap.textContent ?? "";
  cap.tabIndex = 0;
  cap.setAttribute("role", "button");
  cap.title = "Change this key";
}
show();

/** @param {Event} event */
function ask(event) {
  const cap = event.target instanceof HTMLElement ? event.target.closest("kbd[data-usual]") : null;
  if (!(cap instanceof HTMLElement)) return;
  show();
  asked = cap;
  cap.textContent = "press";
}

dialog?.addEventListener("click", ask);
dialog?.addEventListener("keydown", (event) => {
  if (!(event instanceof KeyboardEvent)) return;
  if (!asked) {
    if (event.key === "Enter" && event.target instanceof HTMLElement && event.target.matches("kbd")) {
      event.preventDefault();
      ask(event);
    }
    return;
  }
  if (event.key === "Shift") return;
  event.preventDefault();
  event.stopPropagation();
  if (ONE.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) change(asked.dataset.usual ?? "", event.key);
  show();
});
document.getElementById("usual-keys")?.addEventListener("click", () => {
  localStorage.removeItem(KEPT);
  show();
});
