"""lm-evaluation-harness: a results document with the samples beside it, or samples alone."""

from collections.abc import Iterator
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import Match, children, head_of, is_file
from errata.text.lazy_regex import lazy_regex

NAME = "lm-eval"
TITLE = "lm-evaluation-harness: `results_*.json` with its `samples_*.jsonl`, or samples alone"
HARNESS = Harness(name=NAME, title=NAME)

HEAD = 256 * 1024
SAMPLES_FILE = lazy_regex(r"samples_(?P<task>.+?)(?:_(?P<time>\d{4}-\d\d-\d\dT[\d.:-]+\d))?\.jsonl?")

_DOCUMENT = lazy_regex(rb'\s*\{\s*"')
_RESULTS = lazy_regex(rb'\s*\{\s*"results"\s*:\s*\{')
# a measure and, after a comma, the filter that extracted the answer
_MEASURE = lazy_regex(rb'"(?<!\\")[^"\\,{}]+,[\w.+ -]+"\s*:\s*(?:-?[\d.]|"N/A"|NaN)')
_CONFIGURED = tuple(
    lazy_regex(rb'"(?<!\\")' + name + rb'"\s*:') for name in (b"configs", b"doc_to_target", b"output_type")
)
_ROW = lazy_regex(rb'\s*(?:\[\s*)?\{\s*"doc_id"\s*:\s*\d+\s*,\s*"doc"\s*:')


def recognise(path: Path) -> Match | None:
    head = head_of(path, HEAD)
    if _is_results(head):
        return Match.sure("`results` by measure and filter")
    if is_samples(head):
        return Match.sure("rows with `doc_id` and `doc`")
    return None


def read(path: Path) -> Iterator[Item]:
    from errata.sources.lm_eval.reader import read as read_log

    return read_log(path)


def read_with(path: Path) -> Path | None:
    """For samples: the results beside them, which are read together with them."""
    return results_of(path) if is_samples(head_of(path, HEAD)) else None


def is_samples(head: bytes) -> bool:
    return bool(_ROW.match(head))


def results_of(samples: Path) -> Path | None:
    """The results that these samples are read with: those with the same time, otherwise the only ones in the folder."""
    name = SAMPLES_FILE.fullmatch(samples.name)
    if name is not None and name["time"]:
        beside = samples.with_name(f"results_{name['time']}.json")
        if is_file(beside):
            return beside if _is_results(head_of(beside, HEAD)) else None
    candidates = [file for file in children(samples.parent) if file.suffix == ".json"]
    results = [file for file in candidates if _is_results(head_of(file, HEAD))]
    return results[0] if len(results) == 1 else None


def _is_results(head: bytes) -> bool:
    if _RESULTS.match(head) and _MEASURE.search(head):
        return True
    return bool(_DOCUMENT.match(head)) and all(name.search(head) for name in _CONFIGURED)
