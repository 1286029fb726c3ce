// What was done on the review page and is not confirmed yet: kept in the browser, sent in order, each once.
// @ts-check

/**
 * @typedef {object} Sent  one request that changes the store
 * @property {number} [number]  its place in the order
 * @property {"save" | "alike" | "undo"} kind
 * @property {string} key  idempotency key
 * @property {string} of  for `undo`: the key of the request that is undone
 * @property {string} page  the address of the item
 * @property {string} title  the case, for messages
 * @property {string} owner
 * @property {Record<string, any>} body
 * @property {number} [tries]  how often the server answered with an error of its own
 */

/**
 * @typedef {object} Outcome
 * @property {"done" | "refused" | "conflict" | "broken"} kind  broken: the server has a bug, and says so
 * @property {Sent} sent
 * @property {any} answer
 */

const RETRY = 1_500;
const MOST_TRIES = 4;
const BUSY = 503;

export class Outbox {
  /**
   * @param {(outcome: Outcome) => void} onOutcome
   * @param {(waiting: number, isOffline: boolean, stuck: Sent[], problem: string) => void} onState
   */
  constructor(onOutcome, onState) {
    this.onOutcome = onOutcome;
    this.onState = onState;
    /** Verdicts that own requests have made: key → ids. @type {Map<string, {attempt: string, verdict: string}[]>} */
    this.made = new Map();
    /** Ids of own versions by the item's path, which the page does not know yet. @type {Map<string, string[]>} */
    this.seen = new Map();
    /** @type {Sent[]} */
    this.waiting = [];
    /** What the server could not take, however often it was asked. It is kept, and sent again with the next page. @type {Sent[]} */
    this.stuck = [];
    this.problem = "";
    this.isSending = false;
    this.isOffline = false;
    /** @type {Promise<IDBDatabase | null>} */
    this.database = opened();
  }

  /** What an earlier page left behind. */
  async resume() {
    this.waiting = await this.all();
    if (this.waiting.length) this.send();
    this.report();
  }

  /** @param {Sent} sent */
  async add(sent) {
    this.waiting.push(sent);
    this.report();
    const database = await this.database;
    if (database) sent.number = /** @type {number} */ (await done(store(database, "readwrite").add({ ...sent })));
    this.send();
  }

  /** @returns {Promise<Sent[]>} */
  async all() {
    const database = await this.database;
    return database ? done(store(database, "readonly").getAll()) : [];
  }

  report() {
    this.onState(this.waiting.length, this.isOffline, this.stuck, this.problem);
  }

  /** One after the other; what can't be sent stays and is tried again. */
  async send() {
    if (this.isSending) return;
    this.isSending = true;
    while (this.waiting.length) {
      const outcome = await this.attempt(this.waiting[0]);
      this.isOffline = outcome === null;
      if (outcome === null) {
        setTimeout(() => this.send(), RETRY);
        break;
      }
      if (outcome.kind === "broken") {
        const tried = this.waiting[0];
        tried.tries = (tried.tries ?? 0) + 1;
        this.problem = outcome.answer;
        if (tried.tries < MOST_TRIES) {
          setTimeout(() => this.send(), RETRY * 2 ** tried.tries);
          break;
        }
        // the others need not wait for it
        this.stuck.push(/** @type {Sent} */ (this.waiting.shift()));
        this.report();
        continue;
      }
      const sent = /** @type {Sent} */ (this.waiting.shift());
      await this.forget(sent);
      this.onOutcome(outcome);
      this.report();
    }
    this.isSending = false;
    this.report();
  }

  /** What was stuck, once more. */
  again() {
    for (const sent of this.stuck) sent.tries = 0;
    this.waiting.push(...this.stuck.splice(0));
    this.report();
    return this.send();
  }

  /** @param {Sent} sent */
  async forget(sent) {
    const database = await this.database;
    if (database && sent.number !== undefined) await done(store(database, "readwrite").delete(sent.number));
  }

  /** @param {Sent} sent @returns {Promise<Outcome | null>} null where the server does not answer */
  async attempt(sent) {
    try {
      if (sent.kind === "undo") return await this.undo(sent);
      const action = sent.kind === "save" ? "verdict" : "alike";
      const seen = [...(sent.body.seen ?? []), ...(this.seen.get(pathOf(sent.page)) ?? [])];
      const response = await post(sent.page, action, { ...sent.body, seen, request: sent.key });
      if (response === null) return null;
      if (response.status >= 500) return await broken(response, sent);
      const answer = await response.json();
      if (response.status === 409) return { kind: "conflict", sent, answer };
      if (!response.ok) return { kind: "refused", sent, answer };
      this.remember(sent, answer);
      return { kind: "done", sent, answer };
    } catch {
      return null;
    }
  }

  /** @param {Sent} sent @param {any} answer */
  remember(sent, answer) {
    const failures = sent.kind === "alike" ? answer.failures.filter((/** @type {any} */ one) => one.saved) : [];
    const made =
      sent.kind === "save"
        ? [{ attempt: answer.attempt, verdict: answer.id }]
        : failures.map((/** @type {any} */ one) => ({ attempt: one.attempt, verdict: one.verdict }));
    this.made.set(sent.key, made);
    for (const each of made) this.know(pageOf(each.attempt), each.verdict);
  }

  /** @param {string} path @param {string} verdict */
  know(path, verdict) {
    this.seen.set(path, [...(this.seen.get(path) ?? []), verdict]);
  }

  /** @param {Sent} sent @returns {Promise<Outcome | null>} */
  async undo(sent) {
    let answer = null;
    const unsent = this.stuck.findIndex((one) => one.key === sent.of);
    if (unsent >= 0) await this.forget(this.stuck.splice(unsent, 1)[0]);
    for (const each of this.made.get(sent.of) ?? sent.body.made ?? []) {
      const response = await post(pageOf(each.attempt), "undo", { verdict: each.verdict });
      if (response === null) return null;
      if (response.status >= 500) return await broken(response, sent);
      answer = await response.json();
      if (!response.ok) return { kind: "refused", sent, answer };
      this.know(pageOf(each.attempt), answer.id);
    }
    return { kind: "done", sent, answer };
  }
}

/** @param {Response} response @param {Sent} sent @returns {Promise<Outcome>} */
async function broken(response, sent) {
  const answer = await response.json().catch(() => ({}));
  return { kind: "broken", sent, answer: [response.status, answer.id].filter(Boolean).join(", id ") };
}

/** @param {string} attempt @returns {string} */
export function pageOf(attempt) {
  return `/review/${encodeURIComponent(attempt)}`;
}

/** @param {string} page @returns {string} without the filters */
export function pathOf(page) {
  return new URL(page, location.href).pathname;
}

/**
 * null where the server does not answer, or not for now.
 * @param {string} page @param {string} action @param {object} body @returns {Promise<Response | null>}
 */
export async function post(page, action, body) {
  try {
    const response = await fetch(`/api${pathOf(page)}/${action}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    return response.status === BUSY ? null : response;
  } catch {
    return null;
  }
}

/** @returns {string} */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @returns {Promise<IDBDatabase | null>} null where the browser keeps nothing, as in some private windows */
function opened() {
  return new Promise((resolve) => {
    try {
      const request = indexedDB.open("errata-review", 1);
      request.onupgradeneeded = () =>
        request.result.createObjectStore("waiting", { keyPath: "number", autoIncrement: true });
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => resolve(null);
    } catch {
      resolve(null);
    }
  });
}

/** @param {IDBDatabase} database @param {IDBTransactionMode} mode */
function store(database, mode) {
  return database.transaction("waiting", mode).objectStore("waiting");
}

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
