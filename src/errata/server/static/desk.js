// The review page by keyboard: one failure after the other, without loading a page in between.
// @ts-check

import * as forms from "./desk_form.js";
import { Cursor } from "./desk_lines.js";
import { newKey, Outbox, pageOf, pathOf, post } from "./desk_outbox.js";
import { onChange, onConnection } from "./live.js";
import { announce, isTyping } from "./page.js";

/** @typedef {import("./desk_form.js").Draft} Draft */
/** @typedef {import("./desk_outbox.js").Outcome} Outcome */
/** @typedef {{kind: "edit", page: string, before: Draft, after: Draft}} Edit */
/** @typedef {{kind: "save", page: string, title: string, draft: Draft, keys: string[]}} Save */

const AHEAD = 3;
const RENEW = 30_000;
const SHORTLY = 120;
const REPAINT = 900;
const KEPT = "errata-review";

/** @type {Map<string, Promise<Document | null>>} */
const fetched = new Map();
/** What was typed and not saved, by path. @type {Map<string, Draft>} */
const drafts = new Map();
/** @type {(Edit | Save)[]} */
let past = [];
/** @type {(Edit | Save)[]} */
let future = [];
/** Paths that were put off. @type {Set<string>} */
const later = new Set();
/** Those that were saved here. */
/** @type {Set<string>} */
const saved = new Set();
/** @type {Draft | null} */
let last = null;
/** The verdicts that this page showed or was told about, by path. @type {Map<string, string[]>} */
const agreed = new Map();
/** @type {{attempts: string[], by: string} | null} */
let confirming = null;
let claimed = 0;
const cursor = new Cursor();
const outbox = new Outbox(settled, showState);

const here = () => location.pathname + withoutSaved(location.search);
/** @returns {HTMLFormElement | null} */
const theForm = () => document.querySelector("form.verdict");
/** @param {string} search */
function withoutSaved(search) {
  const query = new URLSearchParams(search);
  query.delete("saved");
  query.delete("verdict");
  const text = query.toString();
  return text ? `?${text}` : "";
}

// --- the queue

/** @returns {HTMLAnchorElement[]} */
function links() {
  return [...document.querySelectorAll(".queue .items a")].filter((one) => one instanceof HTMLAnchorElement);
}

/** Addresses after this one that are open and that nobody else reads; what was put off comes last. @returns {string[]} */
function upcoming() {
  const every = links();
  const at = every.findIndex((one) => one.pathname === location.pathname);
  const turned = [...every.slice(at + 1), ...every.slice(0, Math.max(at, 0))];
  const open = turned.filter((one) => !saved.has(one.pathname) && !one.closest(".done"));
  const free = open.filter((one) => !one.dataset.held);
  const now = free.filter((one) => !later.has(one.pathname));
  return [...now, ...free.filter((one) => later.has(one.pathname))].map((one) => one.pathname + one.search);
}

function markQueue() {
  for (const link of links()) {
    if (link.pathname === location.pathname) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
    link.classList.toggle("saved-here", saved.has(link.pathname));
    link.classList.toggle("later", later.has(link.pathname));
  }
  document.querySelector(".queue a[aria-current]")?.scrollIntoView({ block: "nearest" });
}

// --- going from one to the next

/** @param {string} page @returns {Promise<Document | null>} */
function load(page) {
  const known = fetched.get(page);
  if (known) return known;
  const loading = fetch(page, { headers: { "X-Errata-Prefetch": "1" } })
    .then(async (response) => (response.ok ? new DOMParser().parseFromString(await response.text(), "text/html") : null))
    .catch(() => null);
  fetched.set(page, loading);
  loading.then((found) => found ?? fetched.delete(page));
  return loading;
}

let aheadAt = 0;
/** Not while somebody only passes by. */
function prefetch() {
  clearTimeout(aheadAt);
  aheadAt = window.setTimeout(() => {
    for (const page of upcoming().slice(0, AHEAD)) load(page);
  }, SHORTLY);
}

