"""One name, one number: a figure that several commands show under one name has one value in all of them.

A figure that shows up in a new command is one more line in `OF_RUN` or `OF_RUNS`. Figures that differ by definition
have different names; `DIFFERENT_BY_DEFINITION` lists the pairs that are easily confused.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest

from errata.cli.app import app
from number_samples import Comparing, RunOf, Sample, build_samples

DIFFERENT_BY_DEFINITION = {
    ("failures", "failed rows"): "a failure is a counted attempt that was not passed or not measured; a failed row of a "
    "comparison is one in which any check failed, passed or not",
    ("failures", "tests not passed"): "a batch also counts tests that were skipped or never scored",
    ("attempts passed", "cases passed"): "a case counts as passed if all of its attempts are; a repeated case has many",
    ("attempts passed", "passed, strict"): "a policy counts cases; where a case is tried several times, attempts",
    ("reviewed", "inherited"): "reviewed was read itself; inherited has the verdict of an identical crash",
    ("reviewed", "final"): "final was reviewed and needs no second reader, or has one",
    ("owners", "owners by triage"): "owners go by the verdict that stands, else by rules; triage by rules alone",
    ("left out of clean", "left out of reviewed"): "clean goes by rules, reviewed by verdicts",
    ("left out of clean", "to repeat"): "skipped, unscored and timed out attempts are left out, but stay as they are",
    ("failures by category", "measured failures by category"): "measured ones are without infrastructure",
    ("failed checks", "first failed checks"): "an attempt has one first failed check, and may have more",
    ("empty answers", "EMPTY_RESPONSE"): "an empty answer is an empty text; the pattern is what a harness or a signal "
    "names in the place of an answer",
    ("failed in every run", "always fail"): "a comparison counts attempts that broke off as failed; a consistency "
    "study counts them as incomplete",
    ("cost", "cost of a rerun"): "the second is an estimate",
    ("cost", "cost of a review"): "the second is what reviewers cost",
    ("fixed", "only the first fails"): "flips take in edited cases; the pairs of a test leave them out",
}
"""Two names that must not be one, and what each means."""

WITHOUT_FIGURES = {
    "import": "reads logs; what it counts is in `runs`",
    "triage": "counts rules, not runs",
    "demo": "is `analyze`",
    "sources": "lists formats",
    "doctor": "is about the store",
    "exclude": "marks a run",
    "rm": "forgets a run",
    "trust": "is about settings",
    "review next": "shows one failure",
    "review submit": "takes one verdict",
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
}
"""Commands that show no figure of a run, and why."""

Extract = Callable[[Any], Any]
"""The figure of a run or of several; none where the command does not show it for these."""


# reading what commands print


def tables_in(markdown: str) -> list[tuple[list[str], list[list[str]]]]:
    """Header and rows of every table."""
    found: list[tuple[list[str], list[list[str]]]] = []
    inside = False
    for line in markdown.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif not inside:
            found.append((cells, []))
            inside = True
        elif set(line) - set("|-: "):
            found[-1][1].append(cells)
    return found


def column(markdown: str, name: str) -> list[str]:
    """The cells of the column in all tables that have it."""
    return [row[header.index(name)] for header, rows in tables_in(markdown) if name in header for row in rows]


def number_in(pattern: str, text: str) -> int | None:
    found = re.search(pattern, text)
    return int(found[1].replace(",", "")) if found else None


def counted(words: Iterable[str]) -> dict[str, int]:
    return dict(Counter(words))


def without_zeros(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}


def as_shown(p: float | str | None) -> str | None:
    """With two digits, as people round."""
    return None if p is None else str(Decimal(str(p)).quantize(Decimal("0.01"), ROUND_HALF_UP))


# commands on one run


def listed(run: RunOf) -> Any:
    (row,) = (one for one in run.sample.rows("runs") if one["run_id"] == run.run_id)
    return row


def row_of_runs(run: RunOf) -> dict[str, str]:
    """The line of `errata runs`, which starts with the name by which commands know the run."""
    head, *lines = run.sample.run("runs").out.splitlines()
    names = head.split()[-2:]
    title = page_of(run).split(" · ")[0].split()[1]
    (line,) = (one for one in lines if one.startswith(f"{title} "))
    return dict(zip(names, line.split()[-2:], strict=True))


@cache
def pages(sample: int) -> dict[str, str]:
    """Run id → its part of what `errata analyze` prints."""
    mine = SAMPLES_BY_ID[sample]
    text = mine.run("analyze", *mine.paths, "--no-report").out
    parts = re.split(r"(?m)^(?=Run \S+ )", text)[1:]
    order = [one["run_id"] for one in mine.rows("analyze", *mine.paths, "--no-report")]
    return {run_id: " ".join(part.split()) for run_id, part in zip(order, parts, strict=True)}


SAMPLES_BY_ID: dict[int, Sample] = {}


def page_of(run: RunOf) -> str:
    SAMPLES_BY_ID[id(run.sample)] = run.sample
    return pages(id(run.sample))[run.run_id]


def analysis(run: RunOf) -> Any:
    rows = run.sample.rows("analyze", *run.sample.paths, "--no-report")
    (row,) = (one for one in rows if one["run_id"] == run.run_id)
    return row


def failures(run: RunOf) -> list[Any]:
    return run.rows("failures")


def shown(run: RunOf) -> Any:
    (row,) = run.sample.rows("show", run.run_id)
    return row


def status(run: RunOf) -> Any:
    return run.row("review", "status")


def score(run: RunOf) -> Any:
    return run.row("score")


def buckets(run: RunOf) -> list[Any]:
    return run.sample.rows("buckets", "list", run.run_id, "--all")


def report(run: RunOf) -> Any:
    return run.row("report", options=("--profile", "run", "-o", "written/run"))["report"]


def report_page(run: RunOf) -> str:
    (path,) = run.row("report", options=("--profile", "run", "-o", "written/run"))["written"]
    return (run.sample.home / path).read_text(encoding="utf-8")


def report_memory(run: RunOf) -> Any:
    return json.loads(re.findall(r"<!-- errata:memory (.*) -->", report_page(run))[-1])


def is_batch(run: RunOf) -> bool:
    return bool(listed(run)["source"] == "scylla")


def batch(run: RunOf, command: str = "report") -> Any:
    if not is_batch(run):
        return None
    profile = ("--profile", "batch") if command == "report" else ()
    return run.row(command, options=(*profile, "-o", f"written/{command}"))["report"]


def batch_page(run: RunOf) -> str:
    if not is_batch(run):
        return ""
    folder = run.row("report", options=("--profile", "batch", "-o", "written/report"))["folder"]
    return (run.sample.home / folder / "README.md").read_text(encoding="utf-8")


def written_back(run: RunOf) -> Any:
    if listed(run)["source"] != "inspect-ai":
        return None
    (row,) = run.sample.rows("writeback", run.run_id, "-o", "written/back")
    return row


def exported(run: RunOf) -> list[Any]:
    """The instances of the headline evaluation."""
    made = run.row("export", options=("-o", "written/export", "--force"))
    path = next(run.sample.home / one for one in made["files"] if one.endswith(".jsonl"))
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def finding(found: Iterable[Any], name: str) -> int | None:
    return next((one["numbers"]["outputs"] for one in found if one["name"] == name and "numbers" in one), None)


def empty_answers(texts: Iterable[str]) -> int | None:
    return next((number for one in texts if (number := number_in(r"(\d+) of \d+ \(\d+ %\) stored answers are empty", one))),
                None)  # fmt: skip


def in_findings(found: Iterable[Any]) -> int | None:
    return empty_answers(one["text"] for one in found)


def owner_of(failure: Any) -> str:
    return str(failure["verdict"]["owner"] if failure["verdict"] else failure["owner"])


def is_read(failure: Any) -> bool:
    return failure["verdict"] is not None and failure["verdict"]["inherited_from"] is None


def added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


def shown_owner(cell: str) -> str:
    """`provider` of `provider (by rule)`."""
    return cell.partition(" ")[0]


def left_out(words: str) -> dict[str, int]:
    """`2 left out: provider 1, environment 1`."""
    told = words.partition("left out: ")[2].partition(";")[0]
    pairs = [one.rpartition(" ") for one in told.split(", ") if one]
    return {why: int(count) for why, _, count in pairs}


def policy(name: str, *fields: str) -> list[tuple[str, Extract]]:
    """A policy of the bracket, as every command shows it."""

    def told(scores: Mapping[str, Any]) -> Any:
        return tuple(scores[name][one] for one in fields) if name in scores else None

    def line_of(scores: Iterable[Any]) -> Any:
        return next((tuple(one[each] for each in fields) for one in scores if one["policy"] == name), None)

    def cell_of(page: str) -> Any:
        rows = [row for header, rows in tables_in(page) if header[:2] == ["score", "passed"] for row in rows]
        cells = next((row[1] for row in rows if row[0] == name), "–")
        return tuple(map(int, cells.split("/"))) if "/" in cells else None

    return [
        ("analyze --json", lambda run: told(analysis(run)["scores"])),
        ("score --json", lambda run: told(score(run)["scores"])),
        ("check", lambda run: bracket(run.text("check"), name)),
        ("analyze", lambda run: bracket(page_of(run), name)),
        ("report --json", lambda run: line_of(report(run)["scores"])),
        ("report", lambda run: cell_of(report_page(run))),
        ("report --profile batch --json", lambda run: line_of(batch(run)["scores"]) if is_batch(run) else None),
        ("report --profile batch", lambda run: cell_of(batch_page(run))),
        ("issues --json", lambda run: line_of(batch(run, "issues")["scores"]) if is_batch(run) else None),
    ]


def bracket(page: str, name: str) -> tuple[int, int] | None:
    found = re.search(rf"{name} +([\d,]+)/([\d,]+) ", page)
    return (int(found[1].replace(",", "")), int(found[2].replace(",", ""))) if found else None


def repeats(field: str, before: str) -> list[tuple[str, Extract]]:
    """Failures that were known before, and how."""
    in_report = {"reports": "reports", "runs": "runs", "should_be_gone": "should_be_gone"}[before]
    return [
        ("analyze --json", lambda run: analysis(run)["repeats"][field]),
        ("failures --json", lambda run: sum(bool(one["before"] and one["before"][before]) for one in failures(run))),
        ("report --json", lambda run: sum(bool(one["repeat"][in_report]) for one in report(run)["failures"])),
    ]


OF_RUN: dict[str, list[tuple[str, Extract]]] = {
    "failures": [
        ("runs --json", lambda run: listed(run)["counts"]["failures"]),
        ("runs", lambda run: int(row_of_runs(run)["failures"])),
        ("analyze --json", lambda run: analysis(run)["counts"]["failures"]),
        ("analyze, owners", lambda run: number_in(r"\(of ([\d,]+)\)", page_of(run))),
        ("analyze, reviewed", lambda run: number_in(r"of ([\d,]+) failures? reviewed", page_of(run))),
        ("show RUN --json", lambda run: shown(run)["counts"]["failures"]),
        ("failures --json", lambda run: len(failures(run))),
        ("failures", lambda run: number_in(r"([\d,]+) failures? of [\d,]+ ", run.text("failures"))),
        ("review status --json", lambda run: status(run)["failures"]),
        ("buckets list --json", lambda run: sum(one["rows"] for one in buckets(run))),
        ("report --json, failures", lambda run: len(report(run)["failures"])),
        ("report --json, reading", lambda run: report(run)["reading"]["failures"]),
        ("report --json, steps", lambda run: sum(one["count"] for one in report(run)["steps"])),
        ("report, count of steps", lambda run: sum(map(int, column(report_page(run), "Count")))),
        ("report, owners", lambda run: len(column(report_page(run), "Owner"))),
        ("report, impact", lambda run: sum(map(int, column(report_page(run), "count")))),
        ("report, memory", lambda run: len(report_memory(run)["failures"])),
        ("report --profile batch --json, failures", lambda run: len(batch(run)["failures"]) if is_batch(run) else None),
        ("report --profile batch --json, reading",
         lambda run: batch(run)["reading"]["failures"] if is_batch(run) else None),
        ("report --profile batch --json, answer",
         lambda run: number_in(r"of the (\d+) failures", batch(run)["answer"]) if is_batch(run) else None),
        ("issues --json", lambda run: len(batch(run, "issues")["failures"]) if is_batch(run) else None),
        ("writeback --json",
         lambda run: (made := written_back(run)) and len(made["changes"]) + sum(made["left"].values())),
    ],
    "attempts passed": [
        ("runs --json", lambda run: listed(run)["counts"]["outcomes"].get("pass", 0)),
        ("analyze --json", lambda run: analysis(run)["counts"]["outcomes"].get("pass", 0)),
        ("show RUN --json", lambda run: shown(run)["counts"]["outcomes"].get("pass", 0)),
    ],
    "passed": [
        ("runs", lambda run: (told := row_of_runs(run).get("passed")) and int(told.partition("/")[0])),
        ("analyze --json", lambda run: analysis(run)["passed"]),
        ("score --json, strict", lambda run: score(run)["scores"]["strict"]["passed"]),
        ("report --json", lambda run: report(run)["subject"]["passed"]),
        ("report, pass rate", lambda run: number_in(r"\*\*Pass rate\*\*: ([\d,]+)/", report_page(run))),
        ("report, memory", lambda run: report_memory(run)["passed"]),
        ("report --profile batch --json",
         lambda run: sum(one["passed"] for one in batch(run)["tests"]) if is_batch(run) else None),
    ],
    "passed, strict": policy("strict", "passed", "total"),
    "passed, clean": policy("clean", "passed", "total"),
    "passed, reviewed": policy("reviewed", "passed", "total"),
    "reviewed": [
        ("analyze", lambda run: number_in(r"([\d,]+) of [\d,]+ failures? reviewed", page_of(run))),
        ("failures --json", lambda run: sum(map(is_read, failures(run)))),
        ("review status --json", lambda run: status(run)["reviewed"]),
        ("score, note of reviewed",
         lambda run: number_in(r"([\d,]+) of [\d,]+ reviewed", score(run)["scores"].get("reviewed", {}).get("note") or "")),
        ("buckets list --json", lambda run: sum(one["reviewed"] for one in buckets(run))),
        ("report --json, reading", lambda run: report(run)["reading"]["read"]),
        ("report, status", lambda run: number_in(r"([\d,]+) of [\d,]+ failures? read", report_page(run))),
        ("report --profile batch --json", lambda run: batch(run)["reading"]["read"] if is_batch(run) else None),
    ],
    "judged by rules alone": [
        ("failures --json", lambda run: sum(one["verdict"] is None for one in failures(run)) or None),
        ("report, status", lambda run: number_in(r"([\d,]+) judged by rules alone", report_page(run))),
        ("report, limits", lambda run: number_in(r"([\d,]+) classifications? come from rules alone", report_page(run))),
        ("report --json", lambda run: sum(not one["reviewed"] for one in report(run)["failures"]) or None),
    ],
    "inherited": [
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
        ("buckets list --json", lambda run: added(one["owners"] for one in buckets(run))),
        ("report --json", lambda run: counted(one["owner"] for one in report(run)["failures"])),
        ("report", lambda run: counted(map(shown_owner, column(report_page(run), "Owner")))),
        ("report, memory", lambda run: counted(one["owner"] for one in report_memory(run)["failures"])),
        ("report --profile batch --json",
         lambda run: counted(one["owner"] for one in batch(run)["failures"]) if is_batch(run) else None),
        ("report --profile batch",
         lambda run: counted(filter(None, column(batch_page(run), "owner"))) if is_batch(run) else None),
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
        ("report --json", lambda run: left_out(next(
            one["left_out"] for one in report(run)["scores"] if one["policy"] == "clean"))),
        ("report", lambda run: left_out(next(
            row[4] for header, rows in tables_in(report_page(run)) if header[0] == "score" for row in rows
            if row[0] == "clean"))),
        ("report --profile batch --json", lambda run: left_out(next(
            one["left_out"] for one in batch(run)["scores"] if one["policy"] == "clean")) if is_batch(run) else None),
    ],
    "to repeat": [
        ("analyze", lambda run: number_in(r"how to repeat the ([\d,]+) left out of clean", page_of(run))),
        ("rerun --json", lambda run: run.row("rerun")["attempts"]),
        ("rerun", lambda run: number_in(r"Repeat ([\d,]+) of", run.text("rerun"))),
    ],
    "failures named in earlier reports": repeats("in_reports", "reports"),
    "failures in earlier runs": repeats("in_runs", "runs"),
    "should be fixed": repeats("should_be_gone", "should_be_gone"),
    "recurring": [
        ("report", lambda run: number_in(r"\*\*Recurring\*\*: ([\d,]+) of", report_page(run))),
        ("report --json", lambda run: report(run)["history"] and sum(
            bool(one["repeat"]["reports"]) for one in report(run)["failures"]) or None),
    ],
    "empty answers": [
        ("check --json", lambda run: in_findings(run.row("check")["findings"])),
        ("analyze --json", lambda run: in_findings(analysis(run)["findings"])),
        ("show RUN --json", lambda run: in_findings(shown(run)["findings"])),
        ("check", lambda run: empty_answers([run.text("check")])),
        ("report --json", lambda run: empty_answers(report(run)["findings"])),
    ],
    "failed checks": [
        ("runs --json", lambda run: listed(run)["counts"]["failed_checks"]),
        ("analyze --json", lambda run: analysis(run)["counts"]["failed_checks"]),
        ("show RUN --json", lambda run: shown(run)["counts"]["failed_checks"]),
    ],
    "first failed checks": [
        ("analyze --json", lambda run: {name or "none": count for name, count in analysis(run)["first_failed_checks"].items()}),
        ("failures --json", lambda run: counted((one["failed_checks"] or ["none"])[0] for one in failures(run))),
        ("report --json", lambda run: without_zeros(added(
            {"none" if one["step"].startswith("none (") else one["step"]: one["count"]}
            for one in report(run)["steps"]))),
    ],
    "cost": [
        ("runs --json", lambda run: money(listed(run)["counts"]["cost"])),
        ("analyze --json", lambda run: money(analysis(run)["counts"]["cost"])),
        ("score --json", lambda run: money(score(run)["cost"]["total"])),
        ("report --json", lambda run: money(report(run)["subject"]["cost"])),
        ("report --profile batch --json", lambda run: money(batch(run)["cost"]) if is_batch(run) else None),
    ],
    "failures by bucket": [
        ("buckets list --json", lambda run: {one["slug"]: one["rows"] for one in buckets(run)}),
        ("failures --json", lambda run: counted(one["bucket"]["slug"] for one in failures(run) if one["bucket"])),
        ("buckets show --json", lambda run: {one["slug"]: sum(
            member["run_id"] == run.run_id for member in run.sample.rows("buckets", "show", one["slug"])[0]["members"])
            for one in buckets(run)}),
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
            one["what"]: {"worked": "yes", "NO EFFECT": "no", "not known yet": "unknown"}[one["worked"]]
            for one in report(run)["actions"]}),
        ("action list --json", lambda run: {
            one["action"]["what"]: one["worked"] for one in run.sample.rows("action", "list") if one["run"] == run.name}
            or None),
    ],
    "failures with a known gap": [
        ("failures --json", lambda run: sum(one["decided_by"] == "known_gap" for one in failures(run)) or None),
        ("known list --json", lambda run: sum(
            run.name in one["runs"] for one in run.sample.rows("known", "list")) or None),
    ],
    "attempts exported": [
        ("runs --json", lambda run: listed(run)["counts"]["counted"] - listed(run)["counts"]["executions"].get("missing", 0)),
        ("export --json", lambda run: len({
            (one.get("sample_id"), one.get("interaction_id"), str(one.get("sample_hash"))) for one in exported(run)}) or None),
    ],
}  # fmt: skip


def money(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


# commands on several runs


def compared(some: Comparing) -> Any:
    (row,) = some.sample.rows("compare", *some.ids)
    return row


def compared_page(some: Comparing) -> str:
    return " ".join(some.sample.run("compare", *some.ids).out.split())


def compare_report(some: Comparing) -> Any:
    (row,) = some.sample.rows("report", *some.ids, "--profile", "comparison", "-o", "written/comparison")
    return row["report"]


def since(some: Comparing) -> str:
    """What the report about the second run says of the first, which is the previous one of the same model."""
    if len(some.runs) != 2:
        return ""
    told = str(report(some.runs[1])["since"])
    return told if told.startswith(some.runs[0].name[:8]) else ""


def pairs_of(some: Comparing, read: Callable[[Any], Any]) -> dict[str, Any]:
    """Of every pair in the comparison, by the names of the runs."""
    found = compared(some)
    names = {one["label"]: one["run"] for one in found["runs"]}
    return {" and ".join(sorted((names[one["first"]], names[one["second"]]))): read(one["all"]) for one in found["pairs"]}


def pairs_alone(some: Comparing, read: Callable[[Any], Any]) -> dict[str, Any]:
    """The same pairs, each compared without the others."""
    ids = some.runs
    alone = [Comparing(some.sample, (one, other)) for at, one in enumerate(ids) for other in ids[at + 1 :]]
    return {name: value for pair in alone for name, value in pairs_of(pair, read).items()}


def of_two(some: Comparing, value: Any) -> dict[str, Any] | None:
    """By the name of the pair, where there are two runs."""
    return {" and ".join(sorted(one.name for one in some.runs)): value} if len(some.runs) == 2 and value else None


def found_in(pattern: str, text: str) -> Any:
    found = re.search(pattern, text)
    return found and found[1]


def ordered(some: Comparing, first: int, second: int) -> tuple[int, ...]:
    """Cases that fail in the first alone and in the second alone, whichever is named first."""
    return tuple(sorted((first, second)))


def by_run(some: Comparing, read: Callable[[Any], Any]) -> dict[str, Any]:
    return {one["run"]: read(one) for one in compared(some)["runs"]}


def by_reported_run(some: Comparing, read: Callable[[Any], Any]) -> dict[str, Any]:
    return {one["native_id"]: read(one) for one in compare_report(some)["runs"]}


def of_labels(some: Comparing, values: Mapping[str, Any]) -> dict[str, Any]:
    names = {one["label"]: one["run"] for one in compared(some)["runs"]}
    return {names[label]: value for label, value in values.items()}


def by_label(some: Comparing, counts: Iterable[Any]) -> dict[str, dict[str, int]]:
    """Run → name → how often."""
    found: dict[str, dict[str, int]] = {one.name: {} for one in some.runs}
    for one in counts:
        for name, often in of_labels(some, one["runs"]).items():
            if often:
                found[name][one["name"]] = often
    return found


def short(cases: Iterable[str]) -> list[str]:
    """Turns by their number, as reports name them."""
    return sorted(one.removeprefix("turn-") for one in cases)


def clean_left_out(scores: Iterable[Any]) -> dict[str, int]:
    return left_out(next(one["left_out"] for one in scores if one["policy"] == "clean"))


def study(some: Comparing) -> Any:
    """The consistency of two runs of one model."""
    found = some.sample.rows("consistency", *some.ids)
    return found[0] if len(found) == 1 else None


def steady(some: Comparing) -> Any:
    found = list(compared(some)["instability"].values())
    return found[0] if len(found) == 1 and study(some) else None


OF_RUNS: dict[str, list[tuple[str, Extract]]] = {
    "p of a pair (McNemar)": [
        ("compare --json", lambda some: pairs_of(some, lambda one: as_shown(one["p"]))),
        ("compare --json, each pair alone", lambda some: pairs_alone(some, lambda one: as_shown(one["p"]))),
        ("compare", lambda some: of_two(some, found_in(r"failed alone, p = ([\d.]+\d)", compared_page(some)))),
        ("report, since the previous run", lambda some: of_two(some, found_in(r"p = ([\d.]+\d)\)", since(some)))),
        ("report --profile comparison", lambda some: of_two(
            some, found_in(r"smallest p is ([\d.]+\d)", compare_report(some)["chance"]))),
    ],
    "cases that one of a pair fails alone (McNemar)": [
        ("compare --json", lambda some: pairs_of(
            some, lambda one: ordered(some, one["only_first_fails"], one["only_second_fails"]))),
        ("compare --json, each pair alone", lambda some: pairs_alone(
            some, lambda one: ordered(some, one["only_first_fails"], one["only_second_fails"]))),
        ("report, since the previous run", lambda some: of_two(some, (
            found := re.search(r"McNemar, (\d+) against (\d+)", since(some))) and ordered(some, int(found[1]), int(found[2])))),
    ],
    "fixed, regressed, still failing": [
        ("compare --json", lambda some: (flips := compared(some)["flips"]) and [
            len(flips[kind]) for kind in ("fixed", "regressed", "still_failing")]),
        ("report, since the previous run", lambda some: since(some) and [
            number_in(pattern, since(some))
            for pattern in (r"failed then, pass now (\d+)", r"passed then, fail now (\d+)", r"Failed in both (\d+)")] or None),
    ],
    "adjusted p of a category": [
        ("compare --json", lambda some: {one["name"]: as_shown(one["adjusted"]) for one in compared(some)["categories"]}),
        ("report --profile comparison", lambda some: {
            name: as_shown(found_in(r"p = ([\d.]+)", harder))
            for name, _, _, harder in compare_report(some)["categories"]}),
    ],
    "failed rows by category": [
        ("compare --json", lambda some: {one["name"]: one["failed_rows"] for one in compared(some)["categories"]}),
        ("report --profile comparison", lambda some: {
            name: rows for name, _, rows, _ in compare_report(some)["categories"]}),
    ],
    "failed rows": [
        ("compare", lambda some: number_in(r"of the ([\d,]+) failed rows", compared_page(some))),
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
        ("runs --json", lambda some: {one.name: without_zeros(listed(one)["counts"]["failed_checks"]) for one in some.runs}),
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
    "passed in each run": [
        ("compare --json", lambda some: by_run(some, lambda one: one["passed"])),
        ("report --profile comparison --json", lambda some: by_reported_run(some, lambda one: one["passed"])),
    ],
    "reviewed in all runs": [
        ("review status --json", lambda some: sum(status(one)["reviewed"] for one in some.runs)),
        ("report --profile comparison --json", lambda some: compare_report(some)["reading"]["read"]),
    ],
    "unstable cases of a model": [
        ("compare --json", lambda some: (found := steady(some)) and short(found["unstable"])),
        ("consistency --json", lambda some: (found := steady(some)) and short(study(some)["unstable"])),
        ("report --profile comparison --json", lambda some: steady(some) and short(
            compare_report(some)["models"][0]["unstable"])),
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
)


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Iterable[dict[str, Sample]]:
    folder = tmp_path_factory.mktemp("numbers")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("ERRATA_STORE", "ERRATA_AUTHOR", "NO_COLOR"):
            patch.delenv(name, raising=False)
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        yield build_samples(folder)


def contradictions(figure: str, commands: list[tuple[str, Extract]], subjects: Iterable[RunOf | Comparing]) -> list[str]:
    """A paragraph for each subject of which two commands say different things."""
    told = []
    for subject in subjects:
        values = [(command, value) for command, read in commands if (value := read(subject)) is not None]
        if any(value != values[0][1] for _, value in values):
            lines = [f"    {command:<42} {value}" for command, value in values]
            told.append("\n".join([f"{figure} of {subject.title}", *lines]))
    return told


@pytest.mark.parametrize("sample", NAMES)
@pytest.mark.parametrize("figure", OF_RUN)
def test_a_figure_of_a_run_is_the_same_in_every_command(samples: dict[str, Sample], sample: str, figure: str) -> None:
    found = contradictions(figure, OF_RUN[figure], samples[sample].runs)

    assert not found, f"\n{sample}\n" + "\n".join(found)


@pytest.mark.parametrize("sample", [name for name in NAMES if name not in ("damaged rows", "batches", "inspect logs")])
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
