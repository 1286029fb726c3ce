"""Which files lm-evaluation-harness wrote: results by their first bytes, samples by their first row."""

import re
from pathlib import Path

from errata.sources.base import Match, head_of
from errata.sources.lm_eval.layout import SAMPLES_FILE
from errata.sources.shared.documents import children, is_file

HEAD = 256 * 1024

_DOCUMENT = re.compile(rb'\s*\{\s*"')
_RESULTS = re.compile(rb'\s*\{\s*"results"\s*:\s*\{')
# a measure and, behind a comma, the filter that took the answer out of the text
_MEASURE = re.compile(rb'(?<!\\)"[^"\\,{}]+,[\w.+ -]+"\s*:\s*(?:-?[\d.]|"N/A"|NaN)')
_CONFIGURED = tuple(
    re.compile(rb'(?<!\\)"' + name + rb'"\s*:') for name in (b"configs", b"doc_to_target", b"output_type")
)
_ROW = re.compile(rb'\s*(?:\[\s*)?\{\s*"doc_id"\s*:\s*\d+\s*,\s*"doc"\s*:')


def recognise(path: Path) -> Match | None:
    head = head_of(path, HEAD)
    if is_results(head):
        return Match.sure("`results` by measure and filter")
    if is_samples(head):
        return Match.sure("rows with `doc_id` and `doc`")
    return None


def read_with(path: Path) -> Path | None:
    """Of samples: the results that stand beside them, and are read together with them."""
    return results_of(path) if is_samples(head_of(path, HEAD)) else None


def is_results(head: bytes) -> bool:
    if _RESULTS.match(head) and _MEASURE.search(head):
        return True
    return bool(_DOCUMENT.match(head)) and all(name.search(head) for name in _CONFIGURED)


def is_samples(head: bytes) -> bool:
    return bool(_ROW.match(head))


def results_of(samples: Path) -> Path | None:
    """The results whose reading takes these samples along: those of the same time, else the only ones in the folder."""
    named = SAMPLES_FILE.fullmatch(samples.name)
    if named is not None and named["time"]:
        beside = samples.with_name(f"results_{named['time']}.json")
        if is_file(beside):
            return beside if is_results(head_of(beside, HEAD)) else None
    found = [child for child in children(samples.parent) if _may_be_any_ones(child)]
    return found[0] if len(found) == 1 else None


def samples_of(results: Path) -> list[Path]:
    """The files of samples that belong to these results; one whose first row is damaged is known by its name."""
    rows = [child for child in children(results.parent) if child.suffix in (".jsonl", ".json") and child != results]
    found = [child for child in rows if SAMPLES_FILE.fullmatch(child.name) or is_samples(head_of(child, HEAD))]
    return [child for child in found if results_of(child) == results]


def _may_be_any_ones(file: Path) -> bool:
    return file.suffix == ".json" and is_results(head_of(file, HEAD))
