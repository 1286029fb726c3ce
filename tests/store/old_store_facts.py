"""Facts that have to survive in an old store, taken out of what the commands print as JSON.

Used on the old output and on today's: where an output changes its shape on purpose, only its function here changes.
Owners and buckets that come from rules alone are left out, since rules may get better.
"""

import json
from pathlib import Path
from typing import Any

import msgspec

from errata.model.history import CaseEffect, effect_text

Rows = list[Any]


def runs_with_counts(rows: Rows) -> dict[str, Any]:
    keys = ("attempts", "counted", "cases", "failures", "unreadable", "executions", "measurements", "outcomes")
    return {
        row["run"]: (
            row["run_id"],
            row["source"],
            row["suite"],
            row["model"],
            row["started_at"],
            row["revision"],
            {key: row["counts"][key] for key in keys},
        )
        for row in rows
    }


def exclusions(rows: Rows) -> dict[str, Any]:
    return {row["run"]: row["excluded"] for row in rows if row["excluded"]}


def failing_attempts(rows: Rows) -> set[str]:
    return {row["attempt_id"] for row in rows}


def standing_verdicts(rows: Rows) -> dict[str, Any]:
    keys = ("id", "taxonomy", "label", "owner", "cause", "reviewer", "at", "disputed", "inherited_from")
    return {row["attempt_id"]: {key: row["verdict"][key] for key in keys} for row in rows if row["verdict"]}


def every_verdict(rows: Rows) -> list[Any]:
    """Of one attempt, with its evidence and doubts."""
    keys = ("id", "label", "owner", "cause", "reasoning", "evidence", "doubts", "confidence", "at")
    return [
        {key: verdict[key] for key in keys}
        | {key: verdict["reviewer"][key] for key in ("kind", "name", "version")}  # later versions know more of it
        for row in rows
        for verdict in row["verdicts"]
    ]


def reviews(rows: Rows) -> dict[str, Any]:
    keys = ("failures", "reviewed", "inherited", "in_hand", "refused", "unmended", "labels", "reviewers", "calls")
    return {
        row["run"]: {
            **{key: row[key] for key in keys},
            "refusals": sum(row["refusals"].values()),
            "stale": attempts_in(row["stale"]),
            "disputed": attempts_in(row["disputed"]),
        }
        for row in rows
    }


def attempts_in(listed: Rows) -> list[str]:
    return sorted(json.dumps(item, sort_keys=True) for item in listed)


ONE_ROOT = "tierconfig-object-has-no-attribute-language"
SINCE_FINAL = {ONE_ROOT: "The framework asks a configuration for a field that it does not have"}
"""Changed by design: followers count no longer as members. This bucket has one member, which was reviewed, and ten
followers; so it is final, and has the title that its reviewer gave."""
SINCE_APART = ("limit-07", "tide-03", "tide-04", "wind-01")
"""Changed by design: cases that failed by infrastructure are no change of the subject, and listed apart."""


def kept_buckets(rows: Rows) -> dict[str, Any]:
    """Those that somebody has read."""
    return {
        row["id"]: (row["slug"], *_words(row), row["suite"], row["rows"], sorted(row["supported_by"]))
        for row in rows
        if row["status"] != "provisional"
    }


def _words(row: Any) -> tuple[str, str]:
    """Title and status, as they are to be today."""
    return (SINCE_FINAL[row["slug"]], "final") if row["slug"] in SINCE_FINAL else (row["title"], row["status"])


def placed_by_people(rows: Rows) -> dict[str, tuple[str, str]]:
    return {
        member["attempt_id"]: (row["slug"], member["placed_by"])
        for row in rows
        for member in row["members"]
        if member["placed_by"]
    }


def bucket_events(rows: Rows) -> list[Any]:
    keys = ("number", "at", "by", "what", "undone", "suite", "bucket_id", "undoes", "failures")
    return [{key: row[key] for key in keys} for row in rows]


def actions(rows: Rows) -> dict[str, Any]:
    keys = ("what", "path", "addresses", "date", "author", "expected_effect")
    return {
        row["action"]["id"]: ({key: row["action"][key] for key in keys}, row["worked"], _why(row))
        for row in rows
        if row["kept"]
    }


def _why(row: Any) -> str:
    """Once a phrase; now a reason and what each case shows."""
    if "case_effects" not in row:
        return str(row["why"])
    return effect_text(row["why"], msgspec.convert(row["case_effects"], list[CaseEffect]), row["worked"])


def actions_by_hand(rows: Rows) -> set[tuple[str, str, str]]:
    written = (row["action"] for row in rows if not row["kept"] and not row["action"]["author"])
    return {(action["date"], action["path"], action["what"]) for action in written}


def gaps(rows: Rows) -> dict[str, Any]:
    return {row["gap"]["id"]: (row["gap"], row["cases"]) for row in rows}


def scores(rows: Rows) -> dict[tuple[str, str], Any]:
    """What the harness measured; `clean` and `reviewed` go by rules, too."""
    measured = ("strict", "as_reported")
    return {
        row["run"]: [(row["scores"][name]["passed"], row["scores"][name]["total"]) for name in measured] for row in rows
    }


def comparison_counts(rows: Rows) -> list[Any]:
    return [
        (row["cases"], [(run["run"], run["passed"], run["failed"]) for run in row["runs"]], _flips(row["flips"]))
        for row in rows
    ]


def _flips(flips: Any) -> Any:
    """As they are to be today."""
    without = {
        name: [case for case in cases if case not in SINCE_APART] if isinstance(cases, list) else cases
        for name, cases in flips.items()
    }
    # a case whose task was edited is neither fixed nor regressed since; it has a list of its own
    flips_only = {name: cases for name, cases in without.items() if isinstance(cases, list) and name != "edited"}
    apart = {name: [case for case in cases if case != EDITED] for name, cases in flips_only.items()}
    return without | apart | {"infrastructure": list(SINCE_APART), "edited": [EDITED]}


EDITED = "tide-02"


def edited_tasks(rows: Rows) -> list[str]:
    return [case for row in rows for found in row["differences"] if found["what"] == "tasks" for case in found["cases"]]


def earlier_reports(rows: Rows) -> dict[str, set[tuple[str, str]]]:
    """Case → where an earlier report names it, and as what."""
    return {
        row["case"]: {(Path(report["report"]).name, report["label"]) for report in row["before"]["reports"]}
        for row in rows
        if row["before"]["reports"]
    }


def of_run(run: str, rows: Rows) -> Rows:
    return [row for row in rows if row["run"].startswith(run)]
