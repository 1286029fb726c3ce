"""Sources that join two lists of the same attempts: lost, shuffled or renumbered rows never change counts in silence.

Each fixture is perturbed in one of its lists. Then the strict score and every verdict are as before, or a warning, a
problem or an unreadable item that was not there before shows that something is wrong.
"""

import json
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from changed_logs import FIXTURES, items
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.length import PROFILE

from errata.checkup import findings_in
from errata.checkup.survey import RunSurvey
from errata.compare.as_reported import as_reported
from errata.compare.policies import strict
from errata.compare.trials import Trials
from errata.errors import ErrataError
from errata.model import Attempt, Run, Unreadable
from errata.runs.view import differing_headline

NOW = datetime(2026, 12, 1, tzinfo=UTC)
Rows = list[Any]


class Join(NamedTuple):
    """A list of a fixture whose rows are joined with another list."""

    fixture: str
    file: str
    key: tuple[str, ...]
    """Where a row has its id; empty where the row is the id."""
    place: tuple[str, ...] | None = None
    """Where a document has the list; none for JSON lines."""
    head: int = 0
    """Lines before the first row."""
    is_stated_once: bool = True
    """Whether another row of the same id would be dropped: not where it is only an id, a task, or one more statement
    about the same attempt."""
    only: str = ""
    """Only rows that have this field are in the other list too."""

    def __str__(self) -> str:
        return f"{self.fixture} {self.file.rpartition('/')[2]} {'.'.join(self.place or ())}".strip()


JOINS = (
    Join("bfcl/simple", "*_result.json", ("id",)),
    Join("bfcl/simple", "*_score.json", ("id",), head=1, is_stated_once=False),
    Join("bfcl/published", "*v3_simple_result.json", ("id",)),
    Join("bfcl/published", "*v3_irrelevance_result.json", ("id",)),
    Join("bfcl/published", "*v3_simple_score.json", ("id",), head=1, is_stated_once=False),
    Join("bfcl/published", "*v3_irrelevance_score.json", ("id",), head=1, is_stated_once=False),
    Join("bfcl/published", "*v3_simple_score.json", ("prompt", "id"), head=1, is_stated_once=False),
    Join("lm_eval/dummy", "samples_demo_mc*.jsonl", ("doc_id",)),
    Join("helm/demo", "per_instance_stats.json", ("instance_id",), ()),
    Join("helm/demo", "scenario_state.json", ("instance", "id"), ("request_states",)),
    Join("swe_bench/joined", "all_preds.jsonl", ("instance_id",)),
    Join("swe_bench/joined", "mock__model-1.nightly.json", (), ("resolved_ids",), is_stated_once=False),
    Join("swe_bench/joined", "mock__model-1.nightly.json", (), ("unresolved_ids",), is_stated_once=False),
    Join("swe_bench/joined", "mock__model-1.nightly.json", (), ("completed_ids",), is_stated_once=False),
    Join("conversation_bench/two_judges", "transcript.jsonl", ("turn",)),
    Join("conversation_bench/two_judges", "*_judged.jsonl", ("turn",)),
    Join("convex_evals/run_b", "getRunDetails.envelope.json", ("_id",), ("value", "evals"), is_stated_once=False),
    Join("convex_evals/run_b", "getFailedEvalsForRun.json", ("_id",), ("failedEvals",), is_stated_once=False),
    Join("evalscope/repeats", "predictions/*/*.jsonl", ("index",)),
    Join("evalscope/repeats", "reviews/*/*.jsonl", ("index",)),
    Join("every_eval_ever/from_inspect", "*_samples.jsonl", ("sample_id",), only="evaluation_result_id"),
    Join("mlflow/evaluate", "traces.json", ("info", "trace_id"), ()),
    Join("langfuse/dataset_run", "run.json", ("traceId",), ("datasetRunItems",)),
    Join("langfuse/dataset_run", "traces.json", ("id",), ("data",)),
    Join("harbor/terminal-bench", "results.json", ("task_id",), ("results",)),
    Join("openai_evals/match", "*.jsonl", ("sample_id",), head=1, only="sample_id"),
    Join("tau_bench/tau2", "*.json", ("task_id",), ("simulations",)),
    Join("tau_bench/tau2", "*.json", ("id",), ("tasks",), is_stated_once=False),
)


class Tally(NamedTuple):
    """What a user sees of a log: scores, verdicts, and what is wrong with it."""

    scores: list[tuple[str, int, int]]
    outcomes: dict[str, set[str]]
    notices: set[str]


ABOUT_COUNTS = frozenset(
    (
        "aggregate_mismatch",
        "cases_not_in_log",
        "duplicate_case",
        "files_disagree",
        "impossible_count",
        "missing_cases",
        "no_attempts",
        "no_verdict",
        "not_judged",
        "unfinished_cases",
    )
)
"""Findings that show that rows are missing, come twice or contradict each other."""


