"""What commands say of a run or of several, read from their `--json`, their pages and the files they write."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from html import unescape
from typing import Any

from number_samples import Comparing, RunOf

STAY_AS_THEY_ARE = ("skipped", "not scored", "timed out", "grader", "task", "known gap")
"""Why clean leaves out an attempt that nobody has to repeat."""

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


def to_rerun(run: RunOf) -> int | None:
    """Of the policy that goes by verdicts as soon as there are some; what was not judged can be where turns are."""
    scores = score(run)["scores"]
    stay = set(STAY_AS_THEY_ARE) - ({"not scored"} if listed(run)["source"] == "conversation-bench" else set())
    groups = scores["reviewed" if scores["reviewed"]["total"] else "clean"]["left_out_groups"]
    return sum(len(one["attempts"]) for one in groups if one["why"] not in stay) or None


def listed(run: RunOf) -> Any:
    (row,) = (one for one in run.sample.rows("runs") if one["run_id"] == run.run_id)
    return row


def row_of_runs(run: RunOf) -> dict[str, str]:
    """The line of `errata runs`, which starts with the name by which commands know the run."""
    head, *lines = run.sample.run("runs").out.splitlines()
    names = re.split(r" {2,}", head)[-2:]
    title = page_of(run).split(" · ")[0].split()[1]
    (line,) = (one for one in lines if one.startswith(f"{title} "))
    return dict(zip(names, line.split()[-2:], strict=True))


def page_of(run: RunOf) -> str:
    return run.sample.pages[run.run_id]


def analysis(run: RunOf) -> Any:
    rows = run.sample.rows("analyze", *run.sample.paths, "--no-report")
    (row,) = (one for one in rows if one["run_id"] == run.run_id)
    return row


def why_no_estimate(page: str) -> str | None:
    """Empty where a score is called the best estimate; none where the page has no such figure."""
    words = " ".join(page.split())
    found = re.search(r"(?i)(no )?best estimate(?:: ([^;,]+))?", words)
    return None if found is None else found[2] if found[1] else ""


def failed_by_category(page: str) -> dict[str, list[int]] | None:
    """As `analyze` lists them; none where it cuts the list or knows no cases."""
    line = re.search(r"Failed by category (.*?)(?:\(|Repeats|Actions|Suspect|Cost|warning|problem|Report|$)", page)
    listed = re.findall(r"(\S+) (\d+) of (\d+)", line[1]) if line else []
    is_cut = line is not None and "and " in line[1]
    return None if is_cut else {name: [int(failed), int(cases)] for name, failed, cases in listed} or None


def failures(run: RunOf) -> list[Any]:
    return run.rows("failures")


def shown(run: RunOf) -> Any:
    (row,) = run.sample.rows("show", run.run_id)
    return row


def status(run: RunOf) -> Any:
    return run.row("review", "status")


def score(run: RunOf) -> Any:
    return run.row("score")


def note_of_reviewed(run: RunOf) -> int | None:
    note = score(run)["scores"].get("reviewed", {}).get("note")
    return note["count"] if note and note["code"] == "reviewed" else None


def buckets(run: RunOf) -> list[Any]:
    return run.sample.rows("buckets", "list", run.run_id, "--all")


def report(run: RunOf) -> Any:
    return run.row("report", options=("--profile", "run", "-o", "written/run"))["report"]


def report_page(run: RunOf) -> str:
    """Empty where all passed: then none is written."""
    written = run.row("report", options=("--profile", "run", "-o", "written/run"))["written"]
    return (run.sample.home / written[0]).read_text(encoding="utf-8") if written else ""


def owners_of_nobody(run: RunOf) -> int | None:
    """Owners by rules and presumed, in the status of a report."""
    parts = r"([\d,]+) owners? assigned by rules", r"([\d,]+) failures? presumed to be the model's"
    status = next((one for one in report_page(run).splitlines() if "**Status**" in one), "")
    found = [count for part in parts if (count := number_in(part, f"{status}\n")) is not None]
    return sum(found) if found else None


def report_memory(run: RunOf) -> Any:
    if not report_page(run):
        return None
    return json.loads(re.findall(r"<!-- errata:memory (.*) -->", report_page(run))[-1])


def in_page(run: RunOf, read: Callable[[str], Any]) -> Any:
    return read(report_page(run)) if report_page(run) else None


def in_memory(run: RunOf, read: Callable[[Any], Any]) -> Any:
    return read(report_memory(run)) if report_page(run) else None


TOP = 5
"""Causes on the first screen of a report."""


def suspect_list(run: RunOf) -> Any:
    (only,) = run.sample.rows("review", "tasks", run.run_id)
    return only


def nobody_passes(text: str) -> int | None:
    return number_in(r"no model passed ([\d,]+) of the [\d,]+ tasks? with", text)


def causes_by_rule(run: RunOf) -> list[str]:
    return [cause(one["count"], one["title"]) for one in analysis(run)["causes"][:TOP]]


def cause(count: object, title: str) -> str:
    """The beginning of the title: where a cause has one failure, a report shows its whole text."""
    return f"{count}× {title[:14].rstrip('.')}"


def without_reviews(run: RunOf, found: Any) -> Any:
    """Members of a bucket that nobody has reviewed are another cause than the reviewed ones, but not another bucket."""
    return None if any(one["verdict"] for one in failures(run)) else found


def top_causes(page: str) -> list[str] | None:
    """`2× title` of each cause in the Markdown of a report."""
    part = page.partition("**Top causes**\n")[2].partition("\n**")[0]
    found = re.findall(r"^\d+\. ([\d,]+)× \w+: (?:\[(.*?)\]\(|(.*?)(?:; |$))", part, re.MULTILINE)
    return [cause(count, unescaped(link or plain)) for count, link, plain in found] or None


def unescaped(markdown: str) -> str:
    return re.sub(r"\\(.)", r"\1", markdown).replace("`", "").replace("\u200b", "")


def top_causes_on_page(run: RunOf) -> list[str] | None:
    """The same on the HTML page."""
    written = run.row("report", options=("--profile", "run", "--html", "-o", "written/page"))["written"]
    text = "".join((run.sample.home / one).read_text(encoding="utf-8") for one in written if one.endswith(".html"))
    listed_causes = text.partition('<ol class="causes">')[2].partition("</ol>")[0]
    pattern = r'<b class="count">([\d,]+)</b>.*?<div>(.*?)<span class="note">'
    found = [(count, re.sub(r"<[^>]+>", "", title)) for count, title in re.findall(pattern, listed_causes)]
    return [cause(count, unescape(title)) for count, title in found] or None


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


def empty_answers(texts: Iterable[str]) -> int | None:
    found = (number_in(r"(\d+) of \d+ \(\d+ %\) stored answers are empty", one) for one in texts)
    return next((number for number in found if number is not None), None)


def exported_attempts(run: RunOf) -> int:
    tables = run.sample.rows("export", run.run_id, "-o", "written/export", "--force")
    return int(next(table["rows"] for table in tables if table["file"].endswith("attempts.csv")))


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
    """`2 left out: provider 1, environment 1`, under the names of `--json`."""
    result = words.partition("left out: ")[2].partition(";")[0]
    pairs = [one.rpartition(" ") for one in result.split(", ") if one]
    names = {"unscored": "not measured", "no row in the log": "not in the log"}
    return {names.get(why, why): int(count) for why, _, count in pairs}


def policy(name: str, *fields: str, silent: tuple[str, ...] = ()) -> list[tuple[str, Extract]]:
    """A policy of the bracket, as every command shows it but the `silent` ones."""

    def told(scores: Mapping[str, Any]) -> Any:
        return tuple(scores[name][one] for one in fields) if name in scores else None

    def line_of(scores: Iterable[Any]) -> Any:
        return next((tuple(one[each] for each in fields) for one in scores if one["policy"] == name), None)

    def cell_of(page: str) -> Any:
        rows = [row for header, rows in tables_in(page) if header[:2] == ["score", "passed"] for row in rows]
        cells = next((row[1] for row in rows if row[0] == name), "–")
        return tuple(map(int, cells.split("/"))) if "/" in cells else None

    shown_by: list[tuple[str, Extract]] = [
        ("analyze --json", lambda run: told(analysis(run)["scores"])),
        ("score --json", lambda run: told(score(run)["scores"])),
        ("gate --json", lambda run: told(gate(run)["scores"])),
        ("check", lambda run: bracket(run.text("check"), name)),
        ("analyze", lambda run: bracket(page_of(run), name)),
        ("report --json", lambda run: line_of(report(run)["scores"])),
        ("report", lambda run: cell_of(report_page(run))),
        ("report --profile batch --json", lambda run: line_of(batch(run)["scores"]) if is_batch(run) else None),
        ("report --profile batch", lambda run: cell_of(batch_page(run))),
        ("issues --json", lambda run: line_of(batch(run, "issues")["scores"]) if is_batch(run) else None),
    ]
    return [(command, read) for command, read in shown_by if not any(word in command.split() for word in silent)]


def gate(run: RunOf) -> Any:
    """Without a baseline it shows the scores of the run, and exits 4 where there is none."""
    result = run.sample.run("gate", run.run_id, "--allow-no-baseline", "--no-record", "--json")
    assert result.code in (0, 1, 4), result
    return result.row


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


def money(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


# commands on several runs


def compared(some: Comparing) -> Any:
    (row,) = some.sample.rows("compare", *some.ids)
    return row


def categories_of_each(some: Comparing) -> list[dict[str, int]] | None:
    """For each run in its order: category → failed cases, where any failed."""
    categories = compared(some)["categories"]
    return (
        [
            without_zeros({one["name"]: list(one["runs"].values())[at] for one in categories})
            for at in range(len(some.runs))
        ]
        if categories
        else None
    )


def compared_page(some: Comparing) -> str:
    return " ".join(some.sample.run("compare", *some.ids).out.split())


def compare_report_output(some: Comparing) -> Any:
    (row,) = some.sample.rows("report", *some.ids, "--profile", "comparison", "-o", "written/comparison")
    return row


def compare_report(some: Comparing) -> Any:
    return compare_report_output(some)["report"]


def failed_rows_listed(some: Comparing) -> int | None:
    """Of judged turns: failures with a failed dimension; the others have no verdict."""
    if any(listed(run)["source"] != "conversation-bench" for run in some.runs):
        return None
    return sum(bool(one["failed_checks"]) for run in some.runs for one in failures(run))


def since(some: Comparing) -> Any:
    """What the report about the second run says of the first, which is the previous one of the same model."""
    if len(some.runs) != 2:
        return None
    previous = report(some.runs[1])["since"]
    return previous if previous and previous["run"] == some.runs[0].name else None


def pairs_of(some: Comparing, read: Callable[[Any], Any], which: str = "all") -> dict[str, Any]:
    """Of every pair in the comparison, by the names of the runs."""
    found = compared(some)
    names = {one["label"]: one["run"] for one in found["runs"]}
    return {
        " and ".join(sorted((names[one["first"]], names[one["second"]]))): read(one[which]) for one in found["pairs"]
    }


def passes_with_and_without_rows(row: Any) -> int:
    return int(row["counts"]["outcomes"].get("pass", 0) + row["passes_without_rows"])


def edited_cases(some: Comparing) -> set[str]:
    return {row["case"] for row in compared(some)["matrix"] if row["edited"]}


def pairs_alone(some: Comparing, read: Callable[[Any], Any]) -> dict[str, Any] | None:
    """The same pairs, each compared without the others; none where a pair has other edited cases than all together."""
    ids = some.runs
    alone = [Comparing(some.sample, (one, other)) for at, one in enumerate(ids) for other in ids[at + 1 :]]
    if any(edited_cases(pair) != edited_cases(some) for pair in alone):
        return None
    return {name: value for pair in alone for name, value in pairs_of(pair, read).items()}


def of_two(some: Comparing, value: Any) -> dict[str, Any] | None:
    """By the name of the pair, where there are two runs."""
    return {" and ".join(sorted(one.name for one in some.runs)): value} if len(some.runs) == 2 and value else None


def found_in(pattern: str, text: str) -> Any:
    found = re.search(pattern, text)
    return found and found[1]


def alone(tally: Any) -> tuple[int, ...]:
    """Cases that fail in the first alone and in the second alone, whichever is named first."""
    return tuple(sorted((tally["only_first_fails"], tally["only_second_fails"])))


def alone_since(some: Comparing) -> tuple[int, ...] | None:
    found = since(some)
    return tuple(sorted((found["fixed"], found["broke"]))) if found else None


def flips_since(some: Comparing) -> list[int] | None:
    found = since(some)
    return [found["fixed"], found["broke"], found["failed_in_both"]] if found else None


def flips_of(some: Comparing) -> list[int] | None:
    """Fixed, regressed and still failing."""
    flips = compared(some)["flips"]
    return flips and [len(flips[kind]) for kind in ("fixed", "regressed", "still_failing")]


def flips_in_report(some: Comparing) -> list[int] | None:
    changes = compare_report(some)["changes"] if len(some.runs) == 2 else None
    return changes and [len(changes[kind]) for kind in ("fixed", "regressed", "still_failing")]


def flips_on_page(some: Comparing) -> list[int] | None:
    """Only runs of one model have these rows."""
    page = compared_page(some)
    counts = [number_in(rf" {kind} ([\d,]+) ", page) for kind in ("fixed", "regressed", "still failing")]
    return None if None in counts else [count for count in counts if count is not None]


def gated(some: Comparing) -> Any:
    """The second run against the first; none where cases count as flaky, which a comparison does not know."""
    if len(some.runs) != 2:
        return None
    first, second = some.ids
    (row,) = some.sample.rows("gate", second, "--baseline", first, "--no-record")
    return row["changes"] if row["changes"] and not row["changes"]["flaky"] else None


def flips_in_gate(some: Comparing) -> list[int] | None:
    """Of a run without verdicts: a gate goes by them, a comparison by rules."""
    changes = gated(some) if not status(some.runs[-1])["reviewed"] else None
    regressed = changes and [one for kind in ("new", "allowed", "others") for one in changes[kind]]
    return changes and [len(changes["fixed"]), len(regressed), changes["still_failing"]]


def edited_on_page(some: Comparing) -> int | None:
    found = compared(some)["flips"]
    return number_in(r" task edited ([\d,]+) ", compared_page(some)) if found and found["edited"] else None


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
    return dict(next(one["left_out"] for one in scores if one["policy"] == "clean"))


def study(some: Comparing) -> Any:
    """The consistency of two runs of one model."""
    found = some.sample.rows("consistency", *some.ids)
    return found[0] if len(found) == 1 else None


def steady(some: Comparing) -> Any:
    found = list(compared(some)["instability"].values())
    return found[0] if len(found) == 1 and study(some) else None
