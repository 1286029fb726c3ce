"""Is what was measured worth anything?"""

from collections.abc import Iterator

from errata.checkup.survey import RunSurvey
from errata.checkup.words import NAMED, QUOTE_WIDTH, QUOTED, at_run, count, finding, names
from errata.model import Evidence, Finding
from errata.model.run import LISTS_EVERY_CHECK
from errata.text.clean import one_line

FEW = 10
HARDLY = 0.4
"""Krippendorff's alpha below which judges hardly agree more than chance would."""
DISPUTED = 0.1
MUCH = 0.2


def nothing_asserted(survey: RunSurvey) -> Iterator[Finding]:
    passed = survey.unchecked
    if passed.count and survey.run.source.name in LISTS_EVERY_CHECK:
        share = f"{passed.count:,} of {count(survey.outcomes['pass'], 'pass', 'passes')} met no assertion at all"
        text = f"{share}: such a pass proves nothing ({names(survey, passed)})"
        evidence = [Evidence(quote=seen.status, ref=seen.ref) for seen in passed.first[:3]]
        yield finding(survey, "nothing_asserted", "warning", text, evidence, passes=passed.count)


def nothing_changed(survey: RunSurvey) -> Iterator[Finding]:
    """Each of these passes may well be earned: to refuse what must be refused is work, too."""
    passed = survey.unchanged
    if passed.count:
        share = f"{passed.count:,} of {count(survey.outcomes['pass'], 'pass', 'passes')}"
        text = f"{share} only had to leave everything as it was: an agent that does nothing gets them, too"
        evidence = [Evidence(quote="", ref=seen.ref) for seen in passed.first[:1]]
        yield finding(
            survey, "nothing_changed", "info", f"{text} ({names(survey, passed)})", evidence, passes=passed.count
        )


def valueless_checks(survey: RunSurvey) -> Iterator[Finding]:
    """A mean over the others is no mean over all."""
    gaps = survey.gaps
    worst = [name for name, _ in gaps.empty.most_common(NAMED)]
    if not worst:
        return
    shares = ", ".join(f"`{name}` {gaps.empty[name]:,} of {gaps.asked[name]:,}" for name in worst)
    more = len(gaps.empty) - len(worst)
    text = f"no value in attempts that others measured: {shares}{f' and {more} more' if more else ''}"
    much = any(gaps.empty[name] >= MUCH * gaps.asked[name] for name in worst)
    evidence = [
        Evidence(quote=one_line(quote, QUOTE_WIDTH), ref=ref) for quote, ref in map(gaps.first.__getitem__, worst)
    ]
    values = gaps.empty.total()
    yield finding(survey, "valueless_checks", "warning" if much else "info", text, evidence[:QUOTED], values=values)


def judges_hardly_agree(survey: RunSurvey) -> Iterator[Finding]:
    panel, alpha = survey.panel, survey.panel.alpha
    if alpha is None or panel.shared < FEW or alpha >= HARDLY or panel.disputed < DISPUTED * panel.shared:
        return
    where = f"in {panel.disputed:,} of {count(panel.shared, 'attempt')}"
    text = f"the judges contradict each other {where}, hardly better than chance (alpha {alpha:.2f}): "
    text += "`errata consistency --judges` lists them"
    yield finding(survey, "judges_disagree", "info", text, at_run(survey), alpha=alpha, attempts=panel.disputed)
