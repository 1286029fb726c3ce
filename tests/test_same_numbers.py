"""One name, one number: a figure that several commands show under one name has one value in all of them.

A figure that shows up in a new command is one more line in `OF_RUN` or `OF_RUNS`. Figures that differ by definition
have different names; `DIFFERENT_BY_DEFINITION` lists the pairs that are easily confused.
"""

import re
from collections.abc import Iterable

import click
import pytest

from errata.cli.app import app
from errata.runs.first_page import NO_ESTIMATE
from number_commands import (
    TOP,
    Extract,
    added,
    alone,
    alone_since,
    analysis,
    as_shown,
    batch,
    batch_page,
    buckets,
    by_label,
    by_reported_run,
    by_run,
    categories_of_each,
    cause,
    causes_by_rule,
    clean_left_out,
    column,
    compare_report,
    compare_report_output,
    compared,
    compared_page,
    counted,
    edited_on_page,
    empty_answers,
    exported_attempts,
    failed_by_category,
    failed_rows_listed,
    failures,
    flips_in_gate,
    flips_in_report,
    flips_of,
    flips_on_page,
    flips_since,
    found_in,
    gated,
    in_findings,
    in_memory,
    in_page,
    is_batch,
    is_read,
    left_out,
    listed,
    money,
    nobody_passes,
    note_of_reviewed,
    number_in,
    of_labels,
    of_two,
    owner_of,
    owners_of_nobody,
    page_of,
    pairs_alone,
    pairs_of,
    passes_with_and_without_rows,
    policy,
    repeats,
    report,
    report_page,
    row_of_runs,
    score,
    short,
    shown,
    shown_owner,
    since,
    status,
    steady,
    study,
    suspect_list,
    tables_in,
    to_rerun,
    top_causes,
    top_causes_on_page,
    why_no_estimate,
    without_reviews,
    without_zeros,
    written_back,
)
from number_samples import Comparing, RunOf, Sample, build_samples

DIFFERENT_BY_DEFINITION = {
    (
        "failures",
        "failed rows",
    ): "a failure is a counted attempt that was not passed or not measured; a failed row of a "
    "comparison is one in which any check failed, passed or not",
    ("failures", "tests not passed"): "a batch also counts tests that were skipped or never scored",
    ("attempts passed", "cases passed"): "a case counts as passed if all of its attempts are; a repeated case has many",
    ("attempts passed", "passed, strict"): "a policy counts cases; where a case is tried several times, attempts",
    ("attempts passed", "attempts passed, with a row"): "a harness may count passes whose rows are not in its log",
    ("reviewed", "inherited"): "reviewed was read itself; inherited has the verdict of an identical crash",
    ("reviewed", "final"): "final was reviewed and needs no second reader, or has one",
    ("owners", "owners of mistakes"): "a bucket counts the owners of its mistakes, without those that only follow",
    ("owners", "owners by triage"): "owners go by the verdict that stands, else by rules; triage by rules alone",
    ("fixed and regressed", "fixed and regressed after review"): "a gate goes by the verdict that stands, a comparison "
    "by rules",
    ("left out of clean", "left out of reviewed"): "clean goes by rules, reviewed by verdicts",
    ("left out of clean", "left out of clean, to rerun"): "skipped, unscored and timed out attempts stay as they are",
    ("failed cases by category", "hard cases of a category"): "a test of categories leaves infrastructure out",
    ("failed checks", "first failed checks"): "an attempt has one first failed check, and may have more",
    ("empty answers", "EMPTY_RESPONSE"): "an empty answer is an empty text; the pattern is what a harness or a signal "
    "names in the place of an answer",
    ("failed in every run", "always fail"): "a comparison counts attempts that broke off as failed; a consistency "
    "study counts them as incomplete",
    ("cost", "cost of a rerun"): "the second is an estimate",
    ("cost", "cost of a review"): "the second is what reviewers cost",
    (
        "p of a pair (McNemar)",
        "p of a pair (McNemar), without infrastructure failures",
    ): "what a report says of the previous run leaves infrastructure failures out; a comparison shows both",
    ("fixed", "fixed since the previous run"): "flips of a comparison take in edited cases; what a report says of the "
    "previous run leaves them out",
    (
        "cases that one of a pair fails alone",
        "cases that one of a pair fails alone, among three runs and more",
    ): "the second is over cases whose task is the same in all compared runs, not only in these two",
    ("unstable cases of a model", "unstable cases of a study"): "a comparison means cases that passed in one run and "
    "failed in another, where an attempt that broke off counts as failed; a study means cases whose results are not "
    "all the same, where an attempt that was not measured is a result of its own, and leaves out edited cases",
    ("unstable cases of a model", "flaky"): "a flaky case passed and failed where it was measured; a comparison also "
    "counts an attempt that broke off as failed",
    ("fixed", "only the first fails"): "flips take in edited cases; the pairs of a test leave them out",
}
"""Two names that must not be one, and what each means."""