let visit = 0;
/** False where it could not be loaded, or where something else was gone to meanwhile. */
/** @param {string} page @param {{push?: boolean, focus?: boolean}} [how] @returns {Promise<boolean>} */
async function show(page, { push = true, focus = true } = {}) {
  const mine = ++visit;
  const found = await load(page);
  if (mine !== visit) return false;
  const desk = document.querySelector(".desk");
  const packet = found?.querySelector(".packet");
  const form = found?.querySelector("form.verdict");
  if (!found || !desk || !packet || !form) {
    note("", "The server is not answering. This failure is not here yet.");
    return false;
  }
  if (push) history.pushState(null, "", page);
  fetched.delete(page);
  document.querySelector(".packet")?.replaceWith(document.importNode(packet, true));
  document.querySelector("form.verdict")?.replaceWith(document.importNode(form, true));
  document.title = found.title;
  begin(focus);
  return true;
}

/** The item that is on the page now. @param {boolean} focus */
function begin(focus) {
  const form = theForm();
  confirming = null;
  cursor.reset();
  markQueue();
  if (!form) return;
  forms.prepare(form);
  const draft = drafts.get(location.pathname);
  if (draft) forms.write(form, draft);
  last = forms.read(form);
  const title = document.getElementById("item-title");
  if (focus) title?.focus({ preventScroll: true });
  document.querySelector(".packet")?.scrollTo(0, 0);
  form.querySelector(".fields")?.scrollTo(0, 0);
  claim();
  prefetch();
}

async function goOn() {
  const [next] = upcoming();
  if (next) return show(next);
  await waitForOutbox();
  location.assign(`/review${withoutSaved(location.search)}`);
  return true;
}

/** At the end of the queue the server decides what is left: it has to know everything first. */
async function waitForOutbox() {
  const until = Date.now() + 3_000;
  while (outbox.waiting.length && Date.now() < until) await new Promise((go) => setTimeout(go, 50));
}

// --- editing, with undo

/** After every change of the form. */
function changed() {
  const form = theForm();
  if (!form || !last) return;
  const now = forms.read(form);
  const strip = (/** @type {Draft} */ draft) => JSON.stringify(forms.asSent(draft));
  drafts.set(location.pathname, now);
  if (strip(now) !== strip(last)) {
    past.push({ kind: "edit", page: here(), before: last, after: now });
    future = [];
    forms.showProblems(form, []);
    closeAlike();
  }
  last = now;
  keep();
}

/** @param {Draft} draft */
function put(draft) {
  const form = theForm();
  if (!form) return;
  forms.write(form, draft);
  last = forms.read(form);
  drafts.set(location.pathname, last);
  keep();
}

/** @param {string} page */
async function be(page) {
  if (pathOf(page) !== location.pathname) return show(page, { focus: false });
  visit += 1; // whoever was on the way to the next one stays
  return true;
}

async function undo() {
  const act = past.pop();
  if (!act) return announce("Nothing to undo.");
  future.push(act);
  if (act.kind === "edit") {
    if (await be(act.page)) put(act.before);
    announce("Undone.");
  } else {
    saved.delete(pathOf(act.page));
    for (const key of [...act.keys].reverse())
      outbox.add({ kind: "undo", key: newKey(), of: key, page: act.page, title: act.title, owner: "", body: { made: outbox.made.get(key) } });
    fetched.delete(act.page);
    drafts.set(pathOf(act.page), act.draft);
    if (await be(act.page)) put(act.draft);
    announce(`Undone: ${act.title} is open again.`);
  }
  keep();
}

async function redo() {
  const act = future.pop();
  if (!act) return announce("Nothing to redo.");
  if (!(await be(act.page))) return void future.push(act);
  if (act.kind === "edit") {
    past.push(act);
    put(act.after);
    announce("Redone.");
  } else {
    const rest = future;
    put(act.draft);
    await save();
    future = rest;
  }
  keep();
}

/** For a page that is loaded again. */
function keep() {
  try {
    const kept = { past: past.slice(-200), future, drafts: [...drafts], later: [...later], made: [...outbox.made] };
    sessionStorage.setItem(KEPT, JSON.stringify(kept));
  } catch {
    // full, or not allowed: then it is only in this page
  }
}

