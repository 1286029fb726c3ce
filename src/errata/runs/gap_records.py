"""Which cases of a run have a known gap on record: in the store, or in earlier reports about any model."""

import re

from errata.memory.gaps import gap_for
from errata.memory.report_files import ReportFile
from errata.memory.spelling import folded
from errata.model import KnownGap, SourceRef, StoredRun
from errata.model.identity import fingerprint
from errata.model.prior_report import PriorFailure, PriorReport
from errata.runs.reports_in_use import Reports, reports_for, shelf_for
from errata.store.database import Store
from errata.store.memory import known_gaps
from errata.store.named_cases import case_keys
from errata.triage.across import Gaps, Recorded

_MENTIONED = re.compile(r"known[\W_]{0,8}gap", re.IGNORECASE)
IN_STORE = "known gaps"


def gaps_for(stored: StoredRun, store: Store) -> Gaps:
    """A report about this very run, or a later one, is no record: it may have been made from this."""
    if not stored.counts.failures:
        return Gaps()
    found = _in_store(stored, known_gaps(store, stored.run.suite), store)
    shelf = shelf_for(stored.run)
    if any(map(_tells_of_gaps, shelf.files)):
        for key, records in _in_reports(reports_for(stored, store, shelf, wanted=_tells_of_gaps)).items():
            found[key] = (*found.get(key, ()), *records)
    told = sorted((key, one.where, one.quote) for key, records in found.items() for one in records)
    return Gaps(found, version=fingerprint(told, size=4) if told else "")


def _tells_of_gaps(file: ReportFile) -> bool:
    return _MENTIONED.search(file.text) is not None


def _in_store(stored: StoredRun, gaps: list[KnownGap], store: Store) -> dict[str, tuple[Recorded, ...]]:
    keys = case_keys(store, pk=stored.pk) if gaps else []
    fitting = ((key, gap_for(key, gaps)) for key in keys)
    return {key: (Recorded(where=IN_STORE, quote=gap.text),) for key, gap in fitting if gap is not None}


def _in_reports(reports: Reports) -> dict[str, tuple[Recorded, ...]]:
    """Those about the same model first."""
    found: dict[str, tuple[Recorded, ...]] = {}
    for report in (*reports.shelved.same_model, *reports.shelved.others):
        calls = {one.case: one for one in report.failures}
        for case in report.gaps:
            keys = reports.names.find(case)
            if len(keys) == 1 and not _is_machinery(calls.get(case)):
                found[keys[0]] = (*found.get(keys[0], ()), _recorded(report, calls.get(case)))
    return found


# some call a failure of the provider or of the set-up a known gap, for want of another word; it is none of the case
_MACHINERY = re.compile(
    r"(?i)\b(?:infra\w*|provider|endpoint|rate[ -]?limit\w*|timed? ?out|network|connection|quota|unavailable|sandbox)\b"
)


def _is_machinery(failure: PriorFailure | None) -> bool:
    if failure is None:
        return False
    return folded(failure.failed_check) in _NO_STEP or _MACHINERY.search(failure.reasoning) is not None


_NO_STEP = frozenset(("none", "null", "n-a", "install"))


def _recorded(report: PriorReport, failure: PriorFailure | None) -> Recorded:
    line = failure.ref.line if failure is not None and failure.ref is not None else None
    ref = SourceRef(file=report.path, line=line)
    return Recorded(where=str(ref), quote=(failure.reasoning or failure.label) if failure else "", ref=ref)
