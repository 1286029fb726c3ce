"""`errata action`: what was done about failures, in the store and in the report, and whether it worked."""

import shlex
import shutil
from pathlib import Path

import pytest

from errata.store.database import open_store
from errata.store.schema import bucket_members, buckets
from terminal import FIXTURES, done, errata, import_fixtures

REPORTS = FIXTURES.parent / "actions" / "reports"
REPORT = Path("reports/acme/nimbus-2-coder/jn71a14a_2026-02-20.md")
OLDER = Path("reports/nimbus-2-coder_jn7vec_2026-02-12.md")
LINT = (
    "--what",
    "allows unused arguments",
    "--path",
    "eslint.config.mjs",
    "--for",
    "000-fundamentals/002-http_greeting",
)
TASK = ("--what", "asks for the error", "--path", "evals/TASK.txt", "--for", "003-mutations/002-cascade_remove")
ON = ("--date", "2026-03-04")


@pytest.fixture(autouse=True)
def project(own_two_runs):
    """A store with run A of 2026-03-02 and run B of 2026-03-09, and two reports of earlier runs."""
    shutil.copytree(REPORTS, "reports")


def add(*words):
    return done("action", "add", *words)


def kept():
    """The actions of the store; the list has those of the reports, too."""
    return [row for row in done("action", "list", "--json").rows if row["kept"]]


def worked():
    """Path → whether it worked, why, and each case with its reason."""
    return {row["action"]["path"]: (row["worked"], row["why"], *by_case(row)) for row in kept()}


def by_case(row):
    return [(one["case"], one["reason"]) for one in row["case_effects"]]


@pytest.mark.req("C-32", "A-08")
def test_an_action_goes_into_the_store_and_into_the_report():
    before = OLDER.read_text()

    result = add(*LINT, *ON, "--report", OLDER)

    line = "1. 2026-03-04: `eslint.config.mjs` allows unused arguments (addresses 000-fundamentals/002-http_greeting)."
    assert OLDER.read_text() == before.replace("None", line)
    assert "store    added · .errata/errata.db" in result.out
    assert f"report   written · {OLDER}:23" in result.out
    assert worked().keys() == {"eslint.config.mjs"}


@pytest.mark.req("C-32")
@pytest.mark.parametrize("notes", [(), ("--author", "ben"), ("--expected", "it passes"), ("--author", "ben (QA)")])
def test_an_action_of_the_store_and_its_line_in_the_report_are_listed_as_one(notes):
    add(*LINT, *ON, *notes, "--report", OLDER)

    rows = done("action", "list", "--json").rows
    assert [row["kept"] for row in rows if row["action"]["what"].startswith("allows unused")] == [True]


@pytest.mark.req("A-08")
@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("eslint.config.mjs", "ignores unused arguments"),
        ("evals/002-queries/001-text_lookup/grader.test.ts", "compares without regard to order"),
        ("evals/002-queries/001-text_lookup/TASK.txt", "says newest first"),
    ],
)
def test_lint_grader_and_task_changes_are_actions(path, what):
    add("--what", what, "--path", path, "--for", "001-text_lookup", "--report", REPORT, *ON)

    assert f"3. 2026-03-04: `{path}` {what} (addresses 002-queries/001-text_lookup)." in REPORT.read_text()


@pytest.mark.req("C-29")
def test_a_report_without_actions_says_none_until_there_is_one():
    assert "## Actions taken\n\nNone\n" in OLDER.read_text()
    add(*LINT, *ON, "--report", OLDER)
    assert "None" not in OLDER.read_text()
    done("action", "rm", kept()[0]["action"]["id"], "--report")
    assert OLDER.read_bytes() == (REPORTS / OLDER.name).read_bytes()


@pytest.mark.req("C-32")
def test_told_twice_an_action_is_kept_once():
    add(*LINT, *ON, "--report", OLDER)
    once = OLDER.read_bytes()

    result = add(*LINT, *ON, "--report", OLDER)

    assert OLDER.read_bytes() == once
    assert "store    already there" in result.out
    assert "report   already there" in result.out
    assert len(kept()) == 1