function recall() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
    if (!kept) return;
    past = kept.past;
    future = kept.future;
    for (const [path, draft] of kept.drafts) drafts.set(path, draft);
    for (const path of kept.later) later.add(path);
    for (const [key, made] of kept.made) outbox.made.set(key, made);
  } catch {
    sessionStorage.removeItem(KEPT);
  }
}

// --- saving

/** @param {HTMLFormElement} form @returns {string[]} */
function seenIn(form) {
  const shown = (form.dataset.seen ?? "").split(" ").filter(Boolean);
  return [...shown, ...(agreed.get(location.pathname) ?? [])];
}

/** @param {{attempts: string[], by: string} | null} [alike] those to save for as well */
async function save(alike = null) {
  const form = theForm();
  if (!form) return;
  const found = forms.problems(form);
  forms.showProblems(form, found);
  if (found.length) return announce(found[0].message);
  const draft = forms.read(form);
  const body = { draft: forms.asSent(draft), seen: seenIn(form), view: form.dataset.view };
  const title = document.getElementById("item-title")?.firstChild?.textContent?.trim() ?? "";
  const sent = { of: "", page: here(), title, owner: draft.owner };
  const keys = [newKey()];
  outbox.add({ ...sent, kind: "save", key: keys[0], body });
  if (alike) {
    keys.push(newKey());
    for (const attempt of alike.attempts) saved.add(pageOf(attempt));
    outbox.add({ ...sent, kind: "alike", key: keys[1], body: { ...body, by: alike.by, attempts: alike.attempts } });
  }
  past.push({ kind: "save", page: here(), title, draft, keys });
  future = [];
  saved.add(location.pathname);
  later.delete(location.pathname);
  drafts.delete(location.pathname);
  fetched.delete(here());
  keep();
  if (!(await goOn())) return;
  const next = document.getElementById("item-title")?.firstChild?.textContent?.trim();
  announce(next ? `saved, next: ${next}` : "saved");
}

/** @param {Outcome} outcome */
function settled({ kind, sent, answer }) {
  keep();
  if (kind === "done") {
    const many = sent.kind === "alike" ? `${answer.saved} alike` : sent.title;
    note(sent.kind === "undo" ? `Undone: ${sent.title}.` : `Saved: ${many}, ${sent.owner}.`, "", sent.kind !== "undo");
    refreshSoon();
    return;
  }
  if (sent.kind === "undo") return note("", `Not undone: ${sent.title}. ${answer.error ?? ""}`);
  saved.delete(pathOf(sent.page));
  past = past.filter((act) => act.kind !== "save" || !act.keys.includes(sent.key));
  drafts.set(pathOf(sent.page), sent.body.draft);
  backTo(sent.page, kind === "conflict" ? () => showConflict(answer) : () => refused(sent.title, answer));
}

/** The form stays as it was: whoever has gone on comes back to it. @param {string} page @param {() => void} then */
async function backTo(page, then) {
  fetched.delete(page);
  if (await be(page)) {
    const draft = drafts.get(location.pathname);
    if (draft) put({ ...draft, evidence: draft.evidence.map((one) => ({ ...one, state: "found", problem: "", kind: one.kind ?? "" })) });
    then();
  }
}

/** @param {string} title @param {any} answer */
function refused(title, answer) {
  const form = theForm();
  const found = answer.problems ?? [{ field: "", message: answer.error ?? "The server refused it." }];
  if (form) forms.showProblems(form, found);
  note("", `Not saved: ${title}. ${found[0].message}`);
}

/** Somebody saved meanwhile: both, or not mine. @param {any} answer */
function showConflict(answer) {
  const place = document.getElementById("conflict");
  if (!place) return;
  place.textContent = "";
  agreed.set(location.pathname, answer.seen);
  for (const other of answer.others) {
    const words = document.createElement("p");
    words.textContent = `${other.by} saved a verdict meanwhile: ${other.owner}, ${other.label}. ${other.cause}`;
    place.append(words);
  }
  const both = button("Keep both as two verdicts", "save");
  const mine = button("Discard mine", "discard");
  place.append(both, mine);
  place.hidden = false;
  both.focus();
  note("", `Not saved: ${answer.others.map((/** @type {any} */ one) => one.by).join(" and ")} saved a verdict meanwhile.`);
}

