"""Earlier reports, parsed with the labels in use and the names of a run's cases, through a cache."""

from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from pathlib import Path

from errata.memory.reading.labels import LabelWords
from errata.memory.reading.report import is_report, read_report
from errata.memory.reading.vocabulary import Vocabulary
from errata.memory.report_cache import ReportCache
from errata.memory.report_files import ReportFile
from errata.model.identity import fingerprint
from errata.model.prior_report import PriorReport
from errata.settings import local_file
from errata.store.database import Store
from errata.triage.rulesets import rules_in_use

MOST_CASES = 20_000
"""In larger suites, only names that look like cases are recognised in a sentence."""


def parse_reports(files: Iterable[ReportFile], keys: Sequence[str], store: Store) -> list[PriorReport]:
    """Files that are about a run; `keys` are the cases whose names they may use."""
    names = tuple(label.name for taxonomy in rules_in_use().taxonomies for label in taxonomy.label)
    known = frozenset(keys) if len(keys) <= MOST_CASES else frozenset[str]()
    words = fingerprint(names, sorted(known))
    beside = local_file(store.path)
    cache = _cache(beside.with_name(f"{beside.name}.reports"))

    def parse(file: ReportFile) -> PriorReport:
        return read_report(
            file.text,
            path=file.name,
            below=file.path.relative_to(file.folder).as_posix(),
            digest=file.digest,
            labels=_labels(names),
            cases=_vocabulary(known),
        )

    reports = [cache.get(fingerprint(file.digest, file.name, words, size=16), partial(parse, file)) for file in files]
    cache.save()
    return [report for report in reports if is_report(report)]


@lru_cache(maxsize=4)
def _cache(path: Path) -> ReportCache:
    return ReportCache(path)


@lru_cache(maxsize=8)
def _labels(names: tuple[str, ...]) -> LabelWords:
    return LabelWords(names)


@lru_cache(maxsize=8)
def _vocabulary(keys: frozenset[str]) -> Vocabulary:
    return Vocabulary(keys)
