"""Runs of one suite, imported and triaged: `a=\"+--x\"` is a run of the subject `a` with one letter for each case."""

from errata.model import Artefact, Attempt, Case, Check, ErrorInfo, Output, Run, SourceInfo, Subject
from errata.runs.triaging import triage_if_needed
from errata.sources.errata_jsonl.lines import write_lines
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.store.runs import run_by_id

SCORED = {"execution": "completed", "measurement": "scored"}
EXPECTED = "412"


def import_suite(store, outcomes, **how):
    """Outcomes by subject. The runs are triaged when all are there."""
    runs = [import_run(store, name, letters, **how) for name, letters in outcomes.items()]
    for stored in runs:
        triage_if_needed(stored, store)
    return runs


def import_run(store, name, letters, **how):
    items = items_of(name, letters, **how)
    with Importing(store) as importing:
        for batch in seal(pack_items(items)):
            importing.add(batch)
        importing.finish()
    return run_by_id(store, items[0].id)


def write_logs(folder, outcomes, **how):
    """The same as files: one log for each subject."""
    folder.mkdir(exist_ok=True)
    for name, letters in outcomes.items():
        (folder / f"{name}.jsonl").write_bytes(b"".join(write_lines(items_of(name, letters, **how))))
    return folder


def items_of(name, letters, *, model="", agent="", suite="suite", log="", task="How many?", category=""):
    """`+` passed, `-` failed with an answer of its own, `=` with 421, `x` crashed, a blank: not in the run."""
    subject = Subject(model=model or name, agent=agent or ("oracle" if name == "gold" else ""))
    run = Run(native_id=name, source=SourceInfo(name="test"), suite=suite, subject=subject)
    items = [run]
    for at, letter in enumerate(letters):
        if letter != " ":
            native = f"case-{at:02}"
            items.append(
                Case(run=run.id, suite=suite, native_id=native, input=task, expected=EXPECTED, category=category)
            )
            items.append(an_attempt(run, f"{suite}/{native}" if suite else native, letter, name, at, log))
    return items


def an_attempt(run, case, letter, name, at, log):
    if letter == "x":
        error = ErrorInfo(type="APIStatusError", message="503 Service Unavailable", phase="subject")
        return Attempt(run=run.id, case=case, execution="error", measurement="not_run", outcome="none", errors=(error,))
    answer = {"+": EXPECTED, "=": "421"}.get(letter, f"{len(name)}{at}{sum(map(ord, name))}")
    outcome = "pass" if letter == "+" else "fail"
    check = Check(name="match", status=outcome, explanation=f"got {answer}")
    artefacts = (Artefact(role="log", path="verifier/test-stdout.txt", text=log),) if log and outcome == "fail" else ()
    output = Output(text=f"It is {answer}", answer=answer)
    return Attempt(
        run=run.id, case=case, outcome=outcome, output=output, checks=(check,), artefacts=artefacts, **SCORED
    )