/** @param {string} text @param {string} act */
function button(text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.dataset.act = act;
  return made;
}

/** Lists what is alike first; the second time it saves. */
async function saveAlike() {
  const form = theForm();
  if (!form) return;
  if (confirming) {
    const chosen = confirming;
    closeAlike();
    return save(chosen);
  }
  const found = forms.problems(form);
  forms.showProblems(form, found);
  if (found.length) return announce(found[0].message);
  const by = Number(form.dataset.sameKey) ? "key" : "bucket";
  const body = { draft: forms.asSent(forms.read(form)), view: form.dataset.view, by };
  const response = await post(here(), "alike", body);
  if (!response?.ok) return note("", "The server is not answering: what is alike is not known.");
  listAlike((await response.json()).failures, by);
}

/** @param {any[]} failures @param {string} by */
function listAlike(failures, by) {
  const place = document.getElementById("alike");
  if (!place) return;
  const fitting = failures.filter((one) => one.fits);
  place.textContent = "";
  const head = document.createElement("p");
  head.textContent = fitting.length
    ? `${fitting.length + 1} verdicts will be saved, this one and ${fitting.length} more. Press ⇧↵ again to save them.`
    : "Your quotes are in no other failure that is alike: only this one can be saved.";
  const list = document.createElement("ul");
  for (const one of failures) {
    const row = document.createElement("li");
    row.textContent = one.fits ? one.case : `${one.case} (no quote of yours is in it)`;
    list.append(row);
  }
  place.append(head, list);
  if (fitting.length) {
    confirming = { attempts: fitting.map((one) => one.attempt), by };
    place.append(button(`Save ${fitting.length + 1} verdicts`, "alike"));
  }
  place.hidden = false;
  place.scrollIntoView({ block: "nearest" });
  announce(head.textContent);
}

function closeAlike() {
  confirming = null;
  const place = document.getElementById("alike");
  if (place) place.hidden = true;
}

// --- what the foot says

/** @param {string} good @param {string} [bad] @param {boolean} [canUndo] */
function note(good, bad = "", canUndo = false) {
  const place = document.getElementById("saved");
  const alarm = document.getElementById("unsaved");
  if (place) {
    place.textContent = good;
    if (canUndo) {
      const link = button("Undo", "undo");
      link.className = "link";
      place.append(" ", link);
    }
  }
  if (alarm) alarm.textContent = bad;
}

/** @param {number} waiting @param {boolean} isOffline @param {any[]} stuck @param {string} problem */
function showState(waiting, isOffline, stuck, problem) {
  const alarm = document.getElementById("unsaved");
  const verdicts = waiting === 1 ? "1 verdict waits here" : `${waiting} verdicts wait here`;
  if (stuck.length) {
    const kept = stuck.length === 1 ? `The verdict on ${stuck[0].title} is` : `${stuck.length} verdicts are`;
    alarm?.replaceChildren(
      `Not saved: the server answers with an error (${problem}). ${kept} kept in this browser and sent again with the next page. `,
      button("Try again", "again"),
      " If that does not help, report the error with its number.",
    );
    return;
  }
  if (isOffline && waiting) {
    if (alarm) alarm.textContent = `Not saved: the server is not answering. ${verdicts}.`;
    return;
  }
  if (alarm?.textContent?.startsWith("Not saved: the server")) alarm.textContent = "";
  const place = document.getElementById("saved");
  if (waiting && place) place.textContent = "Saving";
}

/** To the end of the queue. */
function putOff() {
  later.add(location.pathname);
  post(here(), "release", {});
  markQueue();
  keep();
  return goOn();
}

// --- others

async function claim() {
  claimed = Date.now();
  const path = location.pathname;
  const response = await post(path, "claim", {});
  const answer = response?.ok ? await response.json() : null;
  if (!answer || path !== location.pathname) return;
  showHeld(answer.others);
}

/** @param {string[]} names */
function showHeld(names) {
  const packet = document.querySelector(".packet");
  let strip = packet?.querySelector(".strip") ?? null;
  if (!names.length) return strip?.remove();
  if (!strip) {
    strip = document.createElement("p");
    strip.className = "strip";
    packet?.querySelector(".facts")?.after(strip);
  }
  strip.textContent = `${names.join(" and ")} ${names.length === 1 ? "is" : "are"} reading this.`;
}

