// The form of the review page: reading and writing a draft, quotes, and what is missing before it can be saved.
// @ts-check

/**
 * @typedef {object} Quote
 * @property {string} quote
 * @property {string} place
 * @property {[number, number] | null} lines
 * @property {string} kind
 * @property {"" | "found" | "missing"} state  empty while it is checked
 * @property {string} problem
 */

/**
 * @typedef {object} Draft
 * @property {string} owner
 * @property {string} label
 * @property {string} cause
 * @property {Quote[]} evidence
 * @property {number | null} decisive_step
 * @property {string} note
 * @property {string} recommendation_group
 * @property {string} recommendation
 * @property {string} confidence
 */

/** @typedef {{field: string, message: string}} Problem */

export const CONFIDENCES = ["weak", "likely", "certain"];
const FROM_THE_EVAL = ["task", "error", "judge", "expected", "grader", "log"];
/** @type {WeakMap<HTMLFormElement, Quote[]>} */
const quotesOf = new WeakMap();

/** Takes over what the server wrote, and removes what only a page without script needs. @param {HTMLFormElement} form */
export function prepare(form) {
  const given = [...form.querySelectorAll("#quotes li")].map((row) => quoteIn(row));
  quotesOf.set(form, given);
  for (const plain of form.querySelectorAll(".plain")) plain.remove();
  for (const pick of document.querySelectorAll(".packet .pick")) pick.textContent = "";
  const list = form.querySelector("#quotes");
  if (list instanceof HTMLElement) list.hidden = false;
  const undo = form.querySelector("[data-act=undo]");
  if (undo instanceof HTMLElement) undo.hidden = false;
  if (matchMedia("(max-width: 720px)").matches)
    for (const field of form.querySelectorAll("details.field")) field.removeAttribute("open");
  refresh(form);
}

/** @param {Element} row @returns {Quote} */
export function quoteIn(row) {
  const { place = "", first = "", last = "" } = row instanceof HTMLElement ? row.dataset : {};
  const lines = /** @type {[number, number] | null} */ (first ? [Number(first), Number(last || first)] : null);
  const quote = row.querySelector("code")?.textContent ?? "";
  return { quote, place, lines, kind: kindOf(place), state: "found", problem: "" };
}

/** @param {string} place */
function kindOf(place) {
  const line = document.querySelector(`.packet .ln[data-place="${CSS.escape(place)}"]`);
  return line instanceof HTMLElement ? (line.dataset.kind ?? "") : "";
}

/** Whether a quote from there is enough by itself; a place that the page does not show is left to the server. @param {string} place */
function isCore(place) {
  const line = document.querySelector(`.packet .ln[data-place="${CSS.escape(place)}"]`);
  return !(line instanceof HTMLElement) || line.dataset.core !== undefined;
}

/** @param {HTMLFormElement} form @param {string} name @returns {string} */
function value(form, name) {
  return String(new FormData(form).get(name) ?? "");
}

/** @param {HTMLFormElement} form @returns {Draft} */
export function read(form) {
  const step = value(form, "decisive_step").trim();
  return {
    owner: value(form, "owner"),
    label: value(form, "label"),
    cause: value(form, "cause").trim(),
    evidence: [...(quotesOf.get(form) ?? [])],
    decisive_step: /^\d{1,9}$/.test(step) ? Number(step) : null,
    note: value(form, "note").trim(),
    recommendation_group: value(form, "recommendation_group"),
    recommendation: value(form, "recommendation").trim(),
    confidence: value(form, "confidence") || "likely",
  };
}

/** @param {HTMLFormElement} form @param {Draft} draft */
export function write(form, draft) {
  quotesOf.set(form, [...draft.evidence]);
  check(form, "owner", draft.owner);
  check(form, "label", draft.label);
  check(form, "confidence", draft.confidence);
  const texts = {
    cause: draft.cause,
    decisive_step: draft.decisive_step === null ? "" : String(draft.decisive_step),
    note: draft.note,
    recommendation_group: draft.recommendation_group,
    recommendation: draft.recommendation,
  };
  for (const [name, text] of Object.entries(texts)) {
    const field = form.elements.namedItem(name);
    if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement || field instanceof HTMLSelectElement)
      field.value = text;
  }
  refresh(form);
}

