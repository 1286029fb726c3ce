"""Search over all runs: which texts are indexed, and how a query is answered."""

from collections.abc import Iterator, Sequence

from errata.model import Attempt, Attribution, StoredRun
from errata.model.filters import FailureFilters
from errata.model.listing import FailureRow, SearchHit
from errata.model.places import anchor_of, log_names
from errata.model.record import Struct
from errata.model.run import case_name, subject_label
from errata.model.words import OWNERS
from errata.render.figures import decimal
from errata.runs.failures import Expectations
from errata.runs.listing import ensure_indexed
from errata.store.attempts import attempts_of
from errata.store.attributions import attributed_failures
from errata.store.buckets import buckets_of
from errata.store.database import Store
from errata.store.failure_list import forget_other_runs, listed_rows, rows_by_attempt
from errata.store.index_file import (
    END,
    START,
    IndexedText,
    TextHit,
    find_texts,
    keep_texts,
    marks_of,
    texts_mark,
    without_buckets,
)
from errata.store.reviews import verdicts_of
from errata.store.runs import all_runs
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import for_user
from errata.text.redact import beginning
from errata.triage.reasons import explained, reason_of

LONGEST = 4_000
MOST_ANSWERS = 20_000
"""Failures of a run whose answers and checks are indexed; of the others, the reason."""
MOST_HITS = 40
_WORD = lazy_regex(r'(owner|model|case|signal|is|suite):(?:"([^"]*)"|(\S+))')


class Query(Struct):
    """`owner:grader case:x words`: fields and the rest."""

    text: str = ""
    owner: str = ""
    model: str = ""
    case: str = ""
    signal: str = ""
    suite: str = ""
    state: str = ""

    @property
    def has_fields(self) -> bool:
        return bool(self.owner or self.model or self.case or self.signal or self.suite or self.state)


def parse_query(text: str) -> Query:
    fields = {name: quoted or word for name, quoted, word in _WORD.findall(text)}
    state = fields.pop("is", "")
    owner = fields.pop("owner", "")
    if owner and owner not in OWNERS:
        owner = next((entry for entry in OWNERS if entry.startswith(owner.lower())), owner)
    return Query(text=" ".join(_WORD.sub(" ", text).split()), owner=owner, state=state, **fields)


# building


def ensure_searchable_texts(stored: StoredRun, store: Store) -> bool:
    """Index the texts of a run where they are missing or stale; false where nothing was to do."""
    mark = without_buckets(ensure_indexed(stored, store))
    if texts_mark(store, stored.run.id) == mark:
        return False
    keep_texts(store, stored.run.id, _texts(stored, store), mark)
    return True


def forget_missing(store: Store) -> None:
    forget_other_runs(store, marks_of(store).keys())


def _texts(stored: StoredRun, store: Store) -> Iterator[IndexedText]:
    run = stored.run
    named = (run.native_id, run.name, run.subject.model, run.subject.agent, run.suite, run.group, run.id)
    yield IndexedText(_indexed(" ".join(dict.fromkeys(part for part in named if part))), "run", run.id)
    expected = Expectations(stored, store)
    seen: set[str] = set()
    for at, (attempt, attribution) in enumerate(attributed_failures(store, stored.pk)):
        if attempt.case not in seen:
            seen.add(attempt.case)
            yield IndexedText(_indexed(case_name(run, attempt.case)), "case", run.id, attempt.case, attempt.id)
        asked = "" if at >= MOST_ANSWERS or explained(attempt, attribution) else expected.of(attempt)
        logs = log_names(entry.path for entry in attempt.artefacts if entry.role == "log")
        for where, text in _quotes(attempt, attribution, asked, is_short=at >= MOST_ANSWERS):
            anchor = anchor_of(where, logs) if where else ""
            yield IndexedText(_indexed(text), "quote", run.id, attempt.case, attempt.id, where, anchor)
    for attempt in attempts_of(store, stored.pk, outcome="number", counted=True):
        if attempt.case not in seen:
            seen.add(attempt.case)
            name, value = _indexed(case_name(run, attempt.case)), decimal(attempt.value)
            yield IndexedText(name, "case", run.id, attempt.case, attempt.id, value)
    for verdict in verdicts_of(store, run.id):
        parts = (verdict.label, verdict.cause, verdict.reasoning, verdict.underlying_mistake)
        case = verdict.attempt.partition(":")[2].rpartition("#")[0]
        yield IndexedText(_indexed(" · ".join(filter(None, parts))), "verdict", run.id, case, verdict.attempt)


def _indexed(text: str) -> str:
    """Without secrets: a hit is shown with a few words around it, and half a secret has lost its shape."""
    return for_user(beginning(text, LONGEST))


