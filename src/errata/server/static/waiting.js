// A large run is being worked out: how far it is, and the page again when it is ready.
// @ts-check

const notice = /** @type {HTMLElement | null} */ (document.querySelector("[data-waiting]"));
const EVERY = 1000;

async function look() {
  if (!notice) return;
  try {
    const answer = await fetch(`/api/runs/${notice.dataset.waiting}/progress`);
    if (answer.ok) {
      const progress = await answer.json();
      if (progress.is_ready) return location.reload();
      if (progress.text && notice.textContent !== progress.text) notice.textContent = progress.text;
    }
  } catch {
    // offline: the next look finds out
  }
  setTimeout(look, EVERY);
}

if (notice) setTimeout(look, EVERY);
