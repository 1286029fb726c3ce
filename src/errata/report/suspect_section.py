"""The section about suspect tasks, in reports about one run and about several."""

from errata.model.suspects import SuspectTask, SuspectTasks
from errata.render.document import Block, Section, items, marked, paragraph, table
from errata.render.figures import plural
from errata.render.suspects import (
    NOTE,
    category_in_words,
    counts_in_words,
    evidence_in_words,
    heading,
    only_counts,
    review_in_words,
)
from errata.text.clean import one_line

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
        quote = f": `{one_line(evidence.quote).replace('`', chr(39))}`" if evidence.quote else ""
        parts.append(f"{evidence_in_words(evidence, task)}{quote}")
    if task.review is not None:
        parts.append(review_in_words(task.review))
    return "; ".join(parts) or only_counts(task)