def _quotes(attempt: Attempt, attribution: Attribution, asked: str, *, is_short: bool) -> Iterator[tuple[str, str]]:
    reason = reason_of(attempt, attribution, asked)
    seen = {""}
    texts = [(reason.where, reason.text), *((entry.where, entry.words) for entry in attribution.signals)]
    if not is_short:
        texts += [(f"errors[{at}].message", error.message) for at, error in enumerate(attempt.errors)]
        texts += [(f"checks[{entry.name}]", entry.explanation) for entry in attempt.checks if entry.failed]
        texts += [(f"judgements[{entry.judge}]", entry.reasoning) for entry in attempt.judgements]
        texts += [("output", attempt.output.text or attempt.output.answer or "")]
    for where, text in texts:
        if text not in seen:
            seen.add(text)
            yield where, text


# answering


def search(text: str, store: Store, *, limit: int = MOST_HITS) -> list[SearchHit]:
    """Runs, cases, quotes, verdicts and buckets that fit; of each kind the best first."""
    query = parse_query(text)
    runs = {entry.run.id: entry for entry in all_runs(store) if _fits(entry, query)}
    if not query.text and not query.has_fields:
        return []
    if not query.text:
        return list(_by_fields(query, runs, store, limit))
    hits = []
    chosen = list(runs) if query.model or query.suite else None
    for kinds in (("run",), ("case",), ("quote", "verdict")):
        if kinds == ("run",) and (query.owner or query.signal or query.case or query.state):
            continue
        matching = find_texts(store, query.text, kinds=kinds, limit=4 * limit, run_ids=chosen)
        hits += _hits(matching, runs, query, store)[:limit]
    return hits + (_buckets(query.text, store)[:limit] if not query.has_fields else [])


def _fits(stored: StoredRun, query: Query) -> bool:
    run = stored.run
    return query.model.lower() in run.subject.model.lower() and query.suite.lower() in run.suite.lower()


def _hits(matching: Sequence[TextHit], runs: dict[str, StoredRun], query: Query, store: Store) -> list[SearchHit]:
    rows = rows_by_attempt(store, [entry.attempt for entry in matching if entry.attempt])
    hits = []
    for entry in matching:
        row = rows[entry.attempt][1] if entry.attempt in rows else None
        if entry.run_id not in runs or not _row_fits(row, query):
            continue
        hits.append(_hit(entry, runs[entry.run_id], row.owner if row is not None else ""))
    return hits


def _row_fits(row: FailureRow | None, query: Query) -> bool:
    wanted = query.owner or query.signal or query.case or query.state
    if not wanted:
        return True
    if row is None:
        return False
    return (
        query.owner in ("", row.owner)
        and (not query.signal or f" {query.signal} " in row.signals)
        and query.case.lower() in row.case_key.lower()
        and (not query.state or row.review == _STATES.get(query.state, query.state))
    )


_STATES = {"disagreed": "disputed", "disagree": "disputed"}


def _hit(matching: TextHit, stored: StoredRun, owner: str) -> SearchHit:
    before, _, rest = matching.snippet.partition(START)
    hit, _, after = rest.partition(END)
    after = after.replace(START, "").replace(END, "")
    run = stored.run
    is_run = matching.kind == "run"
    return SearchHit(
        kind=matching.kind,  # type: ignore[arg-type]
        title=subject_label(run) or run.native_id if is_run else case_name(run, matching.case_key),
        before=before,
        hit=hit,
        after=after,
        run=run.id,
        case_key=matching.case_key,
        attempt=matching.attempt,
        where=matching.place,
        anchor=matching.anchor,
        owner=owner,
        model=subject_label(run) or run.native_id,
    )


def _by_fields(query: Query, runs: dict[str, StoredRun], store: Store, limit: int) -> Iterator[SearchHit]:
    """Failures that fit fields alone, the newest run first."""
    left = limit
    filters = FailureFilters(
        owners=(query.owner,) if query.owner else (),
        signal=query.signal,
        review=_STATES.get(query.state, query.state),
        text=query.case,
    )
    for run_id, stored in runs.items():
        rows = listed_rows(store, run_id, filters, "log", limit=left)
        for row in rows:
            yield SearchHit(
                kind="case",
                title=case_name(stored.run, row.case_key),
                run=run_id,
                case_key=row.case_key,
                attempt=row.attempt,
                owner=row.owner,
                model=subject_label(stored.run) or stored.run.native_id,
            )
        left -= len(rows)
        if left <= 0:
            return


def _buckets(text: str, store: Store) -> list[SearchHit]:
    words = text.lower().split()
    return [
        SearchHit(kind="bucket", title=entry.title, bucket=entry.slug, after=entry.description)
        for entry in buckets_of(store)
        if all(word in f"{entry.title} {entry.slug} {entry.description}".lower() for word in words)
    ]
