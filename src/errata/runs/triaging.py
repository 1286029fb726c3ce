"""The verb `triage`: every failure gets its provisional owner, on import and when rules change."""

from collections.abc import Callable, Iterable, Iterator

from errata import triage
from errata.model import StoredRun
from errata.runs.across import across_version, look_across
from errata.runs.evidence import failures_with_evidence
from errata.runs.gap_records import gaps_for
from errata.runs.importing import PathSummary
from errata.runs.rules import rules_in_use
from errata.store.attributions import Kept, keep_attributions, mark_triaged, rules_version_of
from errata.store.database import Store
from errata.store.runs import run_by_id
from errata.triage.across import Across
from errata.triage.gaps import Gaps


def triage_run(stored: StoredRun, store: Store, rules: triage.Rules | None = None) -> int:
    """Attribute every failure anew; how many there are."""
    rules = rules or rules_in_use()
    across, gaps = look_across(stored, store), gaps_for(stored, store)
    counts = stored.counts
    survey = triage.Survey()
    made = keep_attributions(store, stored.pk, _attributed(stored, store, rules, across, gaps, survey=survey))
    wide = survey.result(counts.made)
    if wide:  # what only the whole run shows is rare: it is worth a second pass, not one for every run
        keep_attributions(store, stored.pk, _attributed(stored, store, rules, across, gaps, wide=wide))
    mark_triaged(store, stored.pk, _version(rules, across.version, gaps.version))
    return made


def triage_if_needed(stored: StoredRun, store: Store) -> None:
    """Only where the run was not triaged yet, or with other rules, or other runs or reports say something new."""
    if not stored.counts.failures:
        return
    rules = rules_in_use()
    version = _version(rules, across_version(stored, store), gaps_for(stored, store).version)
    if rules_version_of(store, stored.pk) != version:
        triage_run(stored, store, rules)


def triage_imported(
    summaries: Iterable[PathSummary], store: Store, *, on_run: Callable[[], None] = lambda: None
) -> None:
    """Every run of an import that is new or has changed; the others have their attributions."""
    for imported in (run for summary in summaries for run in summary.runs):
        triage_if_needed(run_by_id(store, imported.id), store)
        on_run()


def _version(rules: triage.Rules, across: str, gaps: str) -> str:
    return "".join([rules.version, f"+{across}" if across else "", f"+gaps-{gaps}" if gaps else ""])


def _attributed(
    stored: StoredRun,
    store: Store,
    rules: triage.Rules,
    across: Across,
    gaps: Gaps,
    *,
    survey: triage.Survey | None = None,
    wide: triage.RunWide | None = None,
) -> Iterator[Kept]:
    source = stored.run.source.name
    for seq, attempt, case in failures_with_evidence(stored, store):
        if survey is not None:
            survey.add(attempt)
        observed = triage.observe(stored.run, attempt, case, wide, rules)
        if across:
            observed += across.observe(attempt, case)
        if gaps:
            observed += gaps.observe(attempt)
        attribution = triage.attribute(attempt, observed, source=source, rules=rules)
        yield seq, attribution, any(one.breaks for one in observed)
