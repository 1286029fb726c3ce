"""Earlier reports on the pages: what `analyze`, `failures`, `show` and packets say of the time before a run."""

import re
import shutil

import pytest
from inline_snapshot import snapshot

from bucket_runs import a_verdict
from errata.store.database import open_store
from errata.store.reviews import keep_verdicts
from errata.store.runs import all_runs
from terminal import FIXTURES, done, errata, import_fixtures

RUN_A, RUN_B = "runs/run-a", "runs/run-b"
REPORTS = FIXTURES.parent / "memory" / "convex" / "reports"


@pytest.fixture(autouse=True)
def runs(at_home):
    """Copies: around the fixtures themselves lies a repository, in which somebody may keep reports."""
    for name in "ab":
        shutil.copytree(
            FIXTURES / "convex_evals" / f"run_{name}" / "data" / f"run-{name}", at_home / f"runs/run-{name}"
        )


@pytest.fixture
def reports(at_home):
    shutil.copytree(REPORTS, at_home / "reports")
    return at_home / "reports"


def page(text, *words):
    """The lines that begin so, and what goes on below them."""
    found, inside = [], False
    for line in text.splitlines():
        inside = line.startswith(words) or (inside and line.startswith(" "))
        found += [line] if inside else []
    return "\n".join(found)


@pytest.mark.req("C-03")
def test_the_talk_of_an_analysis_tells_which_reports_there_are(reports):
    result = done("analyze", RUN_B)

    assert "history   2 earlier reports on acme/nimbus-2-coder (in reports)\n" in result.err


def test_known_list_shows_gaps_that_only_reports_record(reports):
    done("import", RUN_B)

    page = done("known", "list").out

    assert page.startswith("id        case and reason\n–         002-queries/006-pagination_shape · convex-evals\n")
    assert "in reports/acme/nimbus-2-coder/jn71a14a_2026-02-20.md:41" in " ".join(page.split())
    assert done("known", "list", "--suite", "other").out == ""


@pytest.mark.req("C-05", "C-20")
def test_an_analysis_tells_what_repeats_and_what_became_of_actions(reports):
    result = done("analyze", RUN_B)

    assert page(result.out, "Repeats", "Actions") == snapshot("""\
Repeats  4 of 9 are also in an earlier report
Actions  eslint.config.mjs, 2026-03-04   NO EFFECT  000-fundamentals/002-http_greeting fails again
         TASK.txt, 2026-03-05            worked     003-mutations/002-cascade_remove passes now\
""")
    assert "task            1   ████   known gap in 2 earlier reports" in result.out


@pytest.mark.req("C-04")
def test_earlier_runs_of_the_model_are_told_beside_the_reports(reports):
    import_fixtures(RUN_A)

    result = done("analyze", RUN_B)

    assert (
        page(result.out, "Repeats")
        == "Repeats  4 of 9 are also in an earlier report, 4 also failed in an earlier run of the model"
    )


@pytest.mark.req("C-04")
def test_a_report_by_errata_about_a_stored_run_counts_as_that_run_alone(reports, at_home):
    done("report", RUN_A, "--date", "2026-03-05")

    result = done("analyze", RUN_B)

    assert "history   3 earlier reports" in result.err
    assert page(result.out, "Repeats").endswith("4 also failed in an earlier run of the model")
    text = next((at_home / "reports" / "acme" / "nimbus-2-coder").glob("jn7mqywb_*.md")).read_text()
    seen = [line.split(" | ")[4] for line in text.splitlines() if line.startswith("| [001-data_modeling/003")]
    assert seen == ["2 reports, 1 run"]
    assert "yes, MODEL_FAULT on 2026-02-12, MODEL_FAULT on 2026-02-20, MODEL_FAULT on 2026-03-02." in text
    assert "(again, after 2 reports and 1 run)" in text
    (row,) = [row for row in done("failures", RUN_B, "--json").rows if row["case"].endswith("003-optional_index")]
    assert len(row["before"]["reports"]) == 2


def test_what_a_reader_wrote_into_a_report_by_errata_is_still_known(reports, at_home):
    done("report", RUN_A, "--date", "2026-03-05")
    own = next((at_home / "reports" / "acme" / "nimbus-2-coder").glob("jn709tmj_*.md"))
    shown, opens, kept = own.read_text().partition("<!-- errata:memory")
    own.write_text(f"{shown.replace('MODEL_FAULT', 'AMBIGUOUS_TASK')}{opens}{kept}")

    (row,) = [row for row in done("failures", RUN_B, "--json").rows if row["case"].endswith("003-optional_index")]

    assert next(one["label"] for one in row["before"]["reports"]) == "AMBIGUOUS_TASK"


