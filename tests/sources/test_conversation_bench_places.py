"""conversation-bench: moved folders, comparisons and contracts found from where a run lies, and damaged rows."""

import json
import shutil
from pathlib import Path

import pytest

from errata.model import Attempt, Case, Run, Unreadable
from errata.sources import conversation_bench
from errata.sources.conversation_bench import explain, recognise

FIXTURES = Path(__file__).parent.parent / "fixtures" / "sources" / "conversation_bench"
ALPHA_1 = "20260301T100000_voice-alpha_1a2b3c4d"
BETA_1 = "20260301T130000_voice-beta_9c0d1e2f"


@pytest.fixture
def project(tmp_path):
    """The folders as the harness leaves them: benchmarks/, results/ and runs/ beside each other."""
    compared = FIXTURES / "comparison" / "data" / "compare_20260301"
    results = tmp_path / "results" / "harbour_bench" / "compare_20260301"
    shutil.copytree(compared, results, ignore=shutil.ignore_patterns("runs", "benchmarks"))
    shutil.copytree(compared / "runs", tmp_path / "runs")
    shutil.copytree(compared / "benchmarks", tmp_path / "benchmarks")
    for fixture in ("damaged", "unjudged"):
        shutil.copytree(FIXTURES / fixture / "data", tmp_path / "runs" / "harbour_bench", dirs_exist_ok=True)
    return tmp_path


def a_row(**changes):
    scores = {"turn_taking": True, "tool_use_correct": True, "ambiguity_handling": None}
    row = {
        "ts": "2026-03-01T10:00:00.000Z",
        "turn": 0,
        "model_name": "m",
        "user_text": "Hi.",
        "assistant_text": "Hello.",
    }
    return row | {"scores": scores, "judge_reasoning": "Fine."} | changes


def a_run(folder, *rows, name="openai_judged.jsonl", **files):
    folder.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (folder / name).write_text("".join(f"{line}\n" for line in lines))
    for file, text in files.items():
        (folder / file.replace("__", ".")).write_text(text)
    return folder


def of_kind(kind, path):
    return [item for item in conversation_bench.read(path) if isinstance(item, kind)]


def compared_with(project):
    return project / "results" / "harbour_bench" / "compare_20260301"


@pytest.mark.trap(19)
@pytest.mark.req("J-03")
def test_runs_of_a_moved_comparison_are_found_beside_it(project):
    runs = {run.native_id: run for run in of_kind(Run, compared_with(project))}

    assert len(runs) == 4
    assert runs[ALPHA_1].origin == str(project / "runs" / "harbour_bench" / ALPHA_1)


@pytest.mark.parametrize("name", [ALPHA_1, BETA_1])
def test_a_run_reads_the_same_by_itself_and_through_its_comparison(project, name):
    alone = list(conversation_bench.read(project / "runs" / "harbour_bench" / name))
    compared = list(conversation_bench.read(compared_with(project)))
    first = next(item for item in alone if isinstance(item, Run))

    assert [item for item in compared if getattr(item, "run", getattr(item, "id", "")) == first.id] == alone
    assert first.group == "compare_20260301"


def test_the_last_comparison_by_name_speaks_for_a_run(project):
    later = project / "results" / "harbour_bench" / "compare_20260401"
    shutil.copytree(compared_with(project), later)
    (later / "metadata.json").unlink()

    assert {run.group for run in of_kind(Run, project / "runs" / "harbour_bench" / ALPHA_1)} == {"compare_20260401"}
    assert {run.group for run in of_kind(Run, compared_with(project))} == {"compare_20260401"}


@pytest.mark.req("J-05")
def test_a_run_that_is_nowhere_to_be_found_is_named(project):
    shutil.rmtree(project / "runs" / "harbour_bench" / BETA_1)

    (lost,) = of_kind(Unreadable, compared_with(project))
    assert BETA_1 in lost.why
    assert lost.where == "run_results.csv:4"
    assert len({run.id for run in of_kind(Run, compared_with(project))}) == 3


