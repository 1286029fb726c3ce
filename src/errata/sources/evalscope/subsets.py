"""The samples of a subset: what was answered and reviewed, and what left no row."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from errata.model import Attempt, Item, case_key
from errata.sources.base import Row, convert_each
from errata.sources.evalscope.attempts import items_of
from errata.sources.evalscope.layout import NAME, Subset
from errata.sources.evalscope.sample import Index, Reading, Sample
from errata.sources.shared.row_groups import Lines, lines_of


class Samples:
    """Reviews with their predictions, then predictions that were never reviewed."""

    def __init__(self, root: Path, subset: Subset, reading: Reading) -> None:
        self._root, self._subset, self._reading = root, subset, reading
        self._seen: set[int] = set()

    def items(self) -> Iterator[Item]:
        with ExitStack() as stack:
            opened = (self._lines(path, stack) for path in (self._subset.predictions, self._subset.reviews))
            predictions, reviews = opened
            if reviews is not None:
                yield from convert_each(reviews.together(), partial(self._reviewed, predictions), source=NAME)
            if predictions is not None:
                yield from convert_each(predictions.together(), self._only_predicted, source=NAME)
            yield from self._absent([one for one in (predictions, reviews) if one is not None])

    def _lines(self, path: Path | None, stack: ExitStack) -> Lines | None:
        try:
            made = lines_of(path, Index, Index.key, source=NAME, root=self._root) if path else None
            return stack.enter_context(made) if made else None
        except OSError:
            return None

    def _reviewed(self, predictions: Lines | None, row: Row) -> Iterator[Item]:
        """A row that was written again is the newer one."""
        review = row.data[-1]
        found = predictions.of(review.data["index"]) if predictions is not None else ()
        return items_of(self._reading, self._seen, Sample(found[-1] if found else None, review))

    def _only_predicted(self, row: Row) -> Iterator[Item]:
        return items_of(self._reading, self._seen, Sample(row.data[-1], None))

    def _absent(self, files: list[Lines]) -> Iterator[Attempt]:
        """What was asked for and left no row. Where all of it is counted as errors, that is what it was.

        Where more were measured than there are rows, nobody knows which ones: the run says how many.
        """
        reading = self._reading
        asked = reading.report.asked(reading.subset) or 0
        there = sum(1 for number in range(asked) if any(number in file for file in files))
        if reading.report.measured(reading.subset) > there:
            return
        errored = asked - there and reading.report.errored(reading.subset) >= asked - there
        for number in range(asked):
            name, index = reading.case(number // reading.repeats), number % reading.repeats + 1
            if hash((name, index)) not in self._seen and not any(number in file for file in files):
                yield Attempt(
                    run=reading.run.id,
                    case=case_key(reading.run.suite, name),
                    index=index,
                    execution="error" if errored else "missing",
                    measurement="not_run",
                    outcome="none",
                    native_status="errored" if errored else "",
                    ref=reading.report.ref.below("execution_summary", "subsets", reading.subset),
                )
