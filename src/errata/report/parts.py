"""What the documents of several profiles share: the score table, rates, counts in words."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from errata.compare.scores import note_text
from errata.model.output.report.batch import BatchReport
from errata.model.output.report.shared import ReviewCoverage, ScoreLine
from errata.model.suspects import SuspectTask, SuspectTasks
from errata.render.document import Block, Line, Section, Status, Table, items, line, marked, paragraph, table
from errata.render.figures import NONE, hundredths, left_out_reasons, mean_words, percent, plural
from errata.render.proof import (
    NOTE,
    category_in_words,
    counts_in_words,
    evidence_in_words,
    heading,
    only_counts,
    review_in_words,
)
from errata.text.clean import one_line
from errata.triage.rulesets import project_words

FAILED_ROW = "failed row"
"""What a report about several runs counts: a row where a check failed. A row without a verdict is a failure, too."""
NO_BUCKET = "No cause assigned yet"
LONGEST_LIST = 160


def answer_blocks(sentences: Iterable[str]) -> Iterator[Block]:
    """The first sentence is alone: a small screen has no room for more before the figures."""
    first, *rest = [one for one in sentences if one] or [""]
    if first:
        yield paragraph(first)
    if rest:
        yield paragraph(" ".join(rest))


def score_table(scores: Iterable[ScoreLine]) -> Table:
    scores = list(scores)
    rows = [
        (
            score.policy.replace("_", " "),
            *figures_of(score),
            interval(score),
            "; ".join(part for part in (left_out_words(score), score_note(score)) if part) or "nothing left out",
        )
        for score in scores
    ]
    heads = heads_of(scores)
    return table(("score", *heads, "95 % interval", "notes"), rows, right=heads)


def heads_of(scores: Iterable[ScoreLine]) -> tuple[str, str]:
    return ("values", "mean") if any(one.mean is not None for one in scores) else ("passed", "rate")


def figures_of(score: ScoreLine) -> tuple[str, str]:
    """`24/30` and `80.0 %`; of numbers how many they are, and their mean."""
    if not score.total:
        return NONE, percent(score.rate)
    if score.mean is not None:
        return f"n = {score.total:,}", mean_words(score.mean)
    return f"{score.passed}/{score.total}", percent(score.rate)


def left_out_words(score: ScoreLine) -> str:
    """`2 left out: provider 1, environment 1`."""
    count = sum(score.left_out.values())
    return f"{count} left out: {reasons_words(score)}" if count else ""


def reasons_words(score: ScoreLine) -> str:
    return left_out_reasons(score.left_out)


def score_note(score: ScoreLine) -> str:
    parts = [note_text(score.note)] if score.note else []
    if score.recovered:
        parts.append(f"{score.recovered:,} recovered from an earlier session")
    if score.reproduced is not None:
        parts.append(
            "the harness's own number, reproduced" if score.reproduced else f"the harness reports {score.stated}"
        )
    return "; ".join(parts)


def interval(score: ScoreLine) -> str:
    if score.low is None or score.high is None:
        return NONE
    if score.mean is not None:
        return f"{mean_words(score.low)} to {mean_words(score.high)}"
    return f"{hundredths(score.low)}–{hundredths(score.high)}"


def in_common(parameters: Mapping[str, str]) -> str:
    """The parameters that all failures of a cause share."""
    return ", ".join(f"{name} {value}" for name, value in parameters.items())


def name_list(cases: Sequence[str], most: int = 12) -> str:
    """Each once, with a count where several attempts have its name."""
    counts = Counter(cases)
    named = [case if often == 1 else f"{case} ({often:,}×)" for case, often in counts.items()]
    shown = ", ".join(named[:most])
    return f"{shown} and {len(named) - most:,} more" if len(named) > most else shown


def short_list(cases: Sequence[str], most: int, *, shorter: int = 0) -> str:
    """The same in a line or two: of long ids, `shorter` are named, else they are counted."""
    named = name_list(cases, most)
    if len(named) <= LONGEST_LIST:
        return named
    return name_list(cases, shorter) if shorter else plural(len(set(cases)), "case")


def status_of(reading: ReviewCoverage) -> Status | None:
    """Of a report about one run; none where nothing failed."""
    if not reading.failures:
        return None
    return "provisional" if reading.status == "provisional" else "reviewed"


def coverage_line(reading: ReviewCoverage, unit: str = "failure") -> Line:
    """How many failures were reviewed; `unit` is what the report calls them."""
    project = f"; uses the project's {project_words(reading.project)}" if reading.project else ""
    if not reading.failures:
        return line(f"no {unit}s to review{project}")
    rest = reading.failures - reading.read - reading.inherited
    parts = [f"{reading.read:,} of {plural(reading.failures, unit)} reviewed", _by(reading), _pending(reading)]
    parts.append(f", {reading.inherited} copied from identical crashes" if reading.inherited else "")
    parts.append(f"; {_assigned(rest, reading.by_default)}" if rest else "")
    parts.append(f"; {_second(reading)}" if reading.read else "")
    parts.append(f"; {reading.disputed} disputed" if reading.disputed else "")
    return line("".join((*parts, project)))


def _assigned(owners: int, by_default: int) -> str:
    """`4 owners assigned by rules, 5 failures presumed to be the model's`: no rule names another owner."""
    by_rules = owners - by_default
    parts = [f"{plural(by_rules, 'owner')} assigned by rules"] if by_rules else []
    parts += [f"{plural(by_default, 'failure')} presumed to be the model's"] if by_default else []
    return ", ".join(parts)


def _by(reading: ReviewCoverage) -> str:
    return f" by {' and '.join(reading.by)}" if reading.by else ""


def _pending(reading: ReviewCoverage) -> str:
    count = reading.read - reading.final
    return f" ({count} {'needs' if count == 1 else 'need'} a second reviewer)" if count else ""


def _second(reading: ReviewCoverage) -> str:
    return f"{reading.second} reviewed twice" if reading.second else "none reviewed twice"


def fit_badge(*fit: bool) -> str:
    """Of a page about these runs; empty where all are fit."""
    unfit = fit.count(False)
    if not unfit:
        return ""
    return "NOT FIT for comparison" if len(fit) == 1 else f"{unfit} of {plural(len(fit), 'run')} NOT FIT for comparison"


def batch_name(report: BatchReport) -> str:
    return report.name if report.name.lower().startswith("batch") else f"batch {report.name}"


def decisive_words(step: int | None, agent: str, second: int | None) -> str:
    """`7, by Planner (second candidate: 4)`; empty where no step is named."""
    if step is None:
        return ""
    return f"{step}{f', by {agent}' if agent else ''}{f' (second candidate: {second})' if second is not None else ''}"


# --- the section about suspect tasks, in reports about one run and about several


LISTED = 30


def suspects_section(suspects: SuspectTasks) -> Section:
    shown = suspects.tasks[:LISTED]
    blocks: list[Block] = [paragraph(f"{heading(suspects)}. {NOTE}")]
    rows = [(one.case, counts_in_words(one), marked(against(one))) for one in shown]
    blocks.append(table(("task", "passes", "against it"), rows))
    if len(shown) < suspects.total:
        blocks.append(paragraph(f"{plural(suspects.total - len(shown), 'more suspect task')} not shown."))
    if suspects.categories:
        blocks.append(paragraph("Categories with more tasks that no model passes than their pass rates explain:"))
        blocks.append(items(map(category_in_words, suspects.categories)))
    return Section(title="Suspect tasks", blocks=tuple(blocks))


def against(task: SuspectTask) -> str:
    """All that speaks against it, and the reader's verdict where there is one."""
    parts = []
    for evidence in task.evidence:
        quote = f"`{one_line(evidence.quote).replace('`', chr(39))}`" if evidence.quote else ""
        words = (evidence_in_words(evidence, task), one_line(evidence.stated), quote)
        parts.append(": ".join(filter(None, words)))
    if task.review is not None:
        parts.append(review_in_words(task.review))
    return "; ".join(parts) or only_counts(task)
