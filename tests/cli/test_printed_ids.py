"""Every case id that a page prints is one of the log's, and `show RUN/ID` finds it."""

import json
import re
import shlex
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.length import LONG

from terminal import FIXTURES, done, errata, import_fixtures

SAMPLES = {
    "convex_evals/run_b/data": r"\d{3}-[a-z]+(?:_[a-z]+)?/[\w-]+…?",
    "conversation_bench/damaged/data": r"turn-\S+",
    "scylla/batch-cascade/data": r"test-\d\S*",
    "swe_bench/pro/data": r"instance_\S+",
    "swe_bench/report/data": r"django__[a-z]+-\S+",
    "promptfoo/export/data": "",
    "inspect_ai/mixed_json/data": "",
    "harbor/demo-job/data": "",
    "tau_bench": "",
}
"""Sample → how its ids look; those of the others can't be told from other words."""
ENDING = ",.:;)'\""


def pages_of(run):
    """What the commands print about one run, by command."""
    for command in (
        ["failures", run],
        ["score", run],
        ["check", run],
        ["buckets", "list", run, "--all"],
        ["rerun", run],
    ):
        yield errata(*command).out
    yield done("analyze", run, "--no-report").out
    for bucket in done("buckets", "list", run, "--all", "--json").rows[:3]:
        yield done("buckets", "show", bucket["slug"]).out


def finds(run, name):
    shown = errata("show", f"{run}/{name}", "--json")
    return shown.code == 0 and shown.row["attempt"]["case"].endswith(re.sub(r"#[\d.]+$", "", name))


@pytest.mark.req("B-79")
@pytest.mark.parametrize(("sample", "pattern"), [(name, look) for name, look in SAMPLES.items() if look])
def test_whatever_looks_like_an_id_on_a_page_is_one(sample, pattern):
    import_fixtures(FIXTURES / sample)
    runs = [row["run_id"] for row in done("runs", "--json").rows][:2]
    printed = {}
    for run in runs:
        for page in pages_of(run):
            printed |= {word.rstrip(ENDING): run for word in re.findall(rf"(?<![\w/.-])(?:{pattern})", page)}
    if len(runs) > 1:
        page = done("compare", *runs, "--common", "--all").out
        printed |= {word.rstrip(ENDING): runs[0] for word in re.findall(rf"(?<![\w/.-])(?:{pattern})", page)}

    assert printed
    assert [name for name, run in printed.items() if not finds(run, name)] == []


@pytest.mark.req("B-79")
@pytest.mark.parametrize("sample", SAMPLES)
def test_every_failure_is_listed_by_its_own_id_and_every_command_on_a_page_works(sample):
    import_fixtures(FIXTURES / sample)
    for run in [row["run_id"] for row in done("runs", "--json").rows if row["counts"]["failures"]][:2]:
        page = done("failures", run).out
        names = {row["case"] for row in done("failures", run, "--json").rows}
        assert [name for name in names if name not in page] == []
        assert [name for name in names if not finds(run, name)] == []
        for command in commands_on(done("analyze", run, "--no-report").out):
            assert errata(*command, "--json").code in (0, 1), command


def commands_on(page):
    """`errata show …` and other commands that only read, joined over the lines that a shell would join."""
    for line in page.replace("\\\n", " ").splitlines():
        words = re.search(r"errata ((?:show|failures|check|rerun|buckets list) .*?)(?:   |$)", line)
        if words:
            yield shlex.split(words[1])


IDS = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Co", "Cn")), min_size=1, max_size=30)
    | st.from_regex(r"[a-z]{1,3}[-_./#:]\d{1,4}", fullmatch=True),
    min_size=1,
    max_size=6,
    unique=True,
)
MAP = 'suite = "odd"\n[run]\nname = { column = "run" }\n[case]\nname = "id"\n[attempt]\npassed = "ok"\n'


@pytest.mark.req("B-79")
@settings(max_examples=30 if LONG else 5)
@example(names=["q-0094", "q-94", "0094"])
@example(names=["a/b", "b", "a#1", "#2", "case 1", "5 %", "漢字" * 30])
@example(names=["\xa0"])
@given(names=IDS)
def test_any_id_can_be_pasted_back(tmp_path_factory, names):
    folder = tmp_path_factory.mktemp("ids")
    rows = [{"run": "nightly", "id": name, "ok": False} for name in names]
    Path(folder, "table.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path(folder, "map.toml").write_text(MAP)
    store = ["--store", folder / "errata.db"]
    done("import", folder / "table.jsonl", "--map", folder / "map.toml", *store)
    page = done("failures", "nightly", *store).out
    for row in done("failures", "nightly", "--json", *store).rows:
        assert row["case"] in page
        shown = done("show", f"nightly/{row['case']}", "--json", *store).row["attempt"]
        assert shown["id"] == row["attempt_id"]