WITHOUT_FIGURES = {
    "fetch": "saves answers",
    "import": "reads logs; what it counts is in `runs`",
    "map": "drafts a mapping; its counts are of the first rows",
    "triage": "counts rules, not runs",
    "demo": "is `analyze`",
    "sources": "lists formats",
    "taxonomies": "lists labels",
    "doctor": "is about the store",
    "exclude": "marks a run",
    "rm": "forgets a run",
    "trust": "is about settings",
    "review next": "shows one failure",
    "review submit": "takes one verdict",
    "review tasks": "lists suspect tasks; `analyze` and `compare` have the same list",
    "review release": "gives one failure back",
    "review export": "writes packets",
    "review import": "takes verdicts",
    "review run": "asks a model",
    "review calibrate": "needs labels of people",
    "buckets suggest": "changes buckets",
    "buckets merge": "changes buckets",
    "buckets split": "changes buckets",
    "buckets rename": "changes buckets",
    "buckets move": "changes buckets",
    "buckets confirm": "changes buckets",
    "buckets undo": "changes buckets",
    "buckets history": "lists changes",
    "action add": "records one action",
    "action rm": "forgets one action",
    "known add": "records one gap",
    "known rm": "forgets one gap",
    "watch": "imports runs; its summary is made of what `analyze` counts",
    "run": "runs a suite, then shows what `analyze` shows",
    "models list": "lists definitions",
    "models check": "is about definitions",
    "models smoke": "tries two cases and stores nothing",
    "skill install": "writes texts for agents",
    "skill check": "is about installed texts",
    "skill list": "is about installed texts",
    "skill rm": "removes installed texts",
    "mcp": "answers with the records of the commands",
    "serve": "answers with the records of the commands",
    "token create": "names and scopes",
    "token list": "names and scopes",
    "token revoke": "names and scopes",
    "store backup": "copies the store",
    "store restore": "puts a copy in the place of the store",
    "store copy": "copies the store",
    "store size": "counts bytes",
    "store thin": "reduces transcripts; counts steps and bytes",
}
"""Commands that show no figure of a run, and why."""