let refreshing = 0;
let refreshed = 0;
let isChangedHere = false;
/** At most about once a second. @param {boolean} [here] what is shown has changed, too */
function refreshSoon(here = false) {
  isChangedHere ||= here;
  if (refreshing) return;
  const wait = Math.max(SHORTLY, refreshed + REPAINT - Date.now());
  refreshing = window.setTimeout(async () => {
    refreshing = 0;
    refreshed = Date.now();
    await refresh();
  }, wait);
}

/** The queue as it is now, and what others saved on the failure that is shown. */
async function refresh() {
  const page = here();
  const isWhole = isChangedHere;
  isChangedHere = false;
  const part = `${page}${page.includes("?") ? "&" : "?"}part=queue`;
  const response = await fetch(isWhole ? page : part, { headers: { "X-Errata-Prefetch": "1" } }).catch(() => null);
  if (page !== here()) return refreshSoon();
  if (!response?.ok) return;
  const found = new DOMParser().parseFromString(await response.text(), "text/html");
  const queue = found.querySelector(".queue");
  if (queue) replaceQueue(document.importNode(queue, true));
  const open = new Set(links().filter((one) => !one.closest(".done")).map((one) => one.pathname));
  for (const path of [...saved]) if (!outbox.waiting.length && !open.has(path)) saved.delete(path);
  markQueue();
  if (isWhole) showReadings(found);
  prefetch();
}

/** Scrolled as it was; not while somebody writes a filter. @param {Element} made */
function replaceQueue(made) {
  const old = document.querySelector(".queue");
  const filters = old?.querySelector(".filters");
  if (!old || filters?.contains(document.activeElement)) return;
  const at = old.scrollTop;
  if (filters instanceof HTMLDetailsElement && filters.open) made.querySelector(".filters")?.setAttribute("open", "");
  const focused = old.contains(document.activeElement) ? document.activeElement?.getAttribute("href") : null;
  old.replaceWith(made);
  made.scrollTop = at;
  const again = focused ? made.querySelector(`a[href="${CSS.escape(focused)}"]`) : null;
  if (again instanceof HTMLElement) again.focus();
}

/** Cards of verdicts that this page does not show yet. What was seen stays what it was: saving asks again. @param {Document} found */
function showReadings(found) {
  const place = document.querySelector(".readings .two");
  if (!place) return;
  const known = new Set([...place.querySelectorAll(".reading")].map((one) => one.getAttribute("data-verdict")));
  for (const card of found.querySelectorAll(".readings .reading")) {
    const verdict = card.getAttribute("data-verdict");
    if (!verdict || known.has(verdict)) continue;
    place.append(document.importNode(card, true));
    const by = card.querySelector(".by")?.textContent ?? "";
    if (!by.startsWith("you")) announce(`New reading: ${card.getAttribute("data-owner")}, ${by}`);
  }
  const current = new Set([...found.querySelectorAll(".reading")].map((one) => one.getAttribute("data-verdict")));
  for (const card of [...place.querySelectorAll(".reading")])
    if (!current.has(card.getAttribute("data-verdict"))) card.remove();
}

function listen() {
  onChange((change) => {
    if (!["verdict", "claim", "run"].includes(change.kind)) return;
    const path = change.attempt ? pageOf(change.attempt) : "";
    for (const page of [...fetched.keys()]) if (change.kind !== "claim" && (!path || pathOf(page) === path)) fetched.delete(page);
    refreshSoon(!path || path === location.pathname);
  });
  onConnection((isOnline) => void (isOnline && outbox.send()));
}

// --- keys

