// A list by keyboard: rows, groups, folding, selecting; and the next page when the end comes into view.
// @ts-check
import { announce, follow, isTyping } from "./page.js";

const list = document.querySelector("[data-list]");

/** @returns {HTMLElement[]} Rows and heads of groups that can be seen, in their order. */
function stops() {
  return /** @type {HTMLElement[]} */ ([...(list?.querySelectorAll("tr.fail, tr.group, tr.run") ?? [])]).filter(
    (row) => row.offsetParent !== null,
  );
}

/** @returns {HTMLElement | null} */
function current() {
  return /** @type {HTMLElement | null} */ (list?.querySelector("tr[aria-current]") ?? null);
}

/** @param {HTMLElement | undefined} row */
function moveTo(row) {
  if (!row) return;
  current()?.removeAttribute("aria-current");
  row.setAttribute("aria-current", "true");
  row.scrollIntoView({ block: "nearest" });
  const link = row.querySelector("a");
  if (link instanceof HTMLElement) link.focus({ preventScroll: true });
  if (row.dataset.attempt) {
    const address = new URL(location.href);
    address.searchParams.set("at", row.dataset.attempt);
    history.replaceState(history.state, "", address);
  }
}

/** @param {number} by @param {string} kind */
function step(by, kind = "tr.fail, tr.group, tr.run") {
  const rows = stops().filter((row) => row.matches(kind));
  const now = current();
  const at = now ? rows.indexOf(now) : -1;
  if (now && at < 0) {
    const all = stops();
    const place = all.indexOf(now);
    const ahead = rows.filter((row) => (by > 0 ? all.indexOf(row) > place : all.indexOf(row) < place));
    return moveTo(by > 0 ? ahead[0] : ahead[ahead.length - 1]);
  }
  moveTo(rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + by))]);
}

/** @param {boolean} fold */
function fold(fold) {
  const body = current()?.closest("tbody");
  const head = body?.querySelector("tr.group");
  if (!body || !(head instanceof HTMLElement)) return;
  body.classList.toggle("folded", fold);
  head.querySelector(".fold")?.setAttribute("aria-expanded", String(!fold));
  if (fold) moveTo(head);
}

let last = /** @type {HTMLElement | null} */ (null);

/** @param {boolean} range */
function select(range) {
  const now = current();
  if (!now || now.matches(".group")) return;
  const on = !now.classList.contains("selected");
  if (range && last) {
    const rows = stops().filter((row) => !row.matches(".group"));
    const [from, to] = [rows.indexOf(last), rows.indexOf(now)].sort((a, b) => a - b);
    for (const row of rows.slice(from, to + 1)) row.classList.add("selected");
  } else {
    now.classList.toggle("selected", on);
  }
  last = now;
  announce(`${list?.querySelectorAll(".selected").length ?? 0} selected`);
}

/** @param {boolean} apart */
function open(apart) {
  const link = current()?.querySelector("a.open, .group a");
  if (!(link instanceof HTMLAnchorElement)) return;
  if (apart) window.open(link.href, "_blank", "noopener");
  else location.assign(link.href);
}

function compare() {
  const chosen = [...(list?.querySelectorAll("tr.run.selected") ?? [])].map((row) => /** @type {HTMLElement} */ (row).dataset.run);
  if (chosen.length) location.assign(`/compare?runs=${chosen.join(",")}`);
  else follow("C");
}

const moving = /** @type {HTMLDialogElement | null} */ (document.getElementById("move"));