OF_RUN: dict[str, list[tuple[str, Extract]]] = {
    "failures": [
        ("runs --json", lambda run: listed(run)["counts"]["failures"]),
        ("runs", lambda run: int(row_of_runs(run)["failures"])),
        ("analyze --json", lambda run: analysis(run)["counts"]["failures"]),
        ("analyze, owners", lambda run: number_in(r"Owners ([\d,]+) failures?", page_of(run))),
        ("analyze, reviewed", lambda run: number_in(r"of ([\d,]+) failures? reviewed", page_of(run))),
        ("show RUN --json", lambda run: shown(run)["counts"]["failures"]),
        ("failures --json", lambda run: len(failures(run))),
        ("failures", lambda run: number_in(r"([\d,]+) failures?(?: \([^)]*\))?\s+in\s+[\d,]+ ", run.text("failures"))),
        ("review status --json", lambda run: status(run)["failures"]),
        ("buckets list --json", lambda run: sum(one["rows"] for one in buckets(run))),
        ("report --json, failures", lambda run: len(report(run)["failures"])),
        ("report --json, reading", lambda run: report(run)["reading"]["failures"]),
        ("report --json, steps", lambda run: sum(one["count"] for one in report(run)["steps"])),
        ("report, count of steps", lambda run: in_page(run, lambda page: sum(map(int, column(page, "Count"))))),
        ("report, owners", lambda run: in_page(run, lambda page: len(column(page, "Owner")))),
        ("report, impact", lambda run: in_page(run, lambda page: sum(map(int, column(page, "count"))))),
        ("report, memory", lambda run: in_memory(run, lambda kept: len(kept["failures"]))),
        ("report --profile batch --json, failures", lambda run: len(batch(run)["failures"]) if is_batch(run) else None),
        ("report --profile batch --json, reading",
         lambda run: batch(run)["reading"]["failures"] if is_batch(run) else None),
        ("report --profile batch, answer",
         lambda run: number_in(r"of (\d+) failures? (?:is|are) ", batch_page(run)) if is_batch(run) else None),
        ("issues --json", lambda run: len(batch(run, "issues")["failures"]) if is_batch(run) else None),
        ("writeback --json",
         lambda run: (made := written_back(run)) and len(made["changes"]) + sum(made["left"].values())),
    ],
    "attempts passed": [
        ("runs", lambda run: int(row_of_runs(run)["passed"].replace("–", "0").partition("/")[0])),
        ("runs --json", lambda run: passes_with_and_without_rows(listed(run))),
        ("analyze --json", lambda run: passes_with_and_without_rows(analysis(run))),
    ],
    "attempts passed, with a row": [
        ("runs --json", lambda run: listed(run)["counts"]["outcomes"].get("pass", 0)),
        ("analyze --json", lambda run: analysis(run)["counts"]["outcomes"].get("pass", 0)),
        ("show RUN --json", lambda run: shown(run)["counts"]["outcomes"].get("pass", 0)),
    ],
    "passed": [
        ("analyze --json", lambda run: analysis(run)["passed"]),
        ("score --json, strict", lambda run: score(run)["scores"]["strict"]["passed"]),
        ("report --json", lambda run: report(run)["subject"]["passed"]),
        ("report, pass rate", lambda run: number_in(r"\*\*Pass rate\*\*: ([\d,]+)/", report_page(run))),
        ("report, memory", lambda run: in_memory(run, lambda kept: kept["passed"])),
        ("report --profile batch --json",
         lambda run: sum(one["passed"] for one in batch(run)["tests"]) if is_batch(run) else None),
    ],
    "fit for comparison": [
        ("check --json", lambda run: run.row("check")["fit"]),
        ("check", lambda run: "NOT FIT" not in run.text("check")),
        ("analyze --json", lambda run: analysis(run)["fit"]),
        ("report --json", lambda run: report(run)["fit"]),
        ("report", lambda run: in_page(run, lambda page: "**Checkup**: NOT FIT" not in page)),
    ],
    "why no score is the best estimate": [
        ("analyze", lambda run: why_no_estimate(page_of(run))),
        ("report", lambda run: why_no_estimate(report_page(run))),
        ("report --json", lambda run: (why := report(run)["no_estimate"]) and NO_ESTIMATE[why]
            if why_no_estimate(report_page(run)) else None),
    ],
    "passed, strict": policy("strict", "passed", "total"),
    "passed, clean": policy("clean", "passed", "total"),
    "passed, reviewed": policy("reviewed", "passed", "total", silent=("check", "analyze", "batch", "issues")),
    "reviewed": [
        ("analyze", lambda run: number_in(r"([\d,]+) of [\d,]+ failures? reviewed", page_of(run))),
        ("analyze --json", lambda run: analysis(run).get("reviewed")),
        ("failures --json", lambda run: sum(map(is_read, failures(run)))),
        ("review status --json", lambda run: status(run)["reviewed"]),
        ("score --json, note of reviewed", note_of_reviewed),
        ("buckets list --json", lambda run: sum(one["reviewed"] for one in buckets(run))),
        ("report --json, reading", lambda run: report(run)["reading"]["read"]),
        ("report, status", lambda run: number_in(r"([\d,]+) of [\d,]+ failures? reviewed", report_page(run))),
        ("report --profile batch --json", lambda run: batch(run)["reading"]["read"] if is_batch(run) else None),
    ],
    "judged by rules alone": [
        ("failures --json", lambda run: sum(one["verdict"] is None for one in failures(run)) or None),
        ("report, status", owners_of_nobody),
        ("report --json", lambda run: sum(not one["reviewed"] for one in report(run)["failures"]) or None),
    ],
    "inherited": [
        ("analyze --json", lambda run: analysis(run).get("inherited")),
        ("review status --json", lambda run: status(run)["inherited"]),
        ("failures --json", lambda run: sum(one["verdict"] is not None and not is_read(one) for one in failures(run))),
        ("report --json", lambda run: report(run)["reading"]["inherited"]),
    ],
    "read by two": [
        ("review status --json", lambda run: status(run)["seconded"]),
        ("review agreement --json", lambda run: sum(
            one["agreement"]["attempts"] for one in run.sample.rows("review", "agreement", run.run_id))),
        ("report --json", lambda run: report(run)["reading"]["second"]),
    ],
    "owners": [
        ("analyze --json", lambda run: analysis(run)["owners"]),
        ("failures --json", lambda run: counted(map(owner_of, failures(run)))),
        ("failures --owner --json", lambda run: {
            owner: len(run.rows("failures", options=("--owner", owner))) for owner in map(owner_of, failures(run))}),
        ("buckets list --json, with followers", lambda run: without_zeros(added([
            *(one["owners"] for one in buckets(run)), *({"collateral": one["followers"]} for one in buckets(run))]))),
        ("report --json", lambda run: counted(one["owner"] for one in report(run)["failures"])),
        ("report", lambda run: in_page(run, lambda page: counted(map(shown_owner, column(page, "Owner"))))),
        ("report, memory", lambda run: in_memory(run, lambda kept: counted(one["owner"] for one in kept["failures"]))),
        ("report --profile batch --json",
         lambda run: counted(one["owner"] for one in batch(run)["failures"]) if is_batch(run) else None),
        ("report --profile batch",
         lambda run: counted(
             one for one in column(batch_page(run), "owner") if one and not one.startswith("partial pass"))
         if is_batch(run) else None),
    ],
    "owners by triage": [
        ("review status --json",
         lambda run: without_zeros({one["owner"]: one["triage"] for one in status(run)["owners"]})),
        ("failures --json", lambda run: counted(one["owner"] for one in failures(run))),
    ],
    "owners by verdict": [
        ("review status --json",
         lambda run: without_zeros({one["owner"]: one["verdict"] for one in status(run)["owners"]})),
        ("failures --json", lambda run: counted(one["verdict"]["owner"] for one in failures(run) if one["verdict"])),
    ],
    "left out of clean": [
        ("analyze --json", lambda run: analysis(run)["scores"]["clean"]["left_out"]),
        ("score --json", lambda run: score(run)["scores"]["clean"]["left_out"]),
        ("score --json, groups", lambda run: added(
            {one["why"]: one["count"]} for one in score(run)["scores"]["clean"]["left_out_groups"])),
        ("report --json", lambda run: clean_left_out(report(run)["scores"])),
        ("report", lambda run: in_page(run, lambda page: left_out(next(
            row[4] for header, rows in tables_in(page) if header[0] == "score" for row in rows if row[0] == "clean")))),
        ("report --profile batch --json",
         lambda run: clean_left_out(batch(run)["scores"]) if is_batch(run) else None),
    ],
    "left out of clean, to rerun": [
        ("analyze", lambda run: number_in(r"(?:how to rerun|list(?= \S+ \w+ to rerun)) ([\d,]+) ", page_of(run))),
        ("score --json", to_rerun),
        ("rerun --json", lambda run: run.row("rerun")["attempts"] or None),
        ("rerun", lambda run: number_in(r"Rerun ([\d,]+) of", run.text("rerun"))),
    ],
    "failures named in earlier reports": repeats("in_reports", "reports"),
    "failures in earlier runs": repeats("in_runs", "runs"),
    "should be fixed": repeats("should_be_gone", "should_be_gone"),
    "recurring": [
        ("report", lambda run: number_in(r"\*\*Recurring\*\*: ([\d,]+) of", report_page(run))),
        ("report --json", lambda run: (report(run)["history"] and sum(
            (one["repeat"]["reports"] or one["repeat"]["runs"]) > 0 and not one["repeat"]["otherwise"]
            for one in report(run)["failures"])) or None),
    ],
    "empty answers": [
        ("check --json", lambda run: in_findings(run.row("check")["findings"])),
        ("analyze --json", lambda run: in_findings(analysis(run)["findings"])),
        ("show RUN --json", lambda run: in_findings(shown(run)["findings"])),
        ("check", lambda run: empty_answers([run.text("check")])),
    ],
    "failed checks": [
        ("runs --json", lambda run: listed(run)["counts"]["failed_checks"]),
        ("analyze --json", lambda run: analysis(run)["counts"]["failed_checks"]),
        ("show RUN --json", lambda run: shown(run)["counts"]["failed_checks"]),
    ],
    "failed cases by category": [
        ("analyze --json", lambda run: {
            name: [one["failed"], one["cases"]] for name, one in analysis(run)["categories"].items()
            if one["failed"] and one["cases"]} or None),
        ("analyze", lambda run: failed_by_category(page_of(run))),
        ("report --json", lambda run: {
            one["name"]: [one["failed"], one["cases"]] for one in report(run)["categories"]
            if one["failed"] and one["tried"] is not None} or None),
        ("report", lambda run: {name: list(map(int, found)) for name, *found in re.findall(
            r"(\S+) ([1-9]\d*)/(\d+)", "".join(re.findall(r"\*\*Categories\*\*: .*", report_page(run))))} or None),
    ],
    "first failed checks": [
        ("analyze --json", lambda run: {
            name or "none": count for name, count in analysis(run)["first_failed_checks"].items()}),
        ("failures --json", lambda run: counted((one["failed_checks"] or ["none"])[0] for one in failures(run))),
        ("report --json", lambda run: without_zeros(added(
            {one["step"] if one["kind"] == "check" else "none": one["count"]}
            for one in report(run)["steps"]))),
    ],
    "cost": [
        ("runs --json", lambda run: money(listed(run)["counts"]["cost"])),
        ("analyze --json", lambda run: money(analysis(run)["counts"]["cost"])),
        ("score --json", lambda run: money(score(run)["cost"]["total"])),
        ("report --json", lambda run: money(report(run)["subject"]["cost"])),
        ("report --profile batch --json", lambda run: money(batch(run)["cost"]) if is_batch(run) else None),
    ],
    "failures by bucket, of three and more": [
        ("buckets list --json", lambda run: {
            one["slug"]: one["rows"] for one in buckets(run) if one["rows"] > 2} or None),
        ("failures --json", lambda run: {slug: rows for slug, rows in counted(
            one["bucket"]["slug"] for one in failures(run) if one["bucket"]).items() if rows > 2} or None),
        ("buckets show --json", lambda run: {one["slug"]: sum(
            member["run_id"] == run.run_id for member in run.sample.rows("buckets", "show", one["slug"])[0]["members"])
            for one in buckets(run) if one["rows"] > 2} or None),
    ],
    "shared buckets": [
        ("buckets list --json", lambda run: {one["title"]: one["rows"] for one in buckets(run) if one["rows"] > 1}),
        ("report --json",
         lambda run: {one["title"]: one["rows"] for one in report(run)["patterns"] if one["rows"] > 1}),
    ],
    "sessions": [
        ("sessions --json", lambda run: [
            [one["number"], one["tried"], one["passed"], one["failed"], one["not_measured"], money(one["cost"])]
            for one in run.row("sessions")["sessions"]] if is_batch(run) else None),
        ("report --profile batch --json", lambda run: [
            [one["number"], one["tried"], one["passed"], one["failed"], one["not_measured"], money(one["cost"])]
            for one in batch(run)["sessions"]] if is_batch(run) else None),
    ],
    "actions that worked or not": [
        ("analyze --json", lambda run: {
            one["what"]: one["worked"] for one in analysis(run)["actions"] if one.get("run", run.name) == run.name}),
        ("report --json", lambda run: {
            one["what"]: one["worked"] for one in report(run)["actions"]}),
        ("action list --json", lambda run: {
            one["action"]["what"]: one["worked"] for one in run.sample.rows("action", "list") if one["run"] == run.name}
            or None),
    ],
    "failures with a known gap": [
        ("failures --json", lambda run: sum(one["decided_by"] == "known_gap" for one in failures(run)) or None),
        ("known list --json", lambda run: sum(
            one["case_key"] in {key for gap in run.sample.rows("known", "list") for key in gap["cases"]}
            for one in failures(run)) or None),
    ],
    "tasks that nobody passes": [
        ("analyze --json", lambda run: analysis(run)["suspects"]["failed_by_all"]),
        ("analyze --json, cases", lambda run: len(analysis(run)["suspects"]["passed_by_nobody"])),
        ("review tasks --json", lambda run: suspect_list(run)["failed_by_all"]),
        ("review tasks", lambda run: nobody_passes(run.text("review", "tasks"))),
        ("report --json", lambda run: report(run)["suspects"]["failed_by_all"]),
        ("report", lambda run: nobody_passes(report_page(run))),
    ],
    "failed cases that nobody passes": [
        ("analyze --json", lambda run: len(analysis(run)["passed_by_nobody"]) or None),
        ("report --json", lambda run: len(report(run)["subject"]["passed_by_nobody"]) or None),
        ("report", lambda run: number_in(r"Nobody passes ([\d,]+) of the failed cases", report_page(run))),
    ],
    "order of causes": [
        ("analyze --json", lambda run: in_page(run, lambda _: causes_by_rule(run))),
        ("buckets list --json", lambda run: in_page(run, lambda _: without_reviews(run, [
            cause(one["rows"], one["title"]) for one in buckets(run)[:TOP]]))),
        ("report", lambda run: in_page(run, top_causes)),
        ("report, page", top_causes_on_page),
    ],
    "attempts, with missing ones": [
        ("runs --json", lambda run: listed(run)["counts"]["counted"]),
        ("export --json", lambda run: exported_attempts(run)),
    ],
}  # fmt: skip