/** @type {Record<string, (at: number) => unknown>} */
const acts = {
  owner(at) {
    const form = theForm();
    const radio = form?.querySelectorAll("input[name=owner]")[at];
    if (!form || !(radio instanceof HTMLInputElement)) return;
    forms.chooseOwner(form, radio.value);
    changed();
    announce(radio.value);
  },
  label(at) {
    const form = theForm();
    const found = form ? forms.labelsOf(form, forms.read(form).owner)[at] : null;
    if (!form || !found) return;
    found.checked = true;
    forms.refresh(form);
    changed();
    announce(found.value);
  },
  labels() {
    const form = theForm();
    openField("label");
    if (form) forms.labelsOf(form, forms.read(form).owner)[0]?.focus();
  },
  reading(at) {
    const cards = [...document.querySelectorAll(".readings .reading")];
    const key = at ? "→" : "←";
    takeReading(cards.find((one) => one.getAttribute("data-key") === key) ?? cards[0]);
  },
  line: (at) => cursor.move(at ? -1 : 1),
  mark: (at) => cursor.toMark(at ? -1 : 1),
  quote: () => quoteLine(),
  decisive: () => decide(),
  cause: () => openField("cause", "#cause"),
  note: () => openField("note", "#note"),
  recommendation: () => openField("recommendation", "#recommendation"),
  confidence(at) {
    const form = theForm();
    if (!form) return;
    const draft = forms.read(form);
    const now = forms.CONFIDENCES.indexOf(draft.confidence) + (at ? 1 : -1);
    const confidence = forms.CONFIDENCES[Math.min(Math.max(now, 0), 2)];
    forms.write(form, { ...draft, confidence });
    changed();
    announce(confidence);
  },
  save: () => save(),
  alike: () => saveAlike(),
  later: putOff,
  again: () => outbox.again(),
  discard() {
    drafts.delete(location.pathname);
    post(here(), "release", {});
    fetched.delete(here());
    return goOn();
  },
  undo,
  redo,
  item(at) {
    const every = links();
    const now = every.findIndex((one) => one.pathname === location.pathname);
    const next = every[now + (at ? 1 : -1)];
    if (next) return show(next.pathname + next.search);
    announce(at ? "This is the last one." : "This is the first one.");
  },
  open() {
    const link = document.getElementById("whole");
    if (link instanceof HTMLAnchorElement) window.open(link.href, "_blank", "noopener");
  },
  filter() {
    const filters = document.querySelector(".filters");
    if (filters instanceof HTMLDetailsElement) filters.open = true;
    document.querySelector(".queue")?.classList.add("shown");
    const field = filters?.querySelector("input");
    if (field instanceof HTMLElement) field.focus();
  },
  leave() {
    closeAlike();
    document.querySelector(".queue")?.classList.remove("shown");
    const form = theForm();
    if (form) forms.showProblems(form, []);
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    cursor.focus();
  },
  keys() {
    const dialog = document.getElementById("keys");
    if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
  },
};

/** @param {string} name @param {string} [field] */
function openField(name, field = "") {
  const row = document.getElementById(`field-${name}`);
  if (row instanceof HTMLDetailsElement) row.open = true;
  const target = field ? document.querySelector(field) : null;
  if (target instanceof HTMLElement) target.focus();
}

/** @param {Element | undefined} card */
function takeReading(card) {
  const form = theForm();
  if (!form || !(card instanceof HTMLElement)) return;
  const given = card.dataset;
  const draft = forms.read(form);
  forms.write(form, {
    ...draft,
    owner: given.owner ?? "",
    label: given.label ?? "",
    cause: given.cause || draft.cause,
    note: given.note ?? "",
    confidence: given.confidence || "likely",
    decisive_step: given.decisive ? Number(given.decisive) : null,
    evidence: [...card.querySelectorAll(".quoted li")].map(forms.quoteIn),
  });
  if (given.owner) forms.chooseOwner(form, given.owner);
  changed();
  announce(`Taken: ${given.owner}`);
}

async function quoteLine() {
  const form = theForm();
  const quote = cursor.quote();
  if (!form || !quote) return announce("Put the cursor on a line first: j and k.");
  const isNew = forms.toggleQuote(form, quote);
  changed();
  announce(isNew ? "quoted" : "quote removed");
  if (!isNew) return;
  const response = await post(here(), "quote", { ...bare(quote), view: form.dataset.view });
  if (!response?.ok || form !== theForm()) return;
  const answer = await response.json();
  forms.settleQuote(form, quote, answer);
  last = forms.read(form);
  drafts.set(location.pathname, last);
  if (!answer.is_found) forms.showProblems(form, [{ field: "evidence", message: answer.problem }]);
}