def test_the_report_of_the_run_is_found():
    name = Path("reports/acme/nimbus-2-coder/jn7mqywb_2026-03-09.md")
    name.write_text("# Run\n\n## Net impact\n\nx\n")

    result = add(*LINT, "--run", "jn7mqywb", "--date", "2026-03-10")

    assert f"report   written · {name}:5" in result.out
    assert name.read_text().startswith("# Run\n\n## Actions taken\n\n1. 2026-03-10: `eslint.config.mjs` allows")
    assert "`eslint.config.mjs` allows" not in REPORT.read_text()


def test_the_newest_run_that_failed_so_before_is_meant():
    row = add(*LINT, *ON, "--json").row

    assert row["run"].startswith("jn709tmj")  # run B came after the action
    assert (row["written"], row["report"]) == ("no report", None)


def test_a_run_that_failed_through_its_machinery_failed_all_the_same():
    """004-actions/005-fetch_with_retry could not be installed in run A: owner environment, nothing was measured."""
    row = add(
        "--what", "pins", "--path", "package.json", "--for", "004-actions/005-fetch_with_retry", *ON, "--json"
    ).row

    assert row["run"].startswith("jn709tmj")


def test_a_dry_run_writes_nothing():
    before = OLDER.read_bytes()

    result = add(*LINT, *ON, "--report", OLDER, "--dry-run")

    assert "store    would be added" in result.out
    assert f"report   would be written · {OLDER}:23\n         1. 2026-03-04: `eslint.config.mjs`" in result.out
    assert "nothing was written" in result.out
    assert OLDER.read_bytes() == before
    assert kept() == []


@pytest.mark.req("C-05")
def test_the_next_run_says_whether_an_action_worked():
    add(*LINT, "--date", "2026-03-04")
    add(*TASK, "--date", "2026-03-05")

    assert worked() == {
        "eslint.config.mjs": ("no", "cases", ("000-fundamentals/002-http_greeting", "fails_again")),
        "evals/TASK.txt": ("yes", "cases", ("003-mutations/002-cascade_remove", "passes_now")),
    }


def test_an_action_since_the_last_run_is_unknown():
    add(*LINT, "--date", "2026-03-10")

    assert worked() == {"eslint.config.mjs": ("unknown", "made_after_run")}


def test_an_excluded_run_shows_nothing():
    done("exclude", "jn7mqywb", "--reason", "wrong key")
    add(*TASK, "--date", "2026-03-05")

    assert worked() == {"evals/TASK.txt": ("unknown", "made_after_run")}


def test_a_failure_of_the_network_is_no_failure_again():
    """003-mutations/005-batch_insert passed in run A, and could not be installed in run B."""
    add("--what", "pins the version", "--path", "package.json", "--for", "005-batch_insert", *ON)

    assert worked() == {"package.json": ("unknown", "cases", ("003-mutations/005-batch_insert", "not_measured"))}


@pytest.mark.req("C-04")
def test_what_people_wrote_into_reports_is_listed_too():
    rows = done("action", "list", "--json").rows

    assert [(row["action"]["date"], row["action"]["path"], row["worked"], row["kept"]) for row in rows] == [
        ("2026-03-04", "eslint.config.mjs", "no", False),
        ("2026-03-05", "evals/003-mutations/002-cascade_remove/TASK.txt", "yes", False),
    ]
    assert f"in {REPORT}:62" in " ".join(done("action", "list").out.split())


def test_a_report_tells_of_a_failure_before_the_action_where_the_store_does_not():
    done("rm", "jn709tmj", "--yes")

    assert [row["worked"] for row in done("action", "list", "--json").rows] == ["no", "yes"]


def test_reports_are_read_with_the_suite_they_are_about():
    import_fixtures(FIXTURES / "harbor/demo-job/data")

    assert [row["worked"] for row in done("action", "list", "--json").rows] == ["no", "yes"]


def test_an_empty_list_says_what_to_do():
    shutil.rmtree("reports")

    result = done("action", "list")

    assert result.out == ""
    assert "record one with `errata action add`" in result.err