def test_a_table_with_nothing_but_run_dir_and_model_is_enough(tmp_path):
    a_run(tmp_path / "run-a", a_row())
    (tmp_path / "compare").mkdir()
    (tmp_path / "compare" / "run_results.csv").write_text("model_name,run_dir\nm,C:\\bench\\run-a\n")

    run = of_kind(Run, tmp_path / "compare")[-1]
    assert (run.native_id, run.reported) == ("run-a", ())


@pytest.mark.req("J-05")
def test_a_comparison_without_its_table_is_explained(project):
    (compared_with(project) / "run_results.csv").unlink()

    assert recognise(compared_with(project)) is None
    assert "`run_results.csv`" in explain(compared_with(project))


@pytest.mark.req("J-05")
def test_a_run_folder_without_rows_is_explained(project):
    folder = project / "runs" / "harbour_bench" / ALPHA_1
    (folder / "openai_judged.jsonl").unlink()
    (folder / "transcript.jsonl").unlink()

    assert recognise(folder) is None
    assert "`openai_judged.jsonl`" in explain(folder)


@pytest.mark.parametrize("below", ["", "harbour_bench", "harbour_bench/turns.json"])
def test_a_benchmarks_folder_is_explained_with_the_place_of_its_runs(project, below):
    result = explain(project / "benchmarks" / below)

    assert result == (
        "it contains `turns.json` and `tools.json` of a benchmark, not a finished run;\n"
        f"runs of this benchmark: `{project / 'runs' / 'harbour_bench'}`"
    )


def test_the_contract_gives_cases_and_context(project):
    folder = project / "runs" / "harbour_bench" / ALPHA_1
    case = of_kind(Case, folder)[11]
    context = {artefact.path.rpartition("/")[2] for artefact in of_kind(Run, folder)[0].context}

    assert case.key == "harbour_bench/turn-11"
    assert case.category == case.tags[0]
    assert case.extra["relevant_dimensions"][0] == "tool_use_correct"
    assert (case.ref.file, case.ref.pointer) == ("../../../benchmarks/harbour_bench/turns.json", "/11")
    assert {"system_prompt.txt", "tools.json", "knowledge_base.txt"} <= context


def test_without_a_contract_there_are_no_cases():
    assert not of_kind(Case, FIXTURES / "damaged" / "data" / "20260302T100000_voice-beta_0b1c2d3e")


def contract_of(tmp_path, name, text):
    folder = tmp_path / "benchmarks" / "b"
    folder.mkdir(parents=True)
    (folder / name).write_text(text)
    return a_run(tmp_path / "runs" / "b" / "20260101T000000_m_0123abcd", a_row())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("turns.txt", "Hi.\n\nBye.\n"),
        ("turns.jsonl", '{"input": "Hi."}\n{"input": "Bye."}\n'),
        ("turns.py", 'from x import y\n\nturns = [{"input": "Hi."}, {"input": "Bye."}]\n'),
        ("turns.json", '{"turns": ["Hi.", "Bye."]}'),
    ],
)
def test_a_contract_may_be_written_in_several_ways(tmp_path, name, text):
    cases = of_kind(Case, contract_of(tmp_path, name, text))

    assert [(case.native_id, case.input) for case in cases] == [("turn-0", "Hi."), ("turn-1", "Bye.")]


def test_a_turn_of_the_contract_without_a_row_is_missing(tmp_path):
    attempts = of_kind(Attempt, contract_of(tmp_path, "turns.txt", "Hi.\nBye.\n"))

    assert [(one.position, one.execution) for one in attempts] == [(0, "completed"), (1, "missing")]


@pytest.mark.parametrize(
    "text", ["turns = [open('x') for _ in y]\n", "turns = load()\n", "turns = [", "\x00", "(" * 999]
)
def test_a_contract_that_would_have_to_be_run_is_unreadable(tmp_path, text):
    folder = contract_of(tmp_path, "turns.py", text)

    (problem,) = of_kind(Unreadable, folder)
    assert "never" in problem.why
    assert problem.where == "../../../benchmarks/b/turns.py"


def test_a_judged_file_alone_is_read(tmp_path):
    a_run(tmp_path, a_row(), a_row(turn=1), name="saved.jsonl")
    path = tmp_path / "saved.jsonl"

    assert recognise(path) is not None
    assert [attempt.case for attempt in of_kind(Attempt, path)] == ["turn-0", "turn-1"]
    assert of_kind(Run, path)[0].subject.model == "m"