OF_RUNS: dict[str, list[tuple[str, Extract]]] = {
    "p of a pair (McNemar)": [
        ("compare --json", lambda some: pairs_of(some, lambda one: as_shown(one["p"]))),
        ("compare --json, each pair alone", lambda some: pairs_alone(some, lambda one: as_shown(one["p"]))),
        ("report --profile comparison --json", lambda some: of_two(
            some, next((as_shown(one["p"]) for one in compare_report(some)["pairs"]), None))),
    ],
    "cases that one of a pair fails alone (McNemar)": [
        ("compare --json", lambda some: pairs_of(
            some, lambda one: alone(one))),
        ("compare --json, each pair alone", lambda some: pairs_alone(
            some, lambda one: alone(one))),
    ],
    "p of a pair (McNemar), without infrastructure failures": [
        ("compare --json", lambda some: pairs_of(some, lambda one: as_shown(one["p"]), "clean")),
        ("compare", lambda some: of_two(some, found_in(r"\(p\s=\s([\d.]+\d), exact", compared_page(some)))),
        ("report, since the previous run", lambda some: of_two(
            some, (found := since(some)) and as_shown(found["p"]))),
    ],
    "cases that one of a pair fails alone (McNemar), without infrastructure failures": [
        ("compare --json", lambda some: pairs_of(some, alone, "clean")),
        ("report, since the previous run", lambda some: of_two(some, alone_since(some))),
    ],
    "fixed, regressed, still failing": [
        ("compare --json", flips_of),
        ("compare", flips_on_page),
        ("gate --json", flips_in_gate),
        ("report, since the previous run", flips_since),
        ("report --profile comparison --json", flips_in_report),
    ],
    "edited tasks": [
        ("compare --json", lambda some: (found := compared(some)["flips"]) and len(found["edited"])),
        ("compare", edited_on_page),
        ("gate --json", lambda some: (found := gated(some)) and len(found["edited"])),
        ("report --profile comparison --json", lambda some: len(compare_report(some)["changes"]["edited"])
            if len(some.runs) == 2 else None),
    ],
    "cases compared without infrastructure failures": [
        ("compare --json", lambda some: pairs_of(some, lambda one: one["shared"], "clean")),
        ("compare", lambda some: of_two(some, number_in(
            r"over ([\d,]+) \w+ \(p [=<] [\d.]+, exact McNemar", compared_page(some)))),
        ("gate --json", lambda some: (found := gated(some)) and of_two(some, found["shared"])),
    ],
    "cases compared": [
        ("compare --json", lambda some: pairs_of(some, lambda one: one["shared"])),
        ("compare, gaps", lambda some: of_two(some, number_in(r"; ([\d,]+) compared", compared_page(some)))),
    ],
    "adjusted p of a category": [
        ("compare --json", lambda some: {
            one["name"]: as_shown(one["adjusted"]) for one in compared(some)["categories"]}),
        ("report --profile comparison", lambda some: {
            one["name"]: as_shown(one["adjusted"]) for one in compare_report(some)["categories"]}),
    ],
    "failed cases by category, in each run": [
        ("compare --json", categories_of_each),
        ("analyze --json", lambda some: [
            {name: one["failed"] for name, one in analysis(each)["categories"].items() if one["failed"]}
            for each in some.runs]),
    ],
    "failed rows by category": [
        ("compare --json", lambda some: {one["name"]: one["failed_rows"] for one in compared(some)["categories"]}),
        ("report --profile comparison", lambda some: {
            one["name"]: one["failed_rows"] for one in compare_report(some)["categories"]}),
    ],
    "failed rows": [
        ("compare", lambda some: number_in(r"of the ([\d,]+) failed rows", compared_page(some))),
        ("compare --json", lambda some: sum(one["failed_rows"] for one in compared(some)["runs"])),
        ("failures --json, judged turns", failed_rows_listed),
        ("report --profile comparison --json, rows", lambda some: compare_report_output(some)["rows"]),
        ("report --profile comparison --json", lambda some: sum(one["failed"] for one in compare_report(some)["runs"])),
        ("report --profile comparison --json, models", lambda some: sum(
            one["failed"] for one in compare_report(some)["models"])),
        ("report --profile comparison --json, causes", lambda some: sum(
            one["rows"] + one["followers"] for one in compare_report(some)["modes"])),
    ],
    "cases failed by all": [
        ("compare --json", lambda some: short(compared(some)["failed_by_all"]["runs"])),
        ("report --profile comparison --json", lambda some: short(compare_report(some)["failed_by_all_runs"])),
    ],
    "cases that only one run fails": [
        ("compare --json", lambda some: without_zeros({
            name: short(cases) for name, cases in of_labels(some, compared(some)["unique"]["runs"]["fails"]).items()})),
        ("report --profile comparison --json", lambda some: without_zeros({
            name: short(one["fails"]) for name, one in zip(
                (each["native_id"] for each in compare_report(some)["runs"]),
                (each for each in compare_report(some)["uniques"] if not each["whole_model"]), strict=True)})),
    ],
    "failed checks of each run": [
        ("compare --json", lambda some: by_label(some, compared(some)["failed_checks"])),
        ("runs --json", lambda some: {
            one.name: without_zeros(listed(one)["counts"]["failed_checks"]) for one in some.runs}),
        ("report --profile comparison --json", lambda some: by_reported_run(some, lambda one: one["dimensions"])),
    ],
    "what stood in the place of an answer": [
        ("compare --json", lambda some: by_label(some, compared(some)["patterns"])),
        ("report --profile comparison --json", lambda some: by_reported_run(
            some, lambda one: without_zeros(one["patterns"]))),
    ],
    "strict score of each run": [
        ("compare --json", lambda some: by_run(
            some, lambda one: [one["scores"]["strict"]["passed"], one["scores"]["strict"]["total"]])),
        ("score --json", lambda some: {
            one.name: [score(one)["scores"]["strict"]["passed"], score(one)["scores"]["strict"]["total"]]
            for one in some.runs}),
        ("report --profile comparison --json", lambda some: by_reported_run(some, lambda one: next(
            [line["passed"], line["total"]] for line in one["scores"] if line["policy"] == "strict"))),
    ],
    "left out of clean in each run": [
        ("compare --json", lambda some: by_run(some, lambda one: one["scores"]["clean"]["left_out"])),
        ("score --json", lambda some: {one.name: score(one)["scores"]["clean"]["left_out"] for one in some.runs}),
        ("report --profile comparison --json", lambda some: by_reported_run(
            some, lambda one: clean_left_out(one["scores"]))),
    ],
    "rows passed in each run": [
        ("runs --json", lambda some: {one.name: listed(one)["counts"]["outcomes"].get("pass", 0) for one in some.runs}),
        ("report --profile comparison --json", lambda some: by_reported_run(some, lambda one: one["passed"])),
    ],
    "cases passed in each run": [
        ("compare --json", lambda some: by_run(some, lambda one: one["passed"])),
        ("compare --json, matrix", lambda some: {
            one["run"]: sum(row["states"][at] == "passed" for row in compared(some)["matrix"])
            for at, one in enumerate(compared(some)["runs"])}),
    ],
    "reviewed in all runs": [
        ("review status --json", lambda some: sum(status(one)["reviewed"] for one in some.runs)),
        ("report --profile comparison --json", lambda some: compare_report(some)["reading"]["read"]),
    ],
    "unstable cases of a model": [
        ("compare --json", lambda some: (found := steady(some)) and short(found["unstable"])),
        ("report --profile comparison --json", lambda some: steady(some) and short(
            compare_report(some)["models"][0]["unstable"])),
    ],
    "unstable cases of a study": [
        ("consistency --json", lambda some: (found := study(some)) and short(found["unstable"])),
        ("consistency --json, cases", lambda some: (found := study(some)) and short(
            one["case"] for one in found["cases"] if one["unstable"])),
    ],
}  # fmt: skip