def test_a_bucket_can_be_addressed():
    store = open_store(Path(".errata/errata.db"))
    case = "convex-evals/000-fundamentals/002-http_greeting"
    row = {"id": "b1", "suite": "convex-evals", "slug": "unused-arguments", "status": "provisional", "gone": False}
    member = {"run_id": "0" * 16, "attempt_id": f"{'0' * 16}:{case}#1", "bucket": "b1", "role": "assigned"}
    needed = {column.name: "" for column in bucket_members.columns} | {"follows": False}
    with store.writing() as connection:
        connection.execute(buckets.insert().values(**row, record=b""))
        connection.execute(bucket_members.insert().values(**needed | member))
    add(*LINT[:4], "--for", "unused-arguments", *ON, "--report", OLDER)

    assert "(addresses unused-arguments)." in OLDER.read_text()
    assert worked() == {"eslint.config.mjs": ("no", "cases", ("000-fundamentals/002-http_greeting", "fails_again"))}


def test_forgetting_an_action_tells_how_to_bring_it_back():
    add(*LINT, *ON, "--report", OLDER, "--author", "ana", "--expected", "it's fine; $HOME")
    first = kept()[0]
    with_it = OLDER.read_bytes()

    row = done("action", "rm", first["action"]["id"], "--report", "--json").row
    assert kept() == []
    assert OLDER.read_bytes() != with_it
    done(*shlex.split(row["undo"])[1:])

    assert OLDER.read_bytes() == with_it
    assert kept()[0] == first


def test_forgetting_leaves_the_report_alone_unless_it_is_asked_to():
    add(*LINT, *ON, "--report", OLDER)
    before = OLDER.read_bytes()

    result = done("action", "rm", kept()[0]["action"]["id"])

    assert OLDER.read_bytes() == before
    assert f"still in {OLDER}" in result.out


def test_a_line_that_was_changed_by_hand_is_not_taken_out():
    add(*LINT, *ON, "--report", OLDER)
    OLDER.write_text(OLDER.read_text().replace("allows unused", "at last allows unused"))

    result = errata("action", "rm", kept()[0]["action"]["id"], "--report")

    assert result.code == 2
    assert "no longer has its line as errata wrote it" in result.talk
    assert kept()


def test_secrets_and_controls_stay_out_of_store_and_report():
    secret = "ghp_" + "a1B2" * 9
    add("--what", f"uses {secret} \x1b[31m\u202e now\nand more", "--path", "x.ts", "--for", "001-text_lookup",
        "--report", OLDER, *ON)  # fmt: skip

    assert secret not in OLDER.read_text()
    assert "`x.ts` uses [redacted:github-token] now and more (addresses" in OLDER.read_text()
    assert secret not in done("action", "list", "--json").out
    assert secret.encode() not in Path(".errata/errata.db").read_bytes()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((*LINT[:4], "--for", "002-http_greting"), "did you mean `002-http_greeting`?"),
        ((*LINT[:4], "--for", "jn7mqywb/nowhere"), "No case is named `jn7mqywb/nowhere`"),
        ((*LINT, "--date", "last week"), "`last week` is not a date"),
        ((*LINT, "--date", "2226-03-04"), "`2226-03-04` is in the future"),
        ((*LINT, "--report", "nowhere.md"), "No such report: `nowhere.md`"),
        ((*LINT, "--run", "nowhere"), "No run matches `nowhere`"),
        (("--what", " \n", *LINT[2:]), "`--what` is empty"),
        (("--what", "x", "--path", "y"), "Missing option '--for'"),
        ((*LINT, "--reports", "nowhere"), "No such folder: `nowhere`"),
    ],
)
def test_what_can_not_be_meant_is_refused(words, told):
    result = errata("action", "add", *words)

    assert result.code == 2
    assert told in result.talk
    assert kept() == []


def test_a_report_that_can_not_be_edited_leaves_the_store_as_it_was():
    OLDER.chmod(0o444)

    assert errata("action", "add", *LINT, *ON, "--report", OLDER).code == 2
    assert kept() == []