def test_a_judged_file_in_its_folder_is_the_folders_run(project):
    folder = project / "runs" / "harbour_bench" / ALPHA_1

    assert list(conversation_bench.read(folder / "openai_judged.jsonl")) == list(conversation_bench.read(folder))


def test_the_benchmark_is_the_parent_folder_where_no_file_names_it(tmp_path):
    folder = a_run(tmp_path / "event_bench" / "20260101T000000_a_b_0123abcd", a_row(model_name=None))

    run = of_kind(Run, folder)[-1]
    assert (run.suite, run.subject.model) == ("event_bench", "a_b")


@pytest.mark.parametrize("row", [{}, [], "7", a_row(turn=None), a_row(turn="x"), a_row(turn=-1), a_row(turn=True)])
def test_a_row_that_has_no_place_in_the_conversation_is_unreadable(tmp_path, row):
    folder = a_run(tmp_path / "run", a_row(), json.dumps(row))

    assert len(of_kind(Attempt, folder)) == 1
    assert len(of_kind(Unreadable, folder)) == 1


@pytest.mark.trap(13)
def test_a_number_that_is_none_is_kept_as_text(tmp_path):
    row = a_row(
        ttfb_ms=float("nan"), tool_calls=[{"name": "f", "args": {"x": float("inf"), "y": 10**30}}], odd=[-1e999]
    )
    (attempt,) = of_kind(Attempt, a_run(tmp_path / "run", row))

    assert attempt.durations == {}
    assert (attempt.extra["ttfb_ms"], attempt.extra["odd"]) == ("NaN", ["-Infinity"])
    assert attempt.steps[1].tool_calls[0].arguments == {"x": "Infinity", "y": str(10**30)}


@pytest.mark.trap(8)
def test_only_strictly_false_fails(tmp_path):
    (attempt,) = of_kind(Attempt, a_run(tmp_path / "run", a_row(scores={"turn_taking": True, "kb_grounding": 0})))

    assert attempt.outcome == "pass"
    assert [(check.name, check.status, check.value) for check in attempt.checks] == [
        ("turn_taking", "pass", True),
        ("kb_grounding", "unscored", 0),
    ]


def test_early_rows_that_come_before_the_ending_turn_still_follow_it(tmp_path):
    ended = a_row(turn=3, assistant_text="[MODEL_ENDED_SESSION] Bye.")
    early = [a_row(turn=turn, assistant_text="[MODEL_ENDED_SESSION_EARLY]") for turn in (5, 4)]
    attempts = of_kind(Attempt, a_run(tmp_path / "run", *early, ended))

    assert [attempt.follows for attempt in attempts] == [attempts[2].id, attempts[2].id, None]


def test_early_rows_of_an_unjudged_conversation_follow_the_ending_turn(tmp_path):
    rows = [
        a_row(turn=0, assistant_text="[MODEL_ENDED_SESSION]"),
        a_row(turn=1, assistant_text="[MODEL_ENDED_SESSION_EARLY]"),
    ]
    folder = a_run(tmp_path / "run", *rows, name="transcript.jsonl", runtime__json='{"model_name": "m", "turns": 2}')
    first, second = of_kind(Attempt, folder)

    assert (second.follows, second.execution, second.measurement) == (first.id, "cancelled", "not_run")


def test_a_failed_turn_without_a_line_in_the_log_refers_to_runtime_json(tmp_path):
    folder = a_run(tmp_path / "run", a_row(), runtime__json='{"total_attempted": 2, "turns": 1, "failed_turns": [1]}')
    missing = of_kind(Attempt, folder)[-1]

    assert missing.execution == "missing"
    assert str(missing.errors[0].ref) == "runtime.json#/failed_turns/0"


def test_values_of_environment_variables_in_commands_are_left_out(project):
    table = compared_with(project) / "commands.csv"
    table.write_text(table.read_text().replace("audio-arena run", "API_KEY=abc123 audio-arena run --seed=7"))

    commands = of_kind(Run, compared_with(project))[0].extra["comparison"]["commands"]
    assert commands[0]["command"] == "API_KEY=… audio-arena run --seed=7 harbour_bench --model voice-alpha"