def test_a_file_that_can_not_be_read_is_named(reports):
    (reports / "broken.md").write_bytes(b"# \xff\xff")

    result = done("analyze", RUN_B)

    assert "skipped: reports/broken.md: no UTF-8 at byte 2" in result.err


@pytest.mark.req("C-04")
def test_the_list_of_failures_says_how_many_reports_name_each(reports):
    import_fixtures(RUN_B)

    result = done("failures", "jn7mqywb")

    # a case whose name leaves no room has its row below it
    page = re.sub(r"(?m)^(\d\S+)\n", r"\1 ", result.out)
    rows = [line.split() for line in page.splitlines() if line[:3].isdigit()]
    assert {row[0].rpartition("/")[2]: row[-1] for row in rows} == {
        "002-http_greeting": "(fixed?)",
        "000-user_table": "0",
        "003-optional_index": "2",
        "001-text_lookup": "0",
        "006-pagination_shape": "2",
        "005-batch_insert": "0",
        "003-rate_limit_guard": "1",
        "003-shared_validator": "0",
        "004-pick_primitive": "0",
    }
    legend = "before = earlier reports that name the case; fixed?: an earlier fix should have removed it"
    assert f"\n{legend}\n" in result.out


@pytest.mark.req("C-05")
def test_each_failure_as_json_tells_whether_it_should_be_gone(reports):
    import_fixtures(RUN_A, RUN_B)

    row = done("failures", "jn7mqywb", "--case", "002-http_greeting", "--json").row["before"]

    assert (row["is_repeat"], row["should_be_gone"]) == (True, True)
    assert [(one["date"], one["label"]) for one in row["reports"]] == [("2026-02-20", "OVERLY_STRICT")]
    assert [one["run"][:8] for one in row["runs"]] == ["jn709tmj"]
    assert [(one["path"], one["worked"]) for one in row["actions"]] == [("eslint.config.mjs", "no")]


@pytest.mark.req("C-05")
@pytest.mark.parametrize(
    ("case", "told"),
    [
        (
            "004-actions/003-rate_limit_guard",
            snapshot("""\
History  2026-02-12 MODEL_FAULT "Fourth call not refused"
         (reports/nimbus-2-coder_jn7vec_2026-02-12.md:14) · no action recorded\
"""),
        ),
        (
            "000-fundamentals/002-http_greeting",
            snapshot("""\
History  2026-02-20 OVERLY_STRICT "The handler leaves the ctx parameter unused. All tests pass. The
         rule should allow unused arguments."
         (reports/acme/nimbus-2-coder/jn71a14a_2026-02-20.md:23)
         eslint.config.mjs, 2026-03-04: should have resolved it\
"""),
        ),
        ("005-idioms/004-pick_primitive", ""),
    ],
)
def test_a_failure_is_shown_with_what_was_known_of_it(reports, case, told):
    import_fixtures(RUN_B)

    assert page(done("show", f"jn7mqywb/{case}").out, "History") == told


@pytest.mark.req("A-10")
def test_other_models_that_fail_the_same_way_are_shown(library):
    result = done("show", "3a4b5c6d/turn-11", "--store", library)

    assert "Others   2 other models fail this case (in 3 earlier runs): voice-beta, voice-alpha" in result.out


@pytest.mark.req("A-10")
def test_the_same_error_with_other_models_is_shown(tmp_path):
    (tmp_path / "rows.jsonl").write_text(
        "".join(
            f'{{"model": "{model}", "case": "{case}", "exception": "ParserCrash: no such token"}}\n'
            for model, case in (("acme/one", "alpha"), ("acme/two", "beta"), ("acme/two", "gamma"))
        )
    )
    (tmp_path / "rows.jsonl.map.toml").write_text(
        'suite = "s"\n[run]\nname = "n"\nmodel = { column = "model" }\n[case]\nname = "case"\n'
        '[attempt]\nerror = "exception"\n'
    )
    done("import", "rows.jsonl")
    one = next(row for row in done("runs", "--json").rows if row["model"] == "acme/one")

    result = done("show", f"{one['run_id']}/alpha")

    assert "Others   the same error elsewhere: acme/two 2×" in result.out


