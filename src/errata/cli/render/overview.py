"""Several runs on one page: how many there are before the first, and a line for each behind the last."""

from collections.abc import Collection, Sequence
from pathlib import PurePath

from errata.cli.output import number, put, say
from errata.cli.render.scores import figures
from errata.cli.table import put_table
from errata.compare.scores import Score
from errata.model import Run
from errata.model.run import subject_label
from errata.runs.view import RunView

HEADER = ("run", "model", "strict", "clean", "failures", "fit")


def tell_number(views: Sequence[RunView]) -> None:
    say(f"found     {len(views):,} runs: a summary of each, then an overview\n", lines=True)


def files_of(views: Sequence[RunView]) -> list[str]:
    """The log of each run: its name, with as many folders before it as tell different logs apart."""
    logs = [_log_of(view.run) for view in views]
    return [_shortest(log, {other for other in logs if other != log}) for log in logs]


def _log_of(run: Run) -> PurePath:
    origin = PurePath(run.origin)
    return origin if run.ref is None or origin.name == PurePath(run.ref.file).name else origin / run.ref.file


def _shortest(log: PurePath, others: Collection[PurePath]) -> str:
    for count in range(1, len(log.parts)):
        ending = log.parts[-count:]
        if all(other.parts[-count:] != ending for other in others):
            return str(PurePath(*ending))
    return str(log)


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