def tally(path: Path) -> Tally:
    try:
        read = items(path)
    except ErrataError as error:  # refused as a whole
        return Tally([], {}, {str(error)})
    unreadable = [one for one in read if isinstance(one, Unreadable)]
    scores, outcomes, notices = [], {}, {f"{one.where} {one.why}" for one in unreadable}
    for run in (one for one in read if isinstance(one, Run)):
        attempts = [one for one in read if isinstance(one, Attempt) and one.run == run.id]
        trials, survey = Trials(run, attempts), RunSurvey(run=run, unreadables=(), now=NOW)
        for attempt in attempts:
            survey.add(attempt)
            outcomes.setdefault(f"{run.suite} {attempt.case} {attempt.index}", set()).add(attempt.outcome)
        survey.find_originals(attempts)
        survey.headline = differing_headline(run, as_reported(trials))
        score = strict(trials)
        scores.append((run.suite, score.passed, score.total))
        notices |= {f"{run.suite} {one.text}" for one in findings_in(survey) if one.name in ABOUT_COUNTS}
    return Tally(sorted(scores), outcomes, notices)


@cache
def as_written(fixture: str) -> Tally:
    return tally(FIXTURES / fixture / "data")


def flips(before: Tally, after: Tally) -> list[str]:
    """Cases that passed and now fail, or the other way round."""
    verdicts = {"pass", "fail"}
    both = before.outcomes.keys() & after.outcomes.keys()
    return [one for one in both if (before.outcomes[one] ^ after.outcomes[one]) >= verdicts]


# --- perturbations ---


def drop(rows: Rows, chosen: set[int], key: tuple[str, ...]) -> Rows:
    return [row for at, row in enumerate(rows) if at not in chosen]


def shuffle(rows: Rows, chosen: set[int], key: tuple[str, ...]) -> Rows:
    mixed = list(rows)
    random.Random(sum(chosen)).shuffle(mixed)
    return mixed


def renumber(rows: Rows, chosen: set[int], key: tuple[str, ...]) -> Rows:
    return [_renamed(row, key) if at in chosen else row for at, row in enumerate(rows)]


def repeat(rows: Rows, chosen: set[int], key: tuple[str, ...]) -> Rows:
    return [*rows, *(row for at, row in enumerate(rows) if at in chosen)]


def _renamed(row: Any, key: tuple[str, ...]) -> Any:
    if not key:
        return row + 1000 if isinstance(row, int) else f"{row}-x"
    if not isinstance(row, dict) or key[0] not in row:
        return row
    return row | {key[0]: _renamed(row[key[0]], key[1:])}


def rows_of(join: Join, root: Path) -> Iterator[tuple[Rows, Callable[[Rows], None]]]:
    """The rows of each file that matches, and how to write others in their place."""
    for path in sorted(root.rglob(join.file)):
        if join.place is None:
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            head, rows = lines[: join.head], lines[join.head :]
            yield rows, lambda new, head=head, path=path: _write_lines(path, [*head, *new])
        else:
            document = json.loads(path.read_text())
            yield _at(document, join.place), lambda new, document=document, path=path: _write(path, document, join, new)


def _at(document: Any, place: tuple[str, ...]) -> Any:
    for name in place:
        document = document[name]
    return document


def _write(path: Path, document: Any, join: Join, rows: Rows) -> None:
    _at(document, join.place or ())[:] = rows
    path.write_text(json.dumps(document))


def _write_lines(path: Path, rows: Rows) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize("perturb", [drop, shuffle, renumber, repeat])
@pytest.mark.parametrize("join", JOINS, ids=str)
# the same examples each time; `make properties` draws others. Known gap: rows of one epoch that every_eval_ever lost
# are not seen where the rest averages to the same number
@settings(
    max_examples=2 if PROFILE == "short" else 100,
    derandomize=PROFILE == "short",
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
)
@given(choice=st.sets(st.integers(0, 40), min_size=1, max_size=4))
def test_counts_stay_right_or_a_finding_shows_that_they_do_not(join, perturb, choice):
    before = as_written(join.fixture)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(shutil.copytree(FIXTURES / join.fixture / "data", Path(folder, "log")))
        files = list(rows_of(join, root))
        assert files, "no such file in the fixture"
        for rows, write in files:
            usable = [at for at, row in enumerate(rows) if not join.only or row.get(join.only) is not None]
            write(perturb(rows, {usable[at % len(usable)] for at in choice}, join.key))
        after = tally(root)

    is_right = after.scores == before.scores and not flips(before, after)
    is_right = is_right and not (perturb is repeat and join.is_stated_once)
    assert is_right or after.notices - before.notices, (before.scores, after.scores, flips(before, after))
