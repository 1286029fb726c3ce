"""The same log in another order or notation, or pasted twice: the same ids, owners, scores and costs.

Owners follow from these facts and nothing else, so the facts are compared: status, checks, result and usage of every
counted attempt. The exceptions are listed with their reasons.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from fnmatch import fnmatch
from pathlib import Path

import pytest
from soak.small_logs import SmallLog, small_logs, targets, write
from tests.length import LONG

from errata import sources
from errata.errors import ErrataError
from errata.model import Attempt, Quote, Reviewer, Run, Verdict
from errata.runs.importing import import_paths
from errata.runs.triaging import triage_if_needed
from errata.sources.base import RecognisedPath
from errata.store.attempts import attempts_of, cases_of
from errata.store.attributions import attributions_of
from errata.store.database import open_store
from errata.store.reviews import keep_verdicts, verdicts_of
from errata.store.runs import run_by_id

DOCUMENTS, ROWS = (".json",), (".jsonl", ".ndjson")
MARKED = (*DOCUMENTS, *ROWS, ".csv", ".tsv", ".xml")
TEXTS = (*MARKED, ".log", ".md", ".txt", ".yml", ".yaml")


def keys_reversed(name: str, data: bytes) -> bytes:
    try:
        if name.endswith(DOCUMENTS):
            return json.dumps(reversed_keys(json.loads(data)), ensure_ascii=False).encode()
        if name.endswith(ROWS):
            rows = [reversed_keys(json.loads(line)) for line in lines_of(data)]
            return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
    except (ValueError, UnicodeEncodeError):
        pass  # damaged on purpose
    return data


def with_crlf(name: str, data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") if name.endswith(TEXTS) else data


def with_byte_order_mark(name: str, data: bytes) -> bytes:
    return b"\xef\xbb\xbf" + data if name.endswith(MARKED) and not data.startswith(b"\xef\xbb\xbf") else data


def rows_reversed(name: str, data: bytes, *_: object) -> bytes:
    return table(name, data, lambda rows: rows[::-1])


def pasted_twice(name: str, data: bytes) -> bytes:
    return table(name, data, lambda rows: rows + rows)


def reversed_keys(value: object) -> object:
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return [reversed_keys(inner) for inner in value] if isinstance(value, list) else value


def table(name: str, data: bytes, change: Callable[[list[bytes]], list[bytes]]) -> bytes:
    if not name.endswith((*ROWS, ".csv")):
        return data
    head, rows = ([], lines_of(data)) if name.endswith(ROWS) else (lines_of(data)[:1], lines_of(data)[1:])
    return b"\n".join([*head, *change(rows)]) + b"\n"


def lines_of(data: bytes) -> list[bytes]:
    return [line for line in data.split(b"\n") if line.strip()]


CHANGES = (keys_reversed, with_crlf, with_byte_order_mark, rows_reversed, pasted_twice)

NAMELESS = "the log names no run, so that its id comes from its content"
FIRST_FIELDS = "the first fields tell what the file is; in another order it is refused"
SEQUENCE = "the order of the rows is their content"
EXCEPTIONS = {
    ("braintrust/trials", "*"): NAMELESS,
    ("coding_sessions/*", "rows_reversed"): SEQUENCE,
    ("errata_jsonl/*", "rows_reversed"): "a case and its run come before their attempts",
    ("every_eval_ever/rows_alone", "keys_reversed"): FIRST_FIELDS,
    ("every_eval_ever/rows_alone", "rows_reversed"): "the first result of a sample decides",
    ("generic/csv", "rows_reversed"): "a cell has line breaks, which cuts it in two here",
    ("generic/*", "pasted_twice"): "rows without an attempt number can't be told from repeated attempts",
    ("generic/jsonl", "rows_reversed"): "attempts without a number are numbered in the order of the rows",
    ("generic/sessions", "rows_reversed"): SEQUENCE,
    ("langfuse/dataset_run", "keys_reversed"): NAMELESS,
    ("lm_eval/*", "keys_reversed"): "the first filter is the main one, and only its place says so",
    ("lm_eval/rows_alone", "rows_reversed"): "the first filter is the main one, and only its place says so",
    ("mlflow/evaluate", "keys_reversed"): FIRST_FIELDS,
    ("promptfoo/shared_4", "keys_reversed"): FIRST_FIELDS,
    ("ragas/*", "*_reversed"): NAMELESS,
    ("ragas/*", "pasted_twice"): NAMELESS,
    ("scylla/haiku-tables", "rows_reversed"): NAMELESS,
    ("swe_bench/openhands", "keys_reversed"): NAMELESS,
    ("tau_bench/tau*", "keys_reversed"): NAMELESS,
}


def is_exception(log: SmallLog, change: str, exceptions: Mapping[tuple[str, str], str] = EXCEPTIONS) -> bool:
    return any(fnmatch(log.name, name) and fnmatch(change, kind) for name, kind in exceptions)


def recognised(folder: Path) -> list[RecognisedPath]:
    try:
        return sources.find(folder)
    except ErrataError:
        return []


def facts_of(matches: list[RecognisedPath]) -> dict[str, object]:
    """By id of the attempt; copies of an attempt are noted as such and not compared."""
    facts: dict[str, object] = {}
    for match in matches:
        for item in sources.read(match):
            if isinstance(item, Attempt) and item.counted and item.duplicate_of is None:
                checks = sorted((check.name, check.status, repr(check.value)) for check in item.checks)
                status = (item.execution, item.measurement, item.outcome, item.reported)
                usage = item.usage.subject
                facts[item.id] = (status, checks, (usage.cost, usage.tokens) if usage else None)
            elif isinstance(item, Run):
                facts[item.id] = sorted((one.name, repr(one.value)) for one in item.reported)
    return facts


def read_both(log: SmallLog, change: Callable[[str, bytes], bytes], folder: Path) -> tuple[object, object]:
    """As it is, and changed. Both by the sources that recognise it as it is, from the same folder."""
    write(log, folder)
    matches = recognised(folder)
    usual = facts_of(matches)
    write(log._replace(files={name: change(name, data) for name, data in log.files.items()}), folder)
    try:
        return usual, facts_of(matches)
    finally:
        shutil.rmtree(folder)


def logs_of(target: str) -> list[SmallLog]:
    logs = sorted(small_logs(target), key=lambda log: sum(map(len, log.files.values())))
    return logs if LONG else logs[:2]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("target", targets())
def test_order_notation_and_copies_change_no_fact(target, change, tmp_path):
    for log in logs_of(target):
        if is_exception(log, change.__name__):
            continue
        usual, changed = read_both(log, change, tmp_path / "log")

        assert changed == usual, log.name


@pytest.mark.parametrize(("name", "kind"), EXCEPTIONS)
def test_an_exception_is_still_one(name, kind, tmp_path):
    target = name.partition("/")[0]
    logs = [log for log in small_logs(target) if fnmatch(log.name, name)]
    changes = [change for change in CHANGES if fnmatch(change.__name__, kind)]
    pairs = [read_both(log, change, tmp_path / "log") for log in logs for change in changes]

    assert any(usual != changed for usual, changed in pairs)


# --- what must not matter, between two imports into one store: results, owners and verdicts stay


def marked(_name: str, data: bytes, _texts: list[str], _models: set[str]) -> bytes:
    """A person says which step of a conversation was wrong."""
    try:
        log = json.loads(data)
    except ValueError:
        return data
    marks = {"mistake_agent": "WebSurfer", "mistake_step": "1", "mistake_reason": "It reads the wrong page."}
    return json.dumps(log | marks).encode() if isinstance(log, dict) and "ground_truth" in log else data


def wrapped(_name: str, data: bytes, texts: list[str], _models: set[str]) -> bytes:
    return replaced(data, {text: f"You are an agent.\n\n{text}\nAnswer in short." for text in texts})


def in_brackets(_name: str, data: bytes, _texts: list[str], models: set[str]) -> bytes:
    return replaced(data, {model: f"{model} ({model.rpartition('/')[2].title()})" for model in models})


def dropped(_name: str, data: bytes, texts: list[str], _models: set[str]) -> bytes:
    return replaced(data, dict.fromkeys(texts[:1], ""))


def replaced(data: bytes, words: dict[str, str]) -> bytes:
    for old, new in words.items():
        for to_ascii in (True, False):
            before, after = (json.dumps(text, ensure_ascii=to_ascii).encode() for text in (old, new))
            data = data.replace(before, after) if after not in data or not new else data
    return data


BETWEEN = (marked, wrapped, in_brackets, dropped, rows_reversed)
PREDICTIONS = "the report has the model in its name, too, and no longer belongs to its predictions"
BETWEEN_EXCEPTIONS = {
    ("openai_evals/*", "rows_reversed"): FIRST_FIELDS,
    ("swe_bench/joined", "in_brackets"): PREDICTIONS,
    ("swe_bench/report", "in_brackets"): PREDICTIONS,
    ("ragas/lines", "dropped"): "the question is the name of a case, which the other file then has alone",
    ("braintrust/trials", "dropped"): NAMELESS,
} | {
    (name, "rows_reversed"): EXCEPTIONS[name, "rows_reversed"]
    for name in ("every_eval_ever/rows_alone", "generic/sessions", "lm_eval/rows_alone", "scylla/haiku-tables")
}


def conclusions(store, imported):
    """Of each run: answer, result, owner and verdict of each attempt, whatever its id."""
    found = []
    for result in imported:
        stored = run_by_id(store, result.id)
        triage_if_needed(stored, store)
        owners = {name: one.owner for name, one in attributions_of(store, stored.pk).items()}
        labels = {one.attempt: one.label for one in verdicts_of(store, result.id)}
        rows = [
            (one.output.text or "", one.outcome, one.measurement, owners.get(one.id, ""), labels.get(one.id, ""))
            for one in attempts_of(store, stored.pk)
        ]
        found.append(sorted(rows))
    return sorted(found)


def review(store, run_id):
    """A verdict on each failure, which quotes the subject where it wrote something."""
    stored = run_by_id(store, run_id)
    verdicts = []
    for at, one in enumerate(attempts_of(store, stored.pk, failures=True, steps=True)):
        lines = "\n".join([one.output.text or "", *(step.text for step in one.steps)]).split("\n")
        quotes = [Quote(place="output", quote=line.strip()) for line in lines if len(line.strip()) > 15]
        fields = {"taxonomy": "t", "label": f"label {at}", "owner": "model", "cause": "c", "confidence": "likely"}
        reviewer = Reviewer(kind="person", name="me")
        verdicts.append(
            Verdict(id=f"{at}-{run_id}", attempt=one.id, reviewer=reviewer, evidence=tuple(quotes[:1]), **fields)
        )
    return keep_verdicts(store, verdicts)


@pytest.mark.req("N-16")
@pytest.mark.parametrize("change", [*BETWEEN, None], ids=lambda change: change.__name__ if change else "elsewhere")
@pytest.mark.parametrize("target", targets())
def test_verdicts_and_results_stay_where_the_same_log_is_imported_in_another_form(target, change, tmp_path):
    for at, log in enumerate(logs_of(target)):
        if change and is_exception(log, change.__name__, BETWEEN_EXCEPTIONS):
            continue
        place, store = tmp_path / f"{at}/log", open_store(tmp_path / f"{at}.db")
        write(log, place)
        try:
            first = [run for path in import_paths([place], store) for run in path.runs]
        except ErrataError:
            continue
        runs = [run_by_id(store, run.id) for run in first]
        asked = [case.input for one in runs for case in cases_of(store, one.pk)]
        texts = list(dict.fromkeys(text for text in asked if isinstance(text, str) and len(text) > 5))
        given = sum(review(store, run.id) for run in first)
        before = conclusions(store, first)
        if change:
            models = {one.run.subject.model for one in runs} - {""}
            files = {name: change(name, data, texts, models) for name, data in log.files.items()}
            if not given or files == log.files or (change is wrapped and len(texts) < 2):
                continue  # what is around one task alone is an edit of it
            write(log._replace(files=files), place)
        else:
            place = place.rename(place.with_name("moved"))

        second = [run for path in import_paths([place], store) for run in path.runs]

        assert conclusions(store, second) == before, log.name
        assert not any(run.lost for run in second)
