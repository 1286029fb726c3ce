// One attempt: steps and evidence by keyboard, links to lines, marks that light each other, blocks that are loaded.
// @ts-check
import { follow, isTyping } from "./page.js";

/** @param {string} selector @returns {HTMLElement[]} */
const all = (selector) => /** @type {HTMLElement[]} */ ([...document.querySelectorAll(selector)]);

/** @param {Element} element */
function reveal(element) {
  for (let at = element.parentElement; at; at = at.parentElement) {
    if (at instanceof HTMLDetailsElement) at.open = true;
  }
}

let focused = /** @type {HTMLElement | null} */ (null);

/** @param {HTMLElement | undefined} element */
function goTo(element) {
  if (!element) return;
  reveal(element);
  focused = element;
  element.scrollIntoView({ block: "center" });
  const link = element.matches("a") ? element : element.querySelector("a");
  if (link instanceof HTMLElement) link.focus({ preventScroll: true });
  else {
    element.tabIndex = -1;
    element.focus({ preventScroll: true });
  }
}

/** The next or previous of some elements, seen from where the reader is. @param {HTMLElement[]} places @param {number} by */
function neighbour(places, by) {
  if (!places.length) return;
  const at = focused ? places.findIndex((one) => one === focused || one.contains(focused)) : -1;
  if (at >= 0) return goTo(places[(at + by + places.length) % places.length]);
  const top = 80;
  const ahead = places.filter((one) => one.getBoundingClientRect().top > top);
  const behind = places.filter((one) => one.getBoundingClientRect().top < top - 1);
  goTo(by > 0 ? ahead[0] ?? places[0] : behind[behind.length - 1] ?? places[places.length - 1]);
}

/** `#step-20:3-5` names several lines; a place that is folded or not loaded is brought in. */
async function followHash() {
  const name = decodeURIComponent(location.hash.slice(1));
  if (!name) return;
  for (const old of all(".at")) if (old.matches(".l, .line")) old.classList.remove("at");
  const range = /^(.*[:-])(\d+)-(\d+)$/.exec(name);
  let place = document.getElementById(name);
  if (!place && range) {
    for (let line = Number(range[2]); line <= Number(range[3]); line++) {
      const one = document.getElementById(range[1] + line);
      one?.classList.add("at");
      place ??= one;
    }
  }
  const step = /^step-(\d+)/.exec(name);
  if (!place && step) {
    await loadAround(Number(step[1]));
    place = document.getElementById(name) ?? document.getElementById(step[0]);
  }
  if (!place) return;
  reveal(place);
  focused = place;
  place.scrollIntoView({ block: "center" });
}

/** @param {number} number */
async function loadAround(number) {
  for (const gap of all("[data-steps]")) {
    const [first, last] = (gap.dataset.steps ?? "").split("-").map(Number);
    if (first <= number && number <= last) await load(gap);
  }
}

/** @param {HTMLElement} gap */
async function load(gap) {
  const link = gap.querySelector("a[data-load]");
  if (!(link instanceof HTMLAnchorElement)) return;
  const answer = await fetch(link.dataset.load ?? "");
  if (!answer.ok) {
    link.textContent = `The steps could not be loaded (${answer.status}). Try again`;
    return;
  }
  const came = new DOMParser().parseFromString(await answer.text(), "text/html");
  gap.replaceWith(...[...came.body.children].map((one) => document.importNode(one, true)));
}

document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a[data-load]") : null;
  const gap = link?.closest("[data-steps]");
  if (gap instanceof HTMLElement && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    load(gap);
  }
});

/** @param {Event} event */
function light(event) {
  const link = event.target instanceof Element ? event.target.closest("[data-mark]") : null;
  for (const one of all(".lit")) one.classList.remove("lit");
  if (!(link instanceof HTMLElement)) return;
  for (const one of all(`[data-mark="${link.dataset.mark}"]`)) {
    one.classList.add("lit");
    if (one.parentElement?.matches("sup")) one.parentElement.previousElementSibling?.classList.add("lit");
  }
}
document.addEventListener("mouseover", light);
document.addEventListener("focusin", light);

const evidence = () => all(".transcript mark, .side mark").map((mark) => /** @type {HTMLElement} */ (mark.closest(".line, .l") ?? mark));

/** @type {Record<string, () => void>} */
const keys = {
  n: () => neighbour(evidence(), 1),
  N: () => neighbour(evidence(), -1),
  j: () => neighbour(all(".transcript .event"), 1),
  k: () => neighbour(all(".transcript .event"), -1),
  d: () => neighbour(all(".event.decisive"), 1),
  e: () => all(".transcript details").forEach((one) => (/** @type {HTMLDetailsElement} */ (one).open = true)),
  E: () => all(".transcript details").forEach((one) => (/** @type {HTMLDetailsElement} */ (one).open = !!one.querySelector("mark"))),
  1: () => goTo(document.getElementById("verifier") ?? all(".event .log")[0]),
  2: () => goTo(document.getElementById("task") ?? all(".event")[0]),
  3: () => goTo(all(".event .text").at(-1)),
  "[": () => follow("["),
  "]": () => follow("]"),
  V: () => follow("V"),
};

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

for (const button of document.querySelectorAll("[data-does=next-evidence]")) {
  if (!(button instanceof HTMLButtonElement)) continue;
  button.hidden = !evidence().length;
  button.addEventListener("click", () => neighbour(evidence(), 1));
}
addEventListener("hashchange", followHash);
followHash();
