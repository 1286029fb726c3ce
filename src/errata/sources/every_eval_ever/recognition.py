"""Is this a summary of every_eval_ever, or are these its instances? Told by the first fields."""

from pathlib import Path

from errata.sources.base import Match, head_of
from errata.sources.every_eval_ever.layout import HEAD, is_samples, is_summary, summary_of


def recognise(path: Path) -> Match | None:
    head = head_of(path, HEAD)
    if is_summary(head):
        return Match.sure("`evaluation_id`, `source_metadata` and `model_info`")
    if is_samples(head):
        return Match.sure("rows with `sample_id` and `interaction_type`")
    return None


def read_with(path: Path) -> Path | None:
    """Of instances: the summary that stands beside them, and is read together with them."""
    return summary_of(path) if is_samples(head_of(path, HEAD)) else None