NAMES = (
    "reviewed table",
    "repeated table",
    "convex-evals",
    "conversation-bench",
    "damaged rows",
    "batches",
    "inspect logs",
    "failures alone",
)
NOT_COMPARED = ("damaged rows", "batches", "inspect logs", "failures alone")


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Iterable[dict[str, Sample]]:
    folder = tmp_path_factory.mktemp("numbers")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("ERRATA_STORE", "ERRATA_AUTHOR", "NO_COLOR"):
            patch.delenv(name, raising=False)
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        yield build_samples(folder)


def contradictions(
    figure: str, commands: list[tuple[str, Extract]], subjects: Iterable[RunOf | Comparing]
) -> list[str]:
    """A paragraph for each subject of which two commands say different things."""
    result = []
    for subject in subjects:
        values = [(command, value) for command, read in commands if (value := read(subject)) is not None]
        if any(value != values[0][1] for _, value in values):
            lines = [f"    {command:<42} {value}" for command, value in values]
            result.append("\n".join([f"{figure} of {subject.title}", *lines]))
    return result


@pytest.mark.parametrize("sample", NAMES)
@pytest.mark.parametrize("figure", OF_RUN)
def test_a_figure_of_a_run_is_the_same_in_every_command(samples: dict[str, Sample], sample: str, figure: str) -> None:
    found = contradictions(figure, OF_RUN[figure], samples[sample].runs)

    assert not found, f"\n{sample}\n" + "\n".join(found)


