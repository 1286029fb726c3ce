"""Is what was measured worth anything?"""

from collections.abc import Iterator
from itertools import islice

from errata.checkup.survey import RunSurvey
from errata.checkup.words import NAMED, QUOTE_WIDTH, QUOTED, at_run, case_name, finding, names
from errata.model import Evidence, Finding
from errata.model.run import LISTS_EVERY_CHECK
from errata.model.words import Severity
from errata.render.figures import plural
from errata.text.clean import one_line

FEW = 10
HARDLY = 0.4
"""Krippendorff's alpha below which judges hardly agree more than chance would."""
DISPUTED = 0.1
MUCH = 0.2
PAIRS_NAMED = 3


def nothing_asserted(survey: RunSurvey) -> Iterator[Finding]:
    passed = survey.unchecked
    if passed.count and survey.run.source.name in LISTS_EVERY_CHECK:
        share = f"{passed.count:,} of {plural(survey.outcomes['pass'], 'pass', 'passes')} met no assertion at all"
        text = f"{share}: such a pass proves nothing ({names(survey, passed)})"
        evidence = [Evidence(quote="", stated=seen.status, ref=seen.ref) for seen in passed.first[:3]]
        yield finding(survey, "nothing_asserted", "warning", text, evidence, passes=passed.count)


def nothing_changed(survey: RunSurvey) -> Iterator[Finding]:
    """Each of these passes may well be earned: to refuse what must be refused is work, too."""
    passed = survey.unchanged
    if passed.count:
        share = f"{passed.count:,} of {plural(survey.outcomes['pass'], 'pass', 'passes')}"
        text = f"{share} needed no change to the environment, so doing nothing passes, too"
        evidence = [Evidence(quote="", ref=seen.ref) for seen in passed.first[:1]]
        yield finding(
            survey, "nothing_changed", "info", f"{text} ({names(survey, passed)})", evidence, passes=passed.count
        )


def valueless_checks(survey: RunSurvey) -> Iterator[Finding]:
    """A mean over the others is not a mean over all."""
    gaps = survey.gaps
    worst = [name for name, _ in gaps.empty.most_common(NAMED)]
    if not worst:
        return
    shares = ", ".join(f"`{name}` {gaps.empty[name]:,} of {gaps.asked[name]:,}" for name in worst)
    more = len(gaps.empty) - len(worst)
    text = f"no value in attempts that others measured: {shares}{f' and {more} more' if more else ''}"
    much = any(gaps.empty[name] >= MUCH * gaps.asked[name] for name in worst)
    evidence = [
        Evidence(stated="" if quote else "without a value", quote=one_line(quote, QUOTE_WIDTH), ref=ref)
        for quote, ref in map(gaps.first.__getitem__, worst)
    ]
    values = gaps.empty.total()
    yield finding(survey, "valueless_checks", "warning" if much else "info", text, evidence[:QUOTED], values=values)


def judge_contradicts_program(survey: RunSurvey) -> Iterator[Finding]:
    """Both were asked whether the answer is right. Which of them is wrong, only a reader can decide."""
    for pair in islice(survey.disagreements.disputed(), PAIRS_NAMED):
        share = f"{pair.disputed:,} of {plural(pair.shared, 'attempt')}"
        text = f"judge `{pair.judge}` and program `{pair.program}` disagree in {share}: "
        text += f"{pair.lenient:,} × only the judge passes, {pair.strict:,} × only the program passes"
        cases = dict.fromkeys(case_name(survey, seen.case) for seen in pair.first)
        text += f" ({', '.join(cases)}{' …' if pair.disputed > len(pair.first) else ''})"
        if pair.disputed_passes and pair.disputed_passes == survey.outcomes["pass"]:
            which = f"all {pair.disputed_passes:,} passes" if pair.disputed_passes > 1 else "the only pass"
            text += f"; they disagree on {which} of the run"
        often = pair.disputed >= MUCH * pair.shared and pair.disputed > 1
        evidence = [
            Evidence(stated=seen.verdicts, quote=one_line(seen.explanation, QUOTE_WIDTH), ref=seen.ref)
            for seen in pair.first
        ]
        yield finding(
            survey,
            "judge_contradicts_program",
            "warning" if often else "info",
            text,
            evidence,
            attempts=pair.disputed,
            of=pair.shared,
            only_judge_passes=pair.lenient,
            only_program_passes=pair.strict,
            disputed_passes=pair.disputed_passes,
        )


def values_not_understood(survey: RunSurvey) -> Iterator[Finding]:
    """Values in the columns of a mapping that could not be converted. Unknown status words are counted elsewhere."""
    for name, counts in survey.run.extra.get("not_understood", {}).items():
        if name == "status":
            continue
        commonest = sorted(counts.items(), key=lambda item: -item[1])[:QUOTED]
        listed = ", ".join(f"{often:,} × `{one_line(value, 40)}`" for value, often in commonest)
        more = len(counts) - len(commonest)
        total = sum(counts.values())
        text = f"{plural(total, 'value')} of `{name}` could not be understood: {listed}"
        text += f" and {plural(more, 'other')}" if more else ""
        severity: Severity = "warning" if name in ("passed", "score") else "info"
        yield finding(survey, "values_not_understood", severity, text, at_run(survey), values=total)


def ambiguous_columns(survey: RunSurvey) -> Iterator[Finding]:
    pairs = survey.run.extra.get("ambiguous_columns", [])
    if pairs:
        text = f"a name in the mapping could mean two columns, the first is read: {', '.join(pairs[:NAMED])}"
        yield finding(survey, "ambiguous_columns", "warning", text, at_run(survey), columns=len(pairs))


def judges_hardly_agree(survey: RunSurvey) -> Iterator[Finding]:
    panel, alpha = survey.panel, survey.panel.alpha
    if alpha is None or panel.shared < FEW or alpha >= HARDLY or panel.disputed < DISPUTED * panel.shared:
        return
    where = f"in {panel.disputed:,} of {plural(panel.shared, 'attempt')}"
    text = f"the judges contradict each other {where}, hardly better than chance (alpha {alpha:.2f}): "
    text += "`errata consistency --judges` lists them"
    yield finding(survey, "judges_disagree", "warning", text, at_run(survey), alpha=alpha, attempts=panel.disputed)