/** @param {import("./desk_form.js").Quote} quote */
function bare({ quote, place, lines }) {
  return { quote, place, lines };
}

function decide() {
  const form = theForm();
  const step = cursor.step();
  if (!form) return;
  if (step === null) {
    quoteLine();
    return announce("Only a line of a step can be decisive.");
  }
  const draft = forms.read(form);
  const isSet = draft.decisive_step === step;
  forms.setDecisive(form, isSet ? null : step);
  const line = cursor.quote();
  const isQuoted = draft.evidence.some((one) => one.place === line?.place && one.lines?.[0] === line?.lines?.[0]);
  if (!isSet && !isQuoted) quoteLine();
  else changed();
  announce(isSet ? "not decisive" : `step ${step} is decisive`);
}

/** Key → what it does, from the table that the page shows. @returns {Map<string, () => unknown>} */
function bindings() {
  const bound = new Map();
  for (const row of document.querySelectorAll("#keys tr[data-act]")) {
    if (!(row instanceof HTMLElement)) continue;
    const act = acts[row.dataset.act ?? ""];
    for (const [at, key] of (row.dataset.keys ?? "").split(" ").entries()) bound.set(key, () => act?.(at));
  }
  return bound;
}

/** @param {KeyboardEvent} event @param {Map<string, () => unknown>} bound */
function pressed(event, bound) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const dialog = document.getElementById("keys");
  if (dialog instanceof HTMLDialogElement && dialog.open) return;
  const target = event.target instanceof HTMLElement ? event.target : null;
  const key = event.shiftKey && event.key === "Enter" ? "Shift+Enter" : event.key;
  if (isTyping(target) && key !== "Escape") return;
  if (key === "Enter" && target?.matches("a, button, summary")) return;
  if (key.startsWith("Arrow") && target instanceof HTMLInputElement) return;
  const act = bound.get(key);
  if (!act || !theForm()) return;
  event.preventDefault();
  inTurn(act);
}

/** Keys that come while the next failure is still loading are for that one. @type {Promise<unknown>} */
let turn = Promise.resolve();
/** @param {() => unknown} act */
function inTurn(act) {
  turn = turn.then(act).catch((error) => console.error(error));
}

function start() {
  const desk = document.querySelector(".desk");
  if (!desk) return;
  desk.classList.add("js");
  document.querySelector("#content")?.classList.add("desk-page");
  recall();
  const bound = bindings();
  addEventListener("keydown", (event) => pressed(event, bound));
  addEventListener("popstate", () => void show(here(), { push: false }));
  addEventListener("online", () => void outbox.send());
  document.addEventListener("change", (event) => {
    const form = theForm();
    if (!form || !(event.target instanceof HTMLElement) || !form.contains(event.target)) return;
    if (event.target instanceof HTMLInputElement && event.target.name === "owner") forms.chooseOwner(form, event.target.value);
    else forms.refresh(form);
    changed();
  });
  document.addEventListener("submit", (event) => {
    if (event.target !== theForm()) return;
    event.preventDefault();
  });
  document.addEventListener("click", clicked);
  for (const happening of ["keydown", "pointerdown"])
    addEventListener(happening, () => void (Date.now() - claimed > RENEW && theForm() && claim()));
  begin(Boolean(theForm()));
  outbox.resume();
  listen();
}

/** @param {MouseEvent} event */
function clicked(event) {
  const target = event.target instanceof Element ? event.target : null;
  const pushed = target?.closest("button");
  if (pushed?.dataset.removes !== undefined) {
    const form = theForm();
    if (form) forms.removeQuote(form, Number(pushed.dataset.removes));
    return changed();
  }
  if (pushed?.dataset.act && pushed.dataset.act in acts) {
    event.preventDefault();
    const act = acts[pushed.dataset.act];
    return inTurn(() => act(0));
  }
  const link = target?.closest(".queue .items a");
  if (link instanceof HTMLAnchorElement && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    return inTurn(() => show(link.pathname + link.search));
  }
  const line = target?.closest(".packet .ln");
  if (line instanceof HTMLElement && !pushed) cursor.put(line, false);
}

start();