@pytest.mark.parametrize("sample", [name for name in NAMES if name not in NOT_COMPARED])
@pytest.mark.parametrize("figure", OF_RUNS)
def test_a_figure_of_several_runs_is_the_same_in_every_command(
    samples: dict[str, Sample], sample: str, figure: str
) -> None:
    found = contradictions(figure, OF_RUNS[figure], samples[sample].comparisons)

    assert not found, f"\n{sample}\n" + "\n".join(found)


@pytest.mark.parametrize("figure", [*OF_RUN, *OF_RUNS])
def test_every_command_shows_the_figure_in_some_sample(samples: dict[str, Sample], figure: str) -> None:
    subjects = [each for one in samples.values() for each in (one.runs if figure in OF_RUN else one.comparisons)]
    commands = (OF_RUN | OF_RUNS)[figure]
    silent = [command for command, read in commands if all(read(one) is None for one in subjects)]

    assert not silent, figure


def test_names_that_differ_by_definition_are_told_apart() -> None:
    same = [pair for pair in DIFFERENT_BY_DEFINITION if pair[0] == pair[1]]

    assert not same
    assert all(DIFFERENT_BY_DEFINITION.values())


def test_every_command_is_compared_or_has_no_figures() -> None:
    compared_ones = {name for commands in (OF_RUN | OF_RUNS).values() for name, _ in commands}
    known = [name for name in _commands(app) if any(f"{one} ".startswith(f"{name} ") or one.startswith(f"{name},")
                                                    for one in compared_ones)]  # fmt: skip

    assert sorted({*known, *WITHOUT_FIGURES}) == sorted(_commands(app))


def _commands(group: click.Command, *names: str) -> list[str]:
    if not isinstance(group, click.Group):
        return [" ".join(names)]
    context = click.Context(group)
    found = [(name, group.get_command(context, name)) for name in group.list_commands(context)]
    return [each for name, one in found if one is not None for each in _commands(one, *names, name)]
