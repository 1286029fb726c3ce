// Live updates: one stream of the server per page, shared by everything on it.
// @ts-check

/**
 * @typedef {object} Change
 * @property {"run" | "attempts" | "verdict" | "bucket" | "claim"} kind
 * @property {string | null} run  null where more than one run may have changed
 * @property {string | null} attempt
 * @property {string | null} by
 */

/** @type {Set<(change: Change) => void>} */
const listeners = new Set();
/** @type {Set<(isOnline: boolean) => void>} */
const watchers = new Set();
/** @type {EventSource | null} */
let stream = null;
let waited = 0;

/** Calls back for every change of the store. @param {(change: Change) => void} callback @returns {() => void} ends it */
export function onChange(callback) {
  listeners.add(callback);
  connect();
  return () => listeners.delete(callback);
}

/** Calls back when the server stops or begins to answer. @param {(isOnline: boolean) => void} callback */
export function onConnection(callback) {
  watchers.add(callback);
}

function connect() {
  if (stream) return;
  // what changed while the page was loading counts too
  const opened = new EventSource(`/events?age=${Math.ceil(performance.now() / 1000) + 1}`);
  stream = opened;
  opened.addEventListener("open", () => {
    waited = 0;
    for (const watcher of watchers) watcher(true);
  });
  opened.addEventListener("message", (event) => {
    const change = /** @type {Change} */ (JSON.parse(event.data));
    for (const listener of listeners) listener(change);
  });
  opened.addEventListener("error", () => {
    for (const watcher of watchers) watcher(false);
    // a browser reconnects by itself unless the server refused
    if (opened.readyState !== EventSource.CLOSED) return;
    stream = null;
    waited = Math.min(30_000, waited ? waited * 2 : 2_000);
    setTimeout(connect, waited);
  });
}

// a page that is only kept for the back button holds no stream; when it comes back it listens again
addEventListener("pagehide", () => {
  stream?.close();
  stream = null;
});
addEventListener("pageshow", (event) => {
  if (event.persisted && listeners.size) connect();
});