@pytest.mark.req("C-03")
def test_a_folder_of_reports_can_be_named(at_home):
    result = done("analyze", RUN_B, "--reports", REPORTS, "--no-report")

    assert "Repeats  4 of 9 are also in an earlier report" in result.out


@pytest.mark.parametrize(
    "command", [["analyze", RUN_B], ["failures", RUN_B], ["show", "latest"], ["review", "next", RUN_B]]
)
def test_a_folder_that_is_not_there_is_told(command):
    import_fixtures(RUN_B)

    result = errata(*command, "--reports", "nowhere")

    assert (result.code, "No such folder: `nowhere`" in result.err) == (2, True)


@pytest.mark.req("C-04")
def test_a_packet_tells_what_earlier_reports_say_of_the_case(reports):
    import_fixtures(RUN_B)

    row = done("show", "jn7mqywb/004-actions/003-rate_limit_guard", "--packet").row

    assert row["history"][0] == {
        "report": "reports/nimbus-2-coder_jn7vec_2026-02-12.md",
        "line": 14,
        "date": "2026-02-12",
        "label": "MODEL_FAULT",
        "text": "Fourth call not refused",
        "action": None,
    }


def test_a_packet_tells_of_a_gap_that_was_recorded():
    import_fixtures(RUN_B)
    done("known", "add", "005-idioms/003-shared_validator", "--text", "the module is never checked")

    row = done("show", "jn7mqywb/005-idioms/003-shared_validator", "--packet").row

    assert row["history"][0]["known_gap"] == "the module is never checked"
    assert row["signals"][0]["name"] == "known_gap"


@pytest.mark.trap(20)
def test_a_secret_in_a_report_is_not_shown(reports):
    (reports / "old.md").write_text(
        "# Run jn7secret9\n\nModel: acme/nimbus-2-coder\nDate: 2026-02-01\n\n"
        "- `005-idioms/004-pick_primitive`: MODEL_FAULT, api_key=sk-proj-abcdefghijklmnopqrstuvwxyz123456\n"
    )
    import_fixtures(RUN_B)

    for command in (["show", "jn7mqywb/005-idioms/004-pick_primitive"], ["failures", "jn7mqywb", "--json"]):
        result = done(*command)
        assert "jn7secret9" in result.out or "2026-02-01" in result.out
        assert "sk-proj-abcdef" not in result.out


def signals_on(case, run="jn7mqywb"):
    rows = done("failures", run, "--json").rows
    return [signal["name"] for row in rows if row["case"].endswith(case) for signal in row["signals"]]


@pytest.mark.req("B-46")
def test_a_known_gap_of_a_report_yields_to_a_later_verdict(reports, at_home):
    """The report of 20 February calls it a gap; in March somebody found that it is the model's."""
    import_fixtures(RUN_A, RUN_B)
    assert "known_gap" in signals_on("006-pagination_shape")

    store = open_store(at_home / ".errata" / "errata.db")
    run_a = next(one for one in all_runs(store) if one.run.native_id.startswith("jn709tmj"))
    keep_verdicts(store, [a_verdict(run_a, "002-queries/006-pagination_shape", label="MODEL_FAULT", owner="model")])

    assert "known_gap" not in signals_on("006-pagination_shape")


@pytest.mark.req("C-04")
def test_one_statement_labels_every_failure_of_a_run_that_the_store_has(at_home):
    import_fixtures(RUN_A, RUN_B)
    (at_home / "reports").mkdir()
    (at_home / "reports" / "jn709tmj_2026-03-05.md").write_text(
        "# Run analysis\n\n- Run ID: `jn709tmj`\n- Model: acme/nimbus-2-coder\n\n## Failures\n\n"
        "- `002-http_greeting` (eslint): OVERLY_STRICT\n\nAll other failures are MODEL_FAULT.\n"
    )

    rows = done("failures", RUN_B, "--json").rows

    labels = {row["case"].rpartition("/")[2]: [one["label"] for one in row["before"]["reports"]] for row in rows}
    assert labels["003-optional_index"] == ["MODEL_FAULT"]
    assert labels["002-http_greeting"] == ["OVERLY_STRICT"]
    assert labels["000-user_table"] == []
