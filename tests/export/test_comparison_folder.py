"""A comparison folder that is rebuilt from judged runs, held against the harness's own (E-23)."""

import csv
import json
import shutil
from pathlib import Path

import msgspec
import pytest

from errata.compare.comparison import ComparisonOptions
from errata.errors import SettingsError
from errata.runs.names import runs_named
from errata.store.runs import exclude
from errata.verbs.compare import compare, write_comparison_folder

BENCH = "sources/conversation_bench"
OWN = f"{BENCH}/comparison/data/compare_20260301"
BOOTSTRAPPED = ("latency_ms_p95_ci_lower", "latency_ms_p95_ci_upper")


def table(path: Path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def header(path: Path) -> str:
    return path.read_text(encoding="utf-8").split("\n")[0]


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def written(store, folder, *paths, force=False):
    return write_comparison_folder(list(runs_named(map(str, paths), store)), store, folder, force=force)


@pytest.fixture
def project(fixtures, tmp_path) -> Path:
    """As a user has it: runs beside results, and nobody's comparison of them."""
    shutil.copytree(fixtures / OWN / "runs", tmp_path / "project" / "runs")
    for other in ("damaged", "unjudged"):
        shutil.copytree(
            fixtures / BENCH / other / "data", tmp_path / "project" / "runs" / "harbour_bench", dirs_exist_ok=True
        )
    return tmp_path / "project"


@pytest.fixture
def runs(project) -> list[Path]:
    """The four of the harness's own comparison."""
    return sorted((project / "runs" / "harbour_bench").glob("20260301*"))


@pytest.fixture
def rebuilt(store, project, runs) -> Path:
    folder = project / "results" / "harbour_bench" / "rebuilt"
    written(store, folder, *runs)
    return folder


@pytest.mark.req("E-23")
def test_every_number_but_the_bootstrapped_is_the_harnesss_own(rebuilt, fixtures):
    ours, own = (table(folder / "run_results.csv") for folder in (rebuilt, fixtures / OWN))
    ignored = {"run_dir", *BOOTSTRAPPED}

    assert header(rebuilt / "run_results.csv") == header(fixtures / OWN / "run_results.csv")
    for mine, its in zip(ours, own, strict=True):
        assert {key: value for key, value in mine.items() if key not in ignored} == {
            key: value for key, value in its.items() if key not in ignored
        }


@pytest.mark.req("E-23")
def test_bootstrapped_bounds_are_near_the_harnesss_own(rebuilt, fixtures):
    """It draws with NumPy's generator, errata with Python's: they agree in the limit, not to the last digit."""
    ours, own = (table(folder / "run_results.csv") for folder in (rebuilt, fixtures / OWN))

    for column in BOOTSTRAPPED:
        assert [float(row[column]) for row in ours] == pytest.approx([float(row[column]) for row in own], rel=0.03)


@pytest.mark.req("E-23")
def test_the_table_of_metrics_is_the_harnesss_own_byte_for_byte(rebuilt, fixtures):
    name = "metric_summary.csv"

    assert (rebuilt / name).read_bytes() == (fixtures / OWN / name).read_bytes()


def test_the_table_of_models_has_means_and_the_deviations_of_repeated_runs(rebuilt):
    alpha, beta, gamma = table(rebuilt / "model_summary.csv")

    assert (alpha["model_name"], beta["model_name"], gamma["model_name"]) == (
        "voice-alpha",
        "voice-beta",
        "acme/voice-gamma",
    )
    assert (alpha["fail_rows_mean"], alpha["fail_rows_std"]) == ("4.5", "0.707107")
    assert (beta["fail_rows_mean"], beta["fail_rows_std"]) == ("10.0", "")
    assert list(alpha)[-2:] == ["ttfb_ms_p99_mean", "ttfb_ms_p99_std"]
    assert len(alpha) == 63


def test_commands_and_settings_of_an_earlier_comparison_are_kept(store, fixtures, tmp_path):
    shutil.copytree(fixtures / OWN, tmp_path / "own")
    written(store, tmp_path / "own" / "again", tmp_path / "own")
    ours, own = (table(folder / "commands.csv") for folder in (tmp_path / "own" / "again", fixtures / OWN))
    result = json.loads((tmp_path / "own" / "again" / "metadata.json").read_text(encoding="utf-8"))

    assert [row | {"run_dir": ""} for row in ours] == [row | {"run_dir": ""} for row in own]
    assert (result["skip_turn_taking"], result["disable_vad"]) == (False, False)


@pytest.mark.req("E-23")
def test_the_folder_gives_the_same_comparison_as_its_runs(store, rebuilt, runs):
    def compared(*paths):
        made = compare(list(runs_named(map(str, paths), store)), store, ComparisonOptions())
        return [
            [(one.label, one.runs[0].run.id, one.scores) for one in made.runs],
            made.matrix.rows.keys(),
            [[cell and cell.state for cell in row] for row in made.matrix.rows.values()],
            made.sets,
            made.pairings,
            made.checks,
            made.patterns,
        ]

    assert compared(rebuilt) == compared(*runs)


def test_numbers_that_errata_counted_are_not_taken_for_the_harnesss_own(store, rebuilt):
    assert not [
        one for stored in runs_named([str(rebuilt)], store) for one in stored.run.reported if one.metric == "pass_rate"
    ]


def test_the_harnesss_own_comparison_wins_over_one_that_errata_wrote(store, project, runs, fixtures):
    results = project / "results" / "harbour_bench"
    results.mkdir(parents=True)
    for name in ("run_results.csv", "metadata.json"):
        (results / "a").mkdir(exist_ok=True)
        shutil.copy(fixtures / OWN / name, results / "a" / name)
    written(store, results / "b", *runs)
    first, *_ = runs_named([str(results / "b")], store)

    assert [one.value for one in first.run.reported if one.headline] == [0.833333]


def test_the_folder_can_be_rebuilt_from_itself(store, rebuilt):
    before = files_in(rebuilt)
    written(store, rebuilt, rebuilt)

    assert files_in(rebuilt) == before


def test_a_file_that_says_something_else_is_kept_unless_forced(store, rebuilt, runs):
    (rebuilt / "metric_summary.csv").write_text("mine\n")

    with pytest.raises(SettingsError, match=r"`.*metric_summary.csv` already exists and differs"):
        written(store, rebuilt, *runs)
    assert (rebuilt / "metric_summary.csv").read_text() == "mine\n"
    assert len(table(rebuilt / "run_results.csv")) == 4

    written(store, rebuilt, *runs[:2], force=True)
    assert len(table(rebuilt / "run_results.csv")) == 2


def test_a_run_that_nobody_judged_is_left_out_and_named(store, project):
    made = written(store, project / "out", project / "runs" / "harbour_bench")

    assert [(one.run.subject.model, why.code) for one, why in made.left_out] == [("voice-delta", "not_judged")]
    assert len(table(project / "out" / "run_results.csv")) == 5


def test_a_run_that_was_excluded_is_left_out(store, project, runs):
    first, *_ = runs_named(map(str, runs), store)
    exclude(store, first.run.id, reason="a dry run", author="ada")
    made = written(store, project / "out", *runs)

    assert [str(why) for _, why in made.left_out] == ["excluded: a dry run"]
    assert [row["run_index"] for row in table(project / "out" / "run_results.csv")] == ["1", "1", "1"]


def test_rows_that_lie_in_no_run_folder_have_no_place_in_a_comparison(store, project, runs, tmp_path):
    shutil.copy(runs[0] / "openai_judged.jsonl", tmp_path / "rows.jsonl")

    with pytest.raises(SettingsError, match="No judged run is left") as result:
        written(store, project / "out", tmp_path / "rows.jsonl")
    assert "its rows are not in a run folder" in result.value.hint


def test_runs_of_other_harnesses_are_refused(store, fixtures, tmp_path):
    with pytest.raises(SettingsError, match="is of `convex-evals`, which has no comparison folders") as result:
        written(store, tmp_path / "out", fixtures / "sources" / "convex_evals" / "run_a" / "data")
    assert "`--write` takes judged runs of `conversation-bench`" in result.value.hint
    assert not (tmp_path / "out").exists()


def test_runs_of_two_benchmarks_are_refused(store, project, runs, fixtures):
    other = fixtures / BENCH / "two_judges" / "data"

    with pytest.raises(SettingsError, match="A comparison folder is about one benchmark"):
        written(store, project / "out", runs[0], other)


def test_of_two_judges_the_one_that_decides_is_written(store, fixtures, tmp_path):
    written(store, tmp_path / "out", fixtures / BENCH / "two_judges" / "data")
    (row,) = table(tmp_path / "out" / "run_results.csv")

    assert (row["judge_name"], row["turns_scored"]) == ("openai", "3")


def test_runs_that_are_not_found_from_the_folder_are_told(store, runs, project, tmp_path):
    near, far = (written(store, place, *runs).not_found for place in (project / "out", tmp_path / "far" / "away"))

    assert (near, [one.run.native_id for one in far]) == ((), [path.name for path in runs])


def test_a_dimension_without_a_column_is_told_and_decides_all_the_same(store, project, runs):
    judged = runs[0] / "openai_judged.jsonl"
    rows = [msgspec.json.decode(line) for line in judged.read_bytes().splitlines()]
    rows[0]["scores"]["politeness"] = False
    judged.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    made = written(store, project / "out", runs[0])
    (row,) = table(project / "out" / "run_results.csv")

    assert made.without_column == ("politeness",)
    assert row["fail_rows"] == "6"


@pytest.mark.parametrize("name", ["=HYPERLINK(1)", "a\x1b[31mred", "key sk-ant-api03-abcdefghijklmnopqrstuvwx"])
def test_hostile_names_are_harmless_in_every_file(store, project, runs, name):
    for file in ("runtime.json", "openai_summary.json"):
        data = json.loads((runs[0] / file).read_text(encoding="utf-8"))
        data |= {"model_name": name} | ({"mode": name, "parallel": {name: name}} if file == "runtime.json" else {})
        (runs[0] / file).write_text(json.dumps(data), encoding="utf-8")
    written(store, project / "out", runs[0])
    text = b"".join(files_in(project / "out").values()).decode()

    assert "\x1b" not in text and "\\u001b" not in text
    assert "abcdefghijklmnop" not in text
    assert not table(project / "out" / "run_results.csv")[0]["model_name"].startswith("=")
