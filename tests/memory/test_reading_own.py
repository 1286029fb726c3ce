"""What errata writes, errata reads back: exactly from the comment, and from what is visible where that is gone."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.memory.reading.report import read_report
from errata.memory.report_files import is_about
from errata.memory.words import LabelWords
from errata.model.output.report.run import Advice, FailedCheck, RunFailure, RunReport, RunSubject
from errata.model.output.report.shared import ReviewCoverage
from errata.render.markdown import to_markdown
from errata.report.run_document import run_document
from errata.testing import a_run
from errata.triage import taxonomy

LABELS = LabelWords(label.name for one in taxonomy.built_in() for label in one.label)
OWNERS = {"MODEL_FAULT": "model", "OVERLY_STRICT": "grader", "AMBIGUOUS_TASK": "task", "KNOWN_GAP": "task"}


def a_failure(case="000-fundamentals/002-http_greeting", label="OVERLY_STRICT", **changes):
    checks = (FailedCheck(name="eslint"),)
    result = {"checks": checks, "confidence": "certain", "reviewed": True, "by": "ana", "cause": "lint alone"}
    return RunFailure(case=case, label=label, owner=OWNERS.get(label, "provider"), **result | changes)


def written(*failures, advice=()):
    subject = RunSubject(
        native_id="jn7mqywbwe952an46zjcswtz9r7by5p7",
        run_id="66a3ec6d795a0548",
        source="convex-evals",
        model="acme/nimbus-2-coder",
        provider="openrouter",
        experiment="default",
        date="2026-03-09",
        passed=16,
        total=25,
    )
    read = sum(one.reviewed for one in failures)
    reading = ReviewCoverage(failures=len(failures), read=read, final=read)
    report = RunReport(subject=subject, made="2026-03-10", reading=reading, scores=(), failures=failures, advice=advice)
    return to_markdown(run_document(report))


def read(text):
    return read_report(text, path="reports/acme/nimbus-2-coder/jn7mqywb_2026-03-10.md", labels=LABELS)


def without_comment(text):
    return re.sub(r"<!-- errata:memory .*? -->", "", text)


def test_the_run_is_read_back():
    found = read(written(a_failure()))

    assert (found.own, found.run, found.model) == (True, "jn7mqywbwe952an46zjcswtz9r7by5p7", "acme/nimbus-2-coder")
    assert (found.date, found.experiment, found.passed, found.total) == ("2026-03-09", "default", 16, 25)


def test_failures_and_recommendations_are_read_back():
    advice = Advice(group="config", text="let the lint configuration reach the eval", cases=("a/001-b",))

    found = read(
        written(
            a_failure(),
            a_failure("a/001-b", "MODEL_FAULT", checks=(FailedCheck(name="tests", share=0.67),)),
            advice=(advice,),
        )
    )

    assert [(one.case, one.label, one.failed_check, one.reasoning) for one in found.failures] == [
        ("000-fundamentals/002-http_greeting", "OVERLY_STRICT", "eslint", "lint alone"),
        ("a/001-b", "MODEL_FAULT", "tests", "lint alone"),
    ]
    assert [(one.group, one.text, one.cases) for one in found.recommendations] == [
        ("config", "let the lint configuration reach the eval", ("a/001-b",))
    ]


def test_where_the_comment_was_deleted_the_same_is_read_from_what_is_visible():
    text = written(a_failure(), a_failure("a/001-b", "MODEL_FAULT"), a_failure("c/002-d", "", machinery=True))

    exact, visible = read(text), read(without_comment(text))

    assert (exact.own, visible.own) == (True, False)
    assert (visible.run, visible.model, visible.passed, visible.total) == (
        exact.run,
        exact.model,
        exact.passed,
        exact.total,
    )
    assert [(one.case, one.label) for one in visible.failures] == [(one.case, one.label) for one in exact.failures]


@pytest.mark.parametrize("name", ["run-a", "run-b", "run-b-reviewed"])
def test_a_report_is_read_back_as_it_was_written(fixtures, name):
    (path,) = (path for path in (fixtures / "golden" / name).rglob("*.md") if "details" not in path.name)
    text = path.read_text(encoding="utf-8")
    written = json.loads(text.partition("<!-- errata:memory ")[2].partition(" -->")[0])

    exact, visible = read(text), read(without_comment(text))

    assert [(one.case, one.label, one.failed_check) for one in exact.failures] == [
        (one["case"], one["label"], one["failed_check"]) for one in written["failures"]
    ]
    assert {(one.case, one.label) for one in visible.failures} == {(one.case, one.label) for one in exact.failures}
    assert (visible.run, visible.model, visible.date) == (exact.run, exact.model, exact.date)
    assert (visible.passed, visible.total, visible.actions) == (exact.passed, exact.total, ())


def test_a_label_that_a_person_has_corrected_holds():
    text = written(a_failure()).replace("OVERLY_STRICT", "KNOWN_GAP", 2)

    (found,) = read(text).failures

    assert found.label == "KNOWN_GAP"


def test_actions_are_read_where_people_write_them():
    text = written(a_failure()).replace(
        "## Actions taken\n\nNone", "## Actions taken\n\n1. 2026-03-11: `a.mjs` allows it (addresses 002-http_greeting)"
    )

    assert [(one.date, one.path) for one in read(text).actions] == [("2026-03-11", "a.mjs")]


def test_a_gap_that_only_rules_have_named_is_no_record_of_one():
    by_rule = a_failure("a/001-b", "KNOWN_GAP", reviewed=False)
    by_reader = a_failure("c/002-d", "KNOWN_GAP", reviewed=True)

    found = read(written(by_rule, by_reader))

    assert found.gaps == ("c/002-d",)
    assert [one.by_rule for one in found.failures] == [True, False]


@pytest.mark.parametrize(
    "damaged",
    ["<!-- errata:memory {", "<!-- errata:memory [] -->", '<!-- errata:memory {"format":99,"run":"x"} -->'],
)
def test_a_damaged_comment_or_one_of_a_newer_errata_is_passed_over(damaged):
    text = without_comment(written(a_failure())) + f"\n\n{damaged}\n"

    found = read(text)

    assert (found.own, [one.label for one in found.failures]) == (False, ["OVERLY_STRICT"])


@pytest.mark.trap(23)
def test_a_comment_that_is_quoted_as_code_is_none():
    planted = (
        '```\n<!-- errata:memory {"format":1,"run":"evil","failures":[{"case":"a/b","label":"KNOWN_GAP"}]} -->\n```'
    )

    found = read(without_comment(written(a_failure())) + f"\n\n{planted}\n")

    assert (found.own, found.gaps) == (False, ())


@given(
    case=st.text("abcxyz019-_/.:|*`<>[]()#&\\\"'~!{}äß→ ", min_size=1, max_size=60).filter(str.strip),
    short=st.text(max_size=200),
    label=st.sampled_from(sorted(OWNERS)),
)
def test_whatever_a_case_is_called_it_is_read_back(case, short, label):
    failure = a_failure(case, label, cause=short)

    (found,) = read(written(failure)).failures

    assert found.label == label
    assert (found.case, found.failed_check) == (case, "eslint")


def test_a_report_is_about_its_own_run_and_no_other_with_the_same_id_of_the_harness():
    found = read(written(a_failure()))
    own = a_run(native_id="jn7mqywbwe952an46zjcswtz9r7by5p7", id="66a3ec6d795a0548")
    other = a_run(native_id="jn7mqywbwe952an46zjcswtz9r7by5p7", id="0123456789abcdef")

    assert is_about(found, own)
    assert not is_about(found, other)
