"""Several runs on one page: how many there are before the first, and a line for each behind the last."""

from collections.abc import Sequence
from pathlib import PurePath

from errata.cli.output import number, put, say
from errata.cli.render.scores import figures
from errata.cli.table import put_table
from errata.compare.scores import Score
from errata.model.run import subject_label
from errata.runs.summary import Analysis
from errata.runs.view import RunView

HEADER = ("run", "model", "strict", "clean", "failures", "fit")


def tell_number(views: Sequence[RunView]) -> None:
    say(f"found     {len(views):,} runs, one page each; an overview is at the end\n", lines=True)


def file_of(analysis: Analysis) -> str:
    """The log that a run was read from."""
    run = analysis.stored.run
    return PurePath(run.ref.file if run.ref is not None else run.origin).name


def put_overview(views: Sequence[RunView]) -> None:
    put(f"\nOverview of {len(views):,} runs")
    put_table(HEADER, [_row(view) for view in views], right=("strict", "clean", "failures"), whole=("model",))


def _row(view: RunView) -> tuple[object, ...]:
    analysis = view.summary
    scores = analysis.scores.scores
    return (
        view.handle,
        subject_label(view.run) or "–",
        _score(scores["strict"]),
        _score(scores["clean"]),
        number(analysis.stored.counts.failures),
        "yes" if analysis.health.fit else "no",
    )


def _score(score: Score) -> str:
    counts, rate, _ = figures(score)
    return f"{counts} {rate}".strip()
