"""A run on a page: its title, its harness and unit, and its number of attempts."""

from typing import TYPE_CHECKING

from errata.cli.output import plural
from errata.model import Run, StoredRun
from errata.model.run import subject_label
from errata.render.figures import mean_words
from errata.runs.first_page import cases_not_in_log, label_words
from errata.runs.names import needs_native_id, variant_of

if TYPE_CHECKING:
    from errata.runs.suspicions import SuspiciousCount

MOST_REASONS = 2


def harness_title(run: Run) -> str:
    from errata.sources import harness_of

    harness = harness_of(run.source.name)
    return harness.titles.get(run.source.format_version, harness.title)


def counted_in(run: Run, unit: str) -> str:
    """`eval`, `turn`, `case`; `attempt` where a case has several, whatever the harness calls them."""
    from errata.sources import harness_of

    return "attempt" if unit == "attempts" else harness_of(run.source.name).unit or "case"


def repeated_rows(stored: StoredRun, unit: str) -> int:
    """Where each case was to be tried once: the rows beyond the first of a case."""
    return stored.counts.counted - stored.counts.cases if unit == "cases" else 0


def attempts_in_words(stored: StoredRun) -> str:
    """`29 attempts (1 unfinished), 2 missing`."""
    unfinished = stored.counts.executions.get("unfinished", 0)
    made = f"{plural(stored.counts.attempts_in_log, 'attempt')}{f' ({unfinished:,} unfinished)' if unfinished else ''}"
    return ", ".join([made, *beside(stored)])


def failures_in_words(stored: StoredRun) -> str:
    """`8 failures`; of judged turns `8 failures (7 failed rows, 1 not scored)`."""
    words, unjudged = plural(stored.counts.failures, "failure"), without_verdict(stored)
    if not unjudged:
        return words
    return f"{words} ({plural(stored.counts.failures - unjudged, 'failed row')}, {unjudged:,} not scored)"


def results_in_words(stored: StoredRun) -> str:
    """`30 attempts, 2 failures`; of numbers `30 attempts, mean 0.66`, and failures only where there are some."""
    mean, failures = stored.counts.mean, stored.counts.failures
    parts = [] if mean is None else [f"mean {mean_words(mean)}"]
    parts += [label_words(stored.counts.labels)] if stored.counts.has_only_labels else []
    return ", ".join(
        [attempts_in_words(stored), *parts, *([failures_in_words(stored)] if failures or not parts else [])]
    )


def without_verdict(stored: StoredRun) -> int:
    """Of judged turns: failures without a failed dimension, because the judge gave no verdict."""
    from errata.sources import harness_of

    if not harness_of(stored.run.source.name).judges_turns:
        return 0
    return stored.counts.measurements.get("unscored", 0) + stored.counts.measurements.get("error", 0)


def beside(stored: StoredRun) -> list[str]:
    """Planned attempts that were never made, and attempts that are not in the log."""
    missing, untold = stored.counts.missing, cases_not_in_log(stored)
    parts = [f"{missing:,} missing"] if missing else []
    return [*parts, f"{untold:,} measured but not in the log"] if untold else parts


def title_of(run: Run, name: str) -> str:
    """One line that identifies a run."""
    suite = ", ".join(part for part in (run.suite, *variant_of(run)) if part)
    date = (run.started_at or "")[:10]
    named = f"Run {name} ({run.native_id})" if needs_native_id(run, name) else f"Run {name}"
    label = subject_label(run)
    model = "" if label in (name, run.native_id) else label
    return " · ".join(part for part in (named, model, stand_in_note(run), suite, date) if part)


def stand_in_note(run: Run) -> str:
    """Of a run without a model: `reference solutions, not a model`."""
    from errata.model.attempt import stand_in_of

    return {"reference": "reference solutions, not a model", "nothing": "does nothing, not a model"}.get(
        stand_in_of(run), ""
    )


def passes_in_words(passes: int, odd: "SuspiciousCount") -> str:
    """`3 of 20 passes look suspicious, 2 more with weak signs only`."""
    look = "looks" if odd.suspicious == 1 else "look"
    suspicious = f"{odd.suspicious:,} of {plural(passes - odd.contradictory, 'pass', 'passes')} {look} suspicious"
    weak = f", {odd.only_weak:,}{' more' if odd.suspicious else ''} with weak signs only" if odd.only_weak else ""
    return f"{suspicious}{weak}"


def passes_with_reasons(passes: int, odd: "SuspiciousCount") -> str:
    """`3 of 20 passes look suspicious: 2 × the subject changed tests; 1 × no check looked at the answer`."""
    from errata.triage.suspicious import MEANS

    reasons = [f"{often:,} × {MEANS[sign]}" for sign, often in odd.signs.items()]
    if [*odd.signs.values()] == [odd.suspicious]:
        reasons = [MEANS[sign] for sign in odd.signs]
    listed = "; ".join(reasons[:MOST_REASONS])
    return f"{passes_in_words(passes, odd)}{f': {listed}' if listed else ''}"