/** @param {HTMLFormElement} form @param {string} name @param {string} wanted */
function check(form, name, wanted) {
  for (const radio of form.querySelectorAll(`input[type=radio][name=${name}]`))
    if (radio instanceof HTMLInputElement) radio.checked = radio.value === wanted;
}

/** The labels of an owner, in their order. @param {HTMLFormElement} form @param {string} owner @returns {HTMLInputElement[]} */
export function labelsOf(form, owner) {
  const found = form.querySelectorAll(`.opt[data-owner="${CSS.escape(owner)}"] input`);
  return [...found].filter((one) => one instanceof HTMLInputElement);
}

/** @param {HTMLFormElement} form @param {string} owner */
export function chooseOwner(form, owner) {
  check(form, "owner", owner);
  const labels = labelsOf(form, owner);
  const kept = labels.find((one) => one.checked);
  check(form, "label", kept ? kept.value : labels.length === 1 ? labels[0].value : "");
  refresh(form);
}

/** What follows from the values: which labels show, the list of quotes, the summaries of closed rows. @param {HTMLFormElement} form */
export function refresh(form) {
  const draft = read(form);
  const shown = labelsOf(form, draft.owner);
  for (const row of form.querySelectorAll(".opt")) {
    if (!(row instanceof HTMLElement)) continue;
    const at = shown.findIndex((one) => row.contains(one));
    row.hidden = at < 0;
    const cap = row.querySelector("kbd");
    if (cap) cap.textContent = at >= 0 && at < 9 ? String(at + 1) : "";
  }
  const without = form.querySelector("#no-label");
  if (without instanceof HTMLElement) {
    without.hidden = shown.length > 0;
    without.textContent = draft.owner
      ? `No label here is for ${draft.owner}: it is saved without one.`
      : "Choose an owner first.";
  }
  drawQuotes(form, draft);
  const quotes = draft.evidence.length === 1 ? "1 quote" : `${draft.evidence.length} quotes`;
  const decisive = draft.decisive_step === null ? "" : `, step ${draft.decisive_step} decisive`;
  summarise(form, "label", draft.label);
  summarise(form, "cause", draft.cause);
  summarise(form, "evidence", draft.evidence.length ? quotes + decisive : "");
  summarise(form, "note", draft.note);
  summarise(form, "recommendation", draft.recommendation);
}

/** @param {HTMLFormElement} form @param {string} name @param {string} text */
function summarise(form, name, text) {
  const place = form.querySelector(`#value-${name}`);
  if (place) place.textContent = text;
}

/** @param {HTMLFormElement} form @param {Draft} draft */
function drawQuotes(form, draft) {
  const list = form.querySelector("#quotes");
  const none = form.querySelector("#no-quotes");
  if (!list) return;
  list.textContent = "";
  for (const [at, quote] of draft.evidence.entries()) {
    const row = document.createElement("li");
    const text = document.createElement("code");
    text.dir = "auto";
    text.textContent = quote.quote;
    const note = document.createElement("small");
    const step = quote.place.startsWith("steps/") ? Number(quote.place.slice(6)) : null;
    const decisive = step !== null && step === draft.decisive_step ? ", decisive" : "";
    note.textContent =
      quote.state === "found" ? `✓ ${placeName(quote)}${decisive}` : quote.state === "missing" ? quote.problem : "…";
    if (quote.state === "missing") row.classList.add("missing");
    const remove = document.createElement("button");
    remove.type = "button";
    remove.textContent = "×";
    remove.setAttribute("aria-label", `Remove the quote ${quote.quote.slice(0, 60)}`);
    remove.dataset.removes = String(at);
    row.append(text, note, remove);
    list.append(row);
  }
  if (none instanceof HTMLElement) none.hidden = draft.evidence.length > 0;
  drawMarks(draft);
}

/** @param {Quote} quote */
function placeName(quote) {
  const place = quote.place.startsWith("steps/") ? `step ${quote.place.slice(6)}` : quote.place;
  return quote.lines ? `${place}, line ${quote.lines[0]}` : place;
}

/** Lines that the draft quotes, and its decisive step. @param {Draft} draft */
function drawMarks(draft) {
  for (const line of document.querySelectorAll(".packet .ln")) {
    if (!(line instanceof HTMLElement)) continue;
    const at = Number(line.dataset.line);
    const is = draft.evidence.some(
      (one) => one.place === line.dataset.place && one.lines !== null && one.lines[0] <= at && at <= one.lines[1],
    );
    line.classList.toggle("quoted-here", is);
    line.classList.toggle("dec", draft.decisive_step !== null && line.dataset.place === `steps/${draft.decisive_step}`);
  }
}

