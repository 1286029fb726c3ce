"""Any case and any label, laid out in any of the ways in which people write reports, are found back."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from errata.memory.reading.report import read_report
from errata.memory.reading.sections import topic_of as about
from errata.memory.spelling import CaseSpellings
from errata.memory.words import LabelWords
from errata.triage import taxonomy

LABELS = LabelWords(label.name for one in taxonomy.built_in() for label in one.label)
FOUR = ("MODEL_FAULT", "OVERLY_STRICT", "AMBIGUOUS_TASK", "KNOWN_GAP")
SPELLINGS = (
    str,
    str.lower,
    lambda label: label.replace("_", " "),
    lambda label: label.replace("_", " ").lower(),
    lambda label: label.replace("_", " ").capitalize(),
    lambda label: label.replace("_", "-").lower(),
    lambda label: label.title().replace("_", ""),
    lambda label: f"**{label}**",
    lambda label: f"`{label}`",
    lambda label: f"*{label.replace('_', ' ').title()}*",
    lambda label: f"“{label.replace('_', ' ').lower()}”",
)
LAYOUTS = {
    "heading and fields": "## Failures\n\n### {case}\n\n- **Failed step**: tests\n- **Classification**: {label}\n",
    "heading with a dash": "### {case} — {label}\n\nIt sorts the wrong way round.\n",
    "heading with brackets": "### {case} ({label})\n\nIt sorts the wrong way round.\n",
    "numbered heading": "#### 3. {case}: {label}\n",
    "heading with a mark": "### ❌ {case}\n\nClassification: {label}\n",
    "table": "| Eval | Failed step | Classification | Why |\n|-|-|-|-|\n| {case} | tests | {label} | order |\n",
    "table, other words": "Label | Why | Case\n--- | --- | ---\n{label} | order | {case}\n",
    "table by label": "| Classification | Count | Evals |\n|---|---|---|\n| {label} | 1 | {case} |\n",
    "table of everything": "| Eval | Result | Label |\n|-|-|-|\n| z/0-o | passed | |\n| {case} | failed | {label} |\n",
    "table of fields": "### {case}\n\n| Field | Value |\n|-|-|\n| Classification | {label} |\n| Step | tests |\n",
    "bullet": "- {case}: {label}, it sorts the wrong way round\n",
    "bullet in bold": "* **{case}** – {label}. It sorts the wrong way round.\n",
    "bullet in code": "- `{case}` (tests): {label}\n",
    "checkbox": "- [ ] {case} — {label}\n",
    "nested bullets": "- {case}\n  - Step: tests\n  - Label: {label}\n  - Why: order\n",
    "numbered list": "1. {case}\n   Classification: {label}\n",
    "grouped by heading": "## {label}\n\n- {case}: it sorts the wrong way round\n",
    "grouped by bold words": "**{bare}**\n\n- `{case}`\n",
    "grouped in a line": "- {label}: `{case}`\n",
    "lines": "Eval: {case}\nStep: tests\nClassification: {label}\n",
    "fields in one line": "**Eval**: {case} · **Step**: tests · **Classification**: {label}\n",
    "bold paragraph": "**{case}** — {label}\n\nIt sorts the wrong way round.\n",
    "folded up": "<details>\n<summary>{case} — {bare}</summary>\n\nIt sorts.\n\n</details>\n",
    "underlined": "{case}\n----------\n\nVerdict: {label}\n",
    "quotation": "> ### {case}\n>\n> - Classification: {label}\n",
    "a spreadsheet": "| | A | B |\n|-|-|-|\n| 1 | eval | label |\n| 2 | {case} | {label} |\n",
    "linked": "### [{case}](https://evals.example/e/1)\n\n- Classification: {label}\n",
}
SENTENCES = {
    "a sentence": "The eval {case} is a clear {label} in my view.\n",
    "two sentences": "Then there is {case}. I would call this one {label}.\n",
    "a sentence in code": "We looked at `{case}` and it is {label}, no doubt.\n",
}

part = st.from_regex(r"[0-9]{3}-[a-z]{3,9}(_[a-z]{2,8}){0,2}", fullmatch=True)
paths = st.builds("/".join, st.lists(part, min_size=1, max_size=3))
words = st.from_regex(r"[a-z]{3,9}(-[a-z]{3,9}){1,3}", fullmatch=True)
labels = st.sampled_from(FOUR)
spellings = st.sampled_from(SPELLINGS)


def failures_in(text, *known):
    found = read_report(text, path="r.md", labels=LABELS, cases=CaseSpellings(known))
    return [(one.case, one.label) for one in found.failures]


def laid_out(layout, case, label, spelling):
    bare = label.replace("_", " ").lower()
    return layout.format(case=case, label=spelling(label), bare=bare)


@pytest.mark.req("C-04", "A-06")
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@given(case=paths, label=labels, spelling=spellings)
@example(case="003-rate_limit_guard", label="MODEL_FAULT", spelling=str)
def test_a_case_and_its_label_are_found_in_any_layout(layout, case, label, spelling):
    assert failures_in(laid_out(layout, case, label, spelling)) == [(case, label)]


@pytest.mark.parametrize("layout", (LAYOUTS | SENTENCES).values(), ids=LAYOUTS | SENTENCES)
@given(case=words, label=labels, spelling=spellings)
@example(case="pypi-server", label="KNOWN_GAP", spelling=str)
def test_a_name_without_a_number_is_found_where_it_is_known(layout, case, label, spelling):
    assume(not about(case) and not LABELS.find(case))

    assert failures_in(laid_out(layout, case, label, spelling), case) == [(case, label)]


@pytest.mark.parametrize("layout", SENTENCES.values(), ids=SENTENCES)
@given(case=st.builds("/".join, st.lists(part, min_size=2, max_size=3)), label=labels, spelling=spellings)
def test_a_path_and_a_label_are_found_in_a_sentence(layout, case, label, spelling):
    assert failures_in(laid_out(layout, case, label, spelling)) == [(case, label)]


@given(case=paths, label=labels, spelling=spellings, word=st.sampled_from(["not", "rather than", "no", "never"]))
def test_a_label_that_is_denied_is_none(case, label, spelling, word):
    assert failures_in(f"### {case}\n\nThis is {word} {spelling(label)}.\n") == [(case, "")]


@given(case=paths, first=labels, second=labels, spelling=spellings)
def test_a_label_that_was_struck_out_is_none(case, first, second, spelling):
    assert failures_in(f"### {case}\n\n- Classification: ~~{first}~~ {spelling(second)}\n") == [(case, second)]


@given(case=paths, label=labels, heading=st.sampled_from(["Passed", "Fixed since last time", "Previous failures"]))
def test_what_stands_under_other_headings_is_no_failure_of_this_run(case, label, heading):
    assert failures_in(f"# Report\n\n## {heading}\n\n- {case}: {label}\n") == []
