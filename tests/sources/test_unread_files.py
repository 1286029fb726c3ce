"""Files below an imported folder that no source reads: every one is listed with the reason, none in silence."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata import sources
from errata.cli.render.unread import MOST_LINES, folded
from errata.errors import UnknownFormatError
from errata.model import UnreadFile
from errata.sources import folder_search
from terminal import FIXTURES, done

LFS = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'4d7a2146' * 8}\nsize 12345\n"
TAU2 = json.loads((FIXTURES / "tau_bench" / "tau2" / "data" / "ft-gpt-4.1_airline.json").read_text())
SWE_BENCH = (FIXTURES / "swe_bench" / "lists_2024" / "data" / "run-1" / "report.json").read_text()
LM_EVAL = next((FIXTURES / "lm_eval" / "rows_alone" / "data").rglob("*.jsonl")).read_text()


@pytest.fixture(autouse=True)
def own_store(at_home):
    """Commands write into a store of the test."""


@pytest.fixture
def repository(tmp_path) -> Path:
    """10 result files of one repository: 6 that sources know, four that they do not."""
    return write_results(tmp_path / "evals" / "results", 2)


@pytest.fixture
def large_repository(tmp_path) -> Path:
    """37 result files: 33 that sources know, four that they do not."""
    return write_results(tmp_path / "evals" / "results", 11)


def write_results(root: Path, each: int) -> Path:
    """Of three harnesses `each`, four that no source knows, and three that are no results."""
    for number in range(each):
        put(root / "tau2" / f"model-{number}_airline.json", json.dumps(TAU2))
        put(root / "swe_bench" / f"agent-{number}" / "report.json", SWE_BENCH)
        put(root / "lm_eval" / f"samples_task{number}.jsonl", LM_EVAL)
    put(root / "tau2" / "steps.json", '[{"step": 1, "words": "open the door"}, {"step": 2, "words": "close it"}]')
    put(root / "tau2" / "model-9_retail.json", LFS)
    put(root / "scores.csv", "question,model_a,model_b\n1,yes,no\n")
    put(root / "tau2" / "broken.json", '{"results": [{"id": 1, "answer": "cut off he')
    put(root / "README.md", "# Results")
    put(root / "requirements.txt", "errata\n")
    put(root / "plot.py", "print()")
    return root


def put(path: Path, content: str | bytes = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def reasons(root: Path, **options) -> dict[str, str]:
    unread = sources.look(root, **options).unread
    return {Path(file.path).relative_to(root).as_posix(): file.reason for file in unread.files}


def a_run_in(root: Path) -> Path:
    return put(root / "run" / "model_airline.json", json.dumps(TAU2)).parent.parent


def test_all_four_unknown_files_of_37_are_named(large_repository):
    assert reasons(large_repository) == {
        "scores.csv": "unknown_table",
        "tau2/broken.json": "truncated",
        "tau2/model-9_retail.json": "git_lfs_pointer",
        "tau2/steps.json": "unknown_table",
    }
    assert sources.look(large_repository).unread.other_files == 3


@pytest.mark.parametrize("command", [("import",), ("analyze", "--no-report")], ids=lambda words: words[0])
def test_the_page_names_them_and_the_command_succeeds_each_time(repository, command):
    for _ in range(2):
        page = done(*command, repository).talk

        assert f"note: 4 files below `{repository}` were not read:" in page
        assert "scores.csv: unknown table; describe it with a mapping: `errata map PATH`" in page
        assert "tau2/broken.json: damaged JSON: it ends inside a string" in page
        assert "model-9_retail.json: git-lfs pointer: the data is not here; run `git lfs pull`" in page
        assert "tau2/steps.json: unknown list; describe it with a mapping" in page
        assert "3 other files: documents, code, images or settings" in page


@pytest.mark.parametrize("command", [("import",), ("analyze", "--no-report")], ids=lambda words: words[0])
def test_json_has_the_whole_list_once(repository, command):
    for number in range(30):
        put(repository / "notes" / f"{number}.log", "free text")
    first, *others = done(*command, repository, "--json").rows
    (unread,) = first["unread"]

    assert unread["path"] == str(repository)
    assert len(unread["files"]) == 34
    assert all(row["unread"] == [] for row in others)


def test_the_python_api_has_them_too(large_repository, tmp_path):
    import errata as api

    runs = api.open(tmp_path / "own.db").import_(large_repository)
    (unread,) = runs.unread

    assert len(unread.files) == 4
    assert len(runs) == 33


def test_new_runs_below_a_named_folder_come_with_the_files_that_are_not_read(repository):
    assert "4 files below" in done("analyze", "--new", repository, "--no-report").talk


# --- reasons ---


@pytest.mark.parametrize(
    ("name", "content", "reason", "words"),
    [
        ("a.jsonl", LFS, "git_lfs_pointer", "run `git lfs pull`"),
        ("a.parquet", LFS, "git_lfs_pointer", "run `git lfs pull`"),
        ("a.eval", "/annex/objects/SHA256E-s12--4d7a.eval\n", "git_annex_pointer", "run `git annex get`"),
        ("a.json", "", "empty", "empty"),
        ("a.json", " \n", "empty", "empty"),
        ("a.json", '{"a": [1, 2', "truncated", "truncated at line 1"),
        ("a.json", '{"a": oops, "b": 1}', "damaged", "not valid JSON"),
        ("a.json", '{"a": 1}\n{"a": 2}\n', "unknown_table", "unknown JSON lines"),
        ("a.json.tmp.12", '{"a": [1, 2', "temporary", "interrupted write"),
        ("a.json.gz", gzip.compress(b"{}", mtime=0), "archive", "unpack it first"),
        ("a.zip", b"PK\x05\x06" + b"\0" * 18, "archive", "unpack it first"),
        ("a.tsv", "x\ty\n1\t2\n", "unknown_table", "errata map PATH"),
        ("a.ndjson", '{"x": 1}\n', "unknown_table", "errata map PATH"),
        ("a.json", '{"x": 1}', "unknown_format", "errata map PATH"),
        ("a.json", '{"0": {"origin_prompt": "2+2", "prediction": "4"}}', "unknown_format", "OpenCompass"),
        ("a.xml", "<x/>", "unknown_format", "unknown format"),
        ("a.log", "12:00 started", "unknown_format", "unknown format"),
        ("results", '{"x": 1}', "unknown_format", "unknown format"),
    ],
)
def test_the_reason_of_a_file(tmp_path, name, content, reason, words):
    root = a_run_in(tmp_path / "all")
    put(root / name, content)
    (unread,) = sources.look(root).unread.files

    assert (unread.path, unread.reason) == (str(root / name), reason)
    assert words in unread.detail


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("nowhere.json", "broken_link"),
        ("../../.git/annex/objects/Xx/Yy/SHA256E-s9--4d7a.json/SHA256E-s9--4d7a.json", "git_annex_pointer"),
    ],
)
def test_a_link_without_its_target(tmp_path, target, reason):
    root = a_run_in(tmp_path / "all")
    (root / "a.json").symlink_to(target)

    assert reasons(root) == {"a.json": reason}


def test_a_link_to_a_folder_outside_is_named_and_one_to_a_folder_inside_is_not(tmp_path):
    root = a_run_in(tmp_path / "all")
    put(tmp_path / "elsewhere" / "a.json", json.dumps(TAU2))
    (root / "shared").symlink_to(tmp_path / "elsewhere")
    (root / "latest").symlink_to(root / "run")

    assert reasons(root) == {"shared": "link_not_followed"}


def test_a_file_that_may_not_be_opened(tmp_path, monkeypatch):
    root = a_run_in(tmp_path / "all")
    locked, as_usual = put(root / "a.json", "{}"), Path.open

    def refuse(path, *options, **more):
        if path == locked:
            raise PermissionError(13, "Permission denied")
        return as_usual(path, *options, **more)

    monkeypatch.setattr(Path, "open", refuse)
    (unread,) = sources.look(root).unread.files

    assert (unread.reason, unread.detail) == ("no_access", "can't be opened: Permission denied")


@pytest.mark.parametrize(
    "name",
    ["README.md", "readme.txt", "LICENSE.txt", "requirements-dev.txt", "package.json", "tsconfig.build.json", "pom.xml",
     "plot.png", "run.py", "config.yaml", "node_modules/a/b.json", "venv/x.csv"],
)  # fmt: skip
def test_documents_code_and_settings_are_only_counted(tmp_path, name):
    root = a_run_in(tmp_path / "all")
    put(root / name, "x")
    unread = sources.look(root).unread

    assert (unread.files, unread.other_files) == ((), 1)


def test_with_a_named_source_the_others_were_not_asked(repository):
    found = reasons(repository, source="lm-eval")

    assert found["tau2/model-1_airline.json"] == "other_format"
    assert found["tau2/model-9_retail.json"] == "git_lfs_pointer"


# --- the folder of a run ---


def test_pointers_in_the_folder_of_a_run_are_named(tmp_path):
    run = FIXTURES / "who_and_when" / "generated" / "data" / "Algorithm-Generated"
    root = tmp_path / "logs"
    for file in run.iterdir():
        put(root / file.name, file.read_bytes())
    put(root / "more" / "17.json", LFS)

    assert reasons(root) == {"more/17.json": "git_lfs_pointer"}


def test_results_of_another_harness_in_the_folder_of_a_run_are_named(tmp_path):
    run = FIXTURES / "who_and_when" / "generated" / "data" / "Algorithm-Generated"
    root = tmp_path / "logs"
    for file in run.iterdir():
        put(root / file.name, file.read_bytes())
    put(root / "tau.json", json.dumps(TAU2))
    (unread,) = sources.look(root).unread.files

    assert unread.detail == "the folder is read as `who-and-when`; import this file of `tau-bench` by itself"


def data_folders():
    return sorted(path for path in FIXTURES.glob("*/*/data") if path.is_dir())


@pytest.mark.parametrize("folder", data_folders(), ids=lambda path: f"{path.parts[-3]}-{path.parts[-2]}")
def test_no_file_that_a_source_reads_is_called_unread(folder):
    try:
        unread = sources.look(folder).unread
    except UnknownFormatError:
        pytest.skip("described by a mapping elsewhere")

    assert [file for file in unread.files if file.reason != "git_lfs_pointer"] == []


# --- where the search stops ---


@pytest.mark.req("B-23")
def test_a_search_that_stops_for_the_number_of_files_says_where(tmp_path, monkeypatch):
    monkeypatch.setattr(folder_search, "LOOK_CAP", 5)
    root = a_run_in(tmp_path / "all")
    put(root / "z" / "later" / "a.csv", "a\n1\n")

    assert sources.look(root).unread.not_searched == (str(root / "z" / "later"),)
    assert "the search stopped after too many files; not searched: `z/later`" in done("import", root).talk


def test_folders_that_are_too_deep_are_named(tmp_path):
    root = a_run_in(tmp_path / "all")
    deep = root / Path(*"abcdefgh")
    put(deep / "a.csv", "a\n1\n")

    assert sources.look(root).unread.too_deep == (str(deep),)
    assert "not searched because of its depth: `a/b/c/d/e/f/g/h`" in done("import", root).talk


# --- long lists ---


@given(st.lists(st.sampled_from(["a/x.json", "b/c/x.json", "b/d/y.csv", "z.log"]), max_size=60), st.integers(1, 40))
def test_a_folded_list_covers_every_file(names, folders):
    root = Path("root")
    paths = dict.fromkeys(root / str(at % folders) / name for at, name in enumerate(names))
    files = [UnreadFile(path=str(path), reason="unknown_format", detail="unknown") for path in paths]
    lines = folded(files, root)
    counts = [int(line.partition("(")[2].partition(" files)")[0]) if " files)" in line else 1 for line in lines]

    assert sum(counts) == len(files)


def test_many_folders_are_folded_by_the_first(tmp_path):
    root = a_run_in(tmp_path / "all")
    for number in range(3 * MOST_LINES):
        put(root / "notes" / str(number) / "a.log", "free text")

    assert "notes/**/*.log (36 files): unknown format" in done("import", root).talk