/** The selected failures, else the one under the cursor, to another cause. */
async function move() {
  const form = moving?.querySelector("form");
  const selected = [...(list?.querySelectorAll("tr.fail.selected") ?? [])];
  const now = current();
  const chosen = selected.length ? selected : now?.matches(".fail") ? [now] : [];
  const count = document.getElementById("move-count");
  if (!moving || !form || !count || !chosen.length) return announce("Select failures first, with x.");
  for (const old of form.querySelectorAll("input[name=attempt]")) old.remove();
  for (const row of chosen) {
    const field = document.createElement("input");
    field.type = "hidden";
    field.name = "attempt";
    field.value = /** @type {HTMLElement} */ (row).dataset.attempt ?? "";
    form.append(field);
  }
  count.textContent = chosen.length === 1 ? "1 failure" : `${chosen.length} failures`;
  moving.showModal();
  const run = document.querySelector("[data-shown-run]")?.getAttribute("data-shown-run") ?? "";
  const answer = await fetch(`/api/buckets?alone=true&runs=${run}`).catch(() => null);
  if (!answer?.ok) return;
  const titles = (await answer.json()).buckets.map((/** @type {{title: string}} */ one) => one.title);
  document.getElementById("causes")?.replaceChildren(...titles.map((/** @type {string} */ title) => new Option("", title)));
}
moving?.querySelector("[data-does=close]")?.addEventListener("click", () => moving.close());

/** @type {Record<string, () => void>} */
const keys = {
  j: () => step(1),
  k: () => step(-1),
  J: () => step(1, "tr.group"),
  K: () => step(-1, "tr.group"),
  h: () => fold(true),
  l: () => fold(false),
  o: () => open(true),
  x: () => select(false),
  X: () => select(true),
  R: () => follow("R"),
  p: () => follow("p"),
  b: move,
  I() {
    const how = document.querySelector("details[data-key=I]");
    if (how instanceof HTMLDetailsElement) how.open = !how.open;
  },
  C: compare,
  f() {
    const field = document.querySelector(".filter input[type=search]");
    if (field instanceof HTMLInputElement) field.select();
  },
};

addEventListener("keydown", (event) => {
  const target = event.target;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(target)) return;
  if (event.key === "Enter" && current() && !(target instanceof HTMLAnchorElement)) return open(false);
  const act = keys[event.key];
  if (!act || (!list && event.key !== "p") || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  act();
});

// --- folding and loading

list?.addEventListener("click", (event) => {
  if (!(event instanceof MouseEvent)) return;
  const target = event.target;
  if (!(target instanceof HTMLElement)) return;
  if (target.matches(".fold")) {
    const body = target.closest("tbody");
    const folded = body?.classList.toggle("folded") ?? false;
    target.setAttribute("aria-expanded", String(!folded));
  }
  const more = target.closest("a[data-rows]");
  if (more instanceof HTMLAnchorElement && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    load(more);
  }
});

/** The next rows in the place of a link to them. @param {HTMLAnchorElement} link */
async function load(link) {
  const row = link.closest("tr");
  if (!row || link.dataset.loading) return;
  link.dataset.loading = "yes";
  list?.setAttribute("aria-busy", "true");
  let came;
  try {
    const answer = await fetch(link.dataset.rows ?? "");
    if (!answer.ok) throw new Error(String(answer.status));
    came = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch (error) {
    delete link.dataset.loading;
    link.textContent = `The list could not be loaded (${error instanceof Error ? error.message : "offline"}). Your filters are kept. Try again`;
    return;
  } finally {
    list?.removeAttribute("aria-busy");
  }
  const bodies = [...came.querySelectorAll("tbody")].map((body) => document.importNode(body, true));
  const own = row.closest("tbody");
  if (own?.matches(".next")) {
    own.replaceWith(...bodies);
  } else {
    const rows = bodies.flatMap((body) => [...body.querySelectorAll("tr")]);
    row.replaceWith(...rows);
  }
  ready();
}

const watcher = new IntersectionObserver(
  (seen) => {
    for (const one of seen) {
      const link = one.target.querySelector("a[data-rows]");
      if (one.isIntersecting && link instanceof HTMLAnchorElement) load(link);
    }
  },
  { rootMargin: "600px" },
);

function ready() {
  for (const button of document.querySelectorAll("button.fold")) /** @type {HTMLElement} */ (button).hidden = false;
  for (const body of document.querySelectorAll("tbody.next")) watcher.observe(body);
}

for (const hint of document.querySelectorAll(".keys")) /** @type {HTMLElement} */ (hint).hidden = false;
if (matchMedia("(max-width: 900px)").matches) {
  for (const facets of document.querySelectorAll("details.facets")) /** @type {HTMLDetailsElement} */ (facets).open = false;
}
const chosen = current();
if (chosen) chosen.scrollIntoView({ block: "center" });
ready();