/** Adds a quote, or removes it where it is there already. @param {HTMLFormElement} form @param {Quote} quote @returns {boolean} added */
export function toggleQuote(form, quote) {
  const quotes = quotesOf.get(form) ?? [];
  const same = (/** @type {Quote} */ one) =>
    one.place === quote.place && one.lines?.[0] === quote.lines?.[0] && one.quote === quote.quote;
  const without = quotes.filter((one) => !same(one));
  const isNew = without.length === quotes.length;
  quotesOf.set(form, isNew ? [...quotes, quote] : without);
  refresh(form);
  return isNew;
}

/** @param {HTMLFormElement} form @param {number} at */
export function removeQuote(form, at) {
  quotesOf.set(form, (quotesOf.get(form) ?? []).filter((_, index) => index !== at));
  refresh(form);
}

/** What the server found. @param {HTMLFormElement} form @param {Quote} quote @param {any} answer */
export function settleQuote(form, quote, answer) {
  const quotes = quotesOf.get(form) ?? [];
  quotesOf.set(
    form,
    quotes.map((one) => {
      if (one.place !== quote.place || one.quote !== quote.quote || one.lines?.[0] !== quote.lines?.[0]) return one;
      if (!answer.is_found) return { ...one, state: "missing", problem: answer.problem };
      return { ...one, ...answer, state: "found", problem: "" };
    }),
  );
  refresh(form);
}

/** @param {HTMLFormElement} form @param {number | null} step */
export function setDecisive(form, step) {
  const field = form.elements.namedItem("decisive_step");
  if (field instanceof HTMLInputElement) field.value = step === null ? "" : String(step);
  refresh(form);
}

/** What has to be there before it is sent; the server checks the same, and the quotes. @param {HTMLFormElement} form @returns {Problem[]} */
export function problems(form) {
  const draft = read(form);
  const words = form.dataset;
  /** @type {Problem[]} */
  const found = [];
  const labels = labelsOf(form, draft.owner);
  if (!draft.owner) found.push({ field: "owner", message: words.noOwner ?? "" });
  else if (labels.length > 1 && !labels.some((one) => one.checked))
    found.push({ field: "label", message: `Choose a label of ${draft.owner}: ${labels.map((one) => one.value).join(", ")}.` });
  if (!draft.cause) found.push({ field: "cause", message: words.noCause ?? "" });
  const missing = draft.evidence.find((one) => one.state === "missing");
  if (!draft.evidence.length) found.push({ field: "evidence", message: words.noQuote ?? "" });
  else if (missing) found.push({ field: "evidence", message: missing.problem });
  else if (draft.owner !== "simulator" && !draft.evidence.some((one) => isCore(one.place)))
    found.push({ field: "evidence", message: words.noCore ?? "" });
  else if (["grader", "task"].includes(draft.owner) && !draft.evidence.some((one) => FROM_THE_EVAL.includes(one.kind)))
    found.push({ field: "evidence", message: `A fault of the ${draft.owner} needs a quote from the check or the task as well.` });
  return found;
}

/** In place; the first one gets the focus. @param {HTMLFormElement} form @param {Problem[]} found */
export function showProblems(form, found) {
  for (const place of form.querySelectorAll(".problem")) {
    if (!(place instanceof HTMLElement)) continue;
    const messages = found.filter((one) => (one.field || "") === (place.dataset.for ?? "")).map((one) => one.message);
    place.textContent = messages.join(" ");
    place.hidden = !messages.length;
  }
  const first = found.length ? (form.querySelector(`#field-${found[0].field || "owner"}`) ?? null) : null;
  if (first instanceof HTMLDetailsElement) first.open = true;
  if (first instanceof HTMLElement) {
    first.tabIndex = -1;
    focusOn(first.id === "field-cause" ? first.querySelector("input") : first);
  }
}

/** @param {Element | null} element */
function focusOn(element) {
  if (element instanceof HTMLElement) element.focus();
}

/** As it is sent. @param {Draft} draft */
export function asSent(draft) {
  const evidence = draft.evidence.map(({ quote, place, lines }) => ({ quote, place, lines }));
  return { ...draft, evidence };
}
