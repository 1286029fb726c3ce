"""Suspect tasks on a page: what speaks against each, those with evidence first."""

from collections.abc import Sequence

from errata.cli.output import plural, put, put_command
from errata.model.suspects import SuspectTask, SuspectTasks
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

MOST = 8
MOST_BY_COUNTS = 12
MOST_CATEGORIES = 4
INDENT = 9


def put_suspects(suspects: SuspectTasks, handle: str, *, every: bool = False) -> None:
    """The first of them, or all. Without any, the number of tasks that nobody passes; nothing where that is 0."""
    if not suspects and not suspects.failed_by_all:
        return
    put(f"{'Suspect':<{INDENT - 1}} {heading(suspects)}", hang=INDENT)
    shown = suspects.tasks if every else _first(suspects)
    if any(not task.evidence and task.review is None for task in shown):
        put(f"{'':<{INDENT}}{NOTE}", hang=INDENT)
    for task in shown:
        if task.evidence or task.review is not None:
            _put_task(task)
    _put_by_counts([task for task in shown if not task.evidence and task.review is None])
    for category in suspects.categories if every else suspects.categories[:MOST_CATEGORIES]:
        put(f"{'':<{INDENT}}Category {category_in_words(category)}", hang=INDENT + 2)
    if len(shown) < suspects.total:
        left = suspects.total - len(shown)
        put_command("", ["errata", "review", "tasks", handle], f"{plural(left, 'more suspect task')}")


def _first(suspects: SuspectTasks) -> list[SuspectTask]:
    with_evidence = [task for task in suspects.tasks if task.evidence][:MOST]
    return with_evidence + [task for task in suspects.tasks if not task.evidence][:MOST_BY_COUNTS]


def _put_by_counts(tasks: Sequence[SuspectTask]) -> None:
    alike: dict[str, list[str]] = {}
    for task in tasks:
        alike.setdefault(f"{counts_in_words(task)}; {only_counts(task)}", []).append(one_line(task.case))
    for words, names in alike.items():
        put(f"{'':<{INDENT}}{', '.join(names)}: {words}", hang=INDENT + 2)


def _put_task(task: SuspectTask) -> None:
    name = one_line(task.case)
    put(f"{'':<{INDENT}}{name}: {counts_in_words(task)}", hang=INDENT + 2)
    for evidence in task.evidence:
        words = (evidence_in_words(evidence, task), one_line(evidence.stated), one_line(evidence.quote))
        put(f"{'':<{INDENT + 2}}{': '.join(filter(None, words))}", hang=INDENT + 4)
    if task.review is not None:
        put(f"{'':<{INDENT + 2}}{review_in_words(task.review)}", hang=INDENT + 4)
