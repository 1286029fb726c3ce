"""A gate or a comparison as a comment on a pull request, found again by its marker; and as JUnit XML."""

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import Literal, NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

from errata.compare.gate import CaseChange, ChangeKind, Gate, GateCode
from errata.compare.scores import POLICY_NAMES, Score
from errata.model import StoredRun
from errata.model.gate import CodeRef
from errata.model.run import subject_label
from errata.render.document import Block, Code, LineContent, OwnerName, Strong, items, line, marked, paragraph, table
from errata.render.figures import hundredths, p_value, percent, plural
from errata.render.markdown import GAP, blocks_to_markdown, inline_text
from errata.runs.first_page import GATE_PASSED, NO_DROP, NO_NEW_FAILURES
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import short_line


class CaseGroup(NamedTuple):
    key: str
    title: str
    """With the number of its cases."""
    note: str
    cases: tuple[CaseChange, ...]
    is_open: bool = False
    """Whether readers see it at once."""


def headline(gate: Gate) -> str:
    """The verdict and its first reason."""
    if gate.verdict == "passed":
        if gate.given.doubted:
            return f"{GATE_PASSED}, but the checkup doubts results that count"
        changes = gate.given.changes
        if changes is None:
            return GATE_PASSED
        drop = changes.drop
        if drop is not None and gate.rules.max_drop and drop.interval is not None and drop.interval[0] > 0:
            return f"{GATE_PASSED}: {_drop_words(gate)}, which --max-drop {gate.rules.max_drop:g} allows"
        return NO_DROP if drop is not None and drop.of_numbers else NO_NEW_FAILURES
    words = {"failed": "Gate FAILED", "not_comparable": "Gate NOT COMPARABLE"}[gate.verdict]
    return f"{words}: {_SHORT[gate.codes[0]](gate)}"


_SHORT: dict[GateCode, Callable[[Gate], str]] = {
    "not_fit": lambda _: "the run is NOT FIT",
    "not_comparable": lambda gate: _not_comparable(gate),
    "nothing_shared": lambda _: "no case was measured in both runs",
    "no_score": lambda gate: f"the run has no {_policy(gate)} score",
    "no_baseline": lambda _: "there is no baseline",
    "new_failures": lambda gate: _new_failures(gate),
    "missing_cases": lambda gate: f"{_missing(gate)} missing",
    "score_below": lambda gate: f"the {_policy(gate)} score is below {percent(gate.rules.min_score)}",
    "score_dropped": lambda _: "the score is worse than in the baseline",
    "stale_allowances": lambda gate: plural(len(gate.stale), "stale allow-list entry", "stale allow-list entries"),
}


def _not_comparable(gate: Gate) -> str:
    """A baseline without a single result is no other measurement: it is none."""
    if _is_baseline_unscored(gate):
        return "no attempt of the baseline was scored; choose another baseline"
    return "the runs did not measure the same thing"


def _is_baseline_unscored(gate: Gate) -> bool:
    baseline = gate.given.baseline
    return baseline is not None and not baseline.counts.measurements.get("scored")


def reasons(gate: Gate) -> Iterator[str]:
    """A sentence for each reason why it did not pass, without those that the headline states in full."""
    for at, code in enumerate(gate.codes):
        if at or code != "new_failures":
            yield from _reason(gate, code)


def _new_failures(gate: Gate) -> str:
    presumed = sum(one.failure.is_presumed for one in gate.new)
    note = f", {presumed} of them only presumed to be the model's" if presumed else ""
    fail = "fails" if len(gate.new) == 1 else "fail"
    return f"{plural(len(gate.new), 'case')} passed in the baseline and {fail} now{note}."


def _reason(gate: Gate, code: GateCode) -> Iterator[str]:
    given = gate.given
    match code:
        case "not_fit":
            # the headline has named the verdict where this is its first reason
            if code == gate.codes[0]:
                yield from (f"{problem}." for problem in given.problems)  # it may begin with the name of a case
            else:
                yield f"The run is NOT FIT: {'; '.join(given.problems)}."
        case "not_comparable" if _is_baseline_unscored(gate):
            pass  # the headline has it
        case "not_comparable":
            yield f"{given.refusal}."
            yield from given.differences
        case "nothing_shared":
            yield "No case was measured in both runs."
        case "no_score":
            note = f": {gate.score.note}" if gate.score.note else ""
            yield f"The run has no {_policy(gate)} score{note}."
        case "no_baseline":
            yield from (f"{why}." for why in given.differences or ("No baseline was named",))
        case "new_failures":
            yield _new_failures(gate)
        case "missing_cases":
            yield f"{_missing(gate)} in the baseline and not in this run."
        case "score_below":
            yield f"The {_policy(gate)} score {score_words(gate.score)} is below {percent(gate.rules.min_score)}."
        case "score_dropped":
            more = f", by more than {gate.rules.max_drop:g}" if gate.rules.max_drop else ""
            yield f"The score is worse than in the baseline{more}: {_drop_words(gate)}."
        case "stale_allowances":
            for entry in gate.stale:
                state = "passes now" if entry.name in given.case_states else "is not in this run"
                yield f"Stale allow-list entry in line {entry.line}: `{entry.name}` {state}. Remove the entry."


def notes(gate: Gate) -> Iterator[str]:
    given = gate.given
    for code in gate.notes:
        match code:
            case "too_few_cases":
                yield (
                    f"Too few cases to tell: the interval of the {_policy(gate)} score {score_words(gate.score)} "
                    f"includes the bar of {percent(gate.rules.min_score)}."
                )
            case "drop_in_doubt":
                yield f"Too few cases to tell whether the score dropped: {_drop_words(gate)}."
            case "baseline_not_fit":
                yield from _baseline_warning(gate)
            case "no_baseline":
                why = f" {given.differences[0]}." if given.differences else ""
                yield f"Not compared with a baseline: only the fit and the score were checked.{why}"
    if gate.verdict == "passed":
        yield from (f"Doubted: {text}." for text in given.doubted if text not in given.baseline_problems)
    if given.changes is not None and given.changes.of("regressed"):
        test = given.changes.test
        significant = "significant" if test.differs else "not significant"
        fails = "fails" if test.only_second_fails == 1 else "fail"
        yield (
            f"Of {plural(test.shared, 'case')} without infrastructure failures, {test.only_second_fails:,} {fails} "
            f"only in this run and {test.only_first_fails:,} only in the baseline: {significant} "
            f"(exact McNemar, {p_value(test.p)})."
        )
        if gate.new and not test.differs:
            yield "A gate fails on any new failure, significant or not."


def _drop_words(gate: Gate) -> str:
    drop = gate.given.changes.drop if gate.given.changes is not None else None
    if drop is None:
        return "no case is in both"
    between = f" [{drop.interval[0]:.3g}, {drop.interval[1]:.3g}]" if drop.interval is not None else ""
    return f"{drop.value:.3g} worse over {plural(drop.cases, 'case')}{between}, {p_value(drop.p)}"


def _baseline_warning(gate: Gate) -> Iterator[str]:
    """One sentence where cases without a result are all that is wrong with it."""
    given = gate.given
    executions = given.baseline.counts.executions if given.baseline is not None else {}
    missing, unfinished = executions.get("missing", 0), executions.get("unfinished", 0)
    gaps = [f"{plural(missing, 'case')} missing"] if missing else []
    gaps += (
        [f"{unfinished:,} unfinished" if missing else f"{plural(unfinished, 'case')} unfinished"] if unfinished else []
    )
    if gaps and len(given.baseline_problems) == len(gaps):
        which = "that case was" if missing + unfinished == 1 else "those cases were"
        yield f"Warning: the baseline is incomplete ({', '.join(gaps)}); {which} not compared."
        return
    if given.baseline_problems:
        yield f"Warning: the baseline is NOT FIT: {'; '.join(given.baseline_problems)}."


def groups(gate: Gate) -> Iterator[CaseGroup]:
    """The cases that changed, the most important first; empty groups are left out."""
    changes = gate.given.changes
    if changes is None:
        return
    added = changes.of("added")
    failing = sum(one.fails for one in added)
    follow = tuple(one for one in gate.infrastructure if one.failure.owner == "collateral")
    struck = tuple(one for one in gate.infrastructure if one.failure.owner != "collateral")
    listed = (
        ("new", "New failures", "", gate.new),
        ("others", _others(gate), "Not counted by this gate.", gate.others),
        ("allowed", "Regressed, on the allow-list", "Not counted.", gate.allowed),
        ("infrastructure", "Infrastructure", _STRUCK, struck),
        ("knock_on", "Knock-on", "Passed in the baseline; fail now because of another failure.", follow),
        ("lower", "Lower", "", changes.of("lower")),
        ("higher", "Higher", "", changes.of("higher")),
        ("flaky", "Flaky", "Mixed outcomes over equivalent attempts; not counted.", changes.of("flaky")),
        ("fixed", fixed_word(gate), "Failed in the baseline, pass now.", changes.of("fixed")),
        ("missing", "Missing", "In the baseline only.", changes.of("missing")),
        ("added", "Added", f"Not in the baseline; {failing:,} of them fail.", added),
        ("edited", "Edited tasks", "The task differs between the runs: not comparable.", changes.of("edited")),
        ("not_measured", "Not measured", _NOT_MEASURED, changes.of("not_measured")),
        ("unknown_before", "No baseline result", _UNKNOWN_BEFORE, changes.of("no_baseline_result")),
    )
    for key, title, note, cases in listed:
        if cases:
            yield CaseGroup(key, f"{title}: {len(cases):,}", note, cases, key in ("new", "others"))


def fixed_word(gate: Gate) -> str:
    """Nothing was fixed where another model passes."""
    baseline = gate.given.baseline
    is_same = baseline is None or baseline.run.subject.model == gate.given.run.run.subject.model
    return "Fixed" if is_same else "Now passing"


def _others(gate: Gate) -> str:
    return f"Regressed, other owners{' or only presumed' if gate.rules.without_presumed else ''}"


_STRUCK = "Passed in the baseline; an infrastructure failure now, so not counted."
_NOT_MEASURED = "No usable result in this run."
_UNKNOWN_BEFORE = "Fail now; not measured in the baseline."


def score_words(score: Score) -> str:
    """`16/23 69.6 % [49.1, 84.4]`."""
    if score.rate is None or not score.total:
        return "–"
    between = score.interval
    if score.mean is not None:
        interval = f" [{between[0]:.3f}, {between[1]:.3f}]" if between else ""
        return f"{score.rate:.3f} (n = {score.total:,}){interval}"
    interval = f" [{hundredths(between[0])}, {hundredths(between[1])}]" if between else ""
    return f"{score.passed:,}/{score.total:,} {percent(score.rate)}{interval}"


def rates_of(change: CaseChange) -> str:
    """`3/3 → 1/3` where a case was tried several times, `0.81 → 0.4` for numbers; else empty."""
    if change.values is not None:
        return " → ".join(f"{value:.3g}" for value in change.values)
    tries = [one for one in (change.before, change.after) if one is not None]
    if not any(attempts > 1 for _, attempts in tries):
        return ""
    return " → ".join(f"{passed}/{attempts}" for passed, attempts in tries)


def rates_header(cases: Sequence[CaseChange]) -> str:
    return "value" if any(change.values is not None for change in cases) else "passed"


def _policy(gate: Gate) -> str:
    return gate.rules.policy.replace("_", " ")


def _missing(gate: Gate) -> str:
    """`1 case is`, `2 cases are`."""
    changes = gate.given.changes
    return plural(len(changes.of("missing")) if changes is not None else 0, "case is", "cases are")


Forge = Literal["github", "gitlab", "markdown"]
MOST = 60_000
"""Characters; GitHub takes 65,536."""
RESERVED = 2_000
"""For what follows the last group."""
NAME, REASON, DETAILS = 300, 240, 20
_REFERENCES = lazy_regex(r"(?<![\w&])([!%$&~])(?=\d)")
"""What GitLab takes for a merge request, milestone, snippet, epic or label."""
_ADDRESS = lazy_regex(r"https?://[^\s()<>\"'`]+")


def marker_of(stored: StoredRun) -> str:
    """The same for every run of a suite by a subject, so that the next comment replaces this one."""
    run = stored.run
    what = "\0".join((run.suite, run.subject.model, run.subject.agent, *map(str, sorted(run.conditions.items()))))
    return f"<!-- errata:{blake2b(what.encode(), digest_size=8).hexdigest()} -->"


def comment_of(gate: Gate, forge: Forge, *, is_gate: bool = True, job: str = "", ref: CodeRef | None = None) -> str:
    """At most `MOST` characters; what does not fit is counted, and `job` leads to the rest."""
    title = headline(gate) if is_gate else _comparison_title(gate)
    head = "\n\n".join(
        [
            *([] if forge == "markdown" else [marker_of(gate.given.run)]),
            f"### {inline_text(title)}",
            blocks_to_markdown(_head(gate, ref, is_gate=is_gate)),
        ]
    )
    parts = [head[: MOST - RESERVED]]
    left = MOST - RESERVED - len(head)
    hidden = 0
    for group in groups(gate):
        text, missing = _group(group, left)
        parts += [text] if text else []
        left -= len(text) + 2
        hidden += missing
    made = "\n\n".join(parts)
    if forge == "gitlab":
        made = _REFERENCES.sub(rf"\1{GAP}", made)
    return f"{made}\n\n{_tail(hidden, job)}\n"


def _comparison_title(gate: Gate) -> str:
    changes = gate.given.changes
    fixed = len(changes.of("fixed")) if changes is not None else 0
    return f"{plural(len(gate.new), 'case')} regressed, {fixed:,} {fixed_word(gate).lower()}"


def _head(gate: Gate, ref: CodeRef | None, *, is_gate: bool) -> Iterator[Block]:
    given = gate.given
    run = given.run.run
    what = [part for part in (run.suite, subject_label(run)) if part]
    code = [one for one in ((ref.branch, ref.commit[:8]) if ref is not None else ()) if one]
    at = f" ({', '.join(code)})" if code else ""
    against = line("; baseline ", Code(given.baseline.run.native_id)) if given.baseline is not None else ()
    yield paragraph(Strong(" · ".join(what) or run.source.name), ": run ", Code(run.native_id), at, against)
    sentences = [*(reasons(gate) if is_gate else ()), *notes(gate)]
    if sentences:
        yield items(marked(_short(one, 600)) for one in sentences)
    yield _scores(gate)


def _scores(gate: Gate) -> Block:
    given = gate.given
    columns = [scores for scores in (given.baseline_scores, given.scores) if scores]
    rows = [
        (policy.replace("_", " "), *(score_words(scores[policy]) for scores in columns))
        for policy in POLICY_NAMES
        if given.scores[policy].total
    ]
    header = ("score, 95 % interval", *(("baseline",) if given.baseline_scores else ()), "this run")
    return table(header, rows)


def _group(group: CaseGroup, room: int) -> tuple[str, int]:
    """As many of its cases as there is room for, and how many there is none for."""
    has_rates = any(map(rates_of, group.cases))
    rates = (rates_header(group.cases),) if has_rates else ()
    header = ("case", "owner", *rates, "why")
    if not any(one.failure.owner for one in group.cases):
        header = ("case", *rates)
    rows, size = [], 400
    for change in group.cases:
        row = _row(change, header)
        size += len(blocks_to_markdown([table(header, [row])])) - len(blocks_to_markdown([table(header, [])]))
        if size > room:
            break
        rows.append(row)
    missing = len(group.cases) - len(rows)
    if not rows:
        return "", missing
    note = f"{group.note} The first {len(rows):,} are listed." if missing else group.note
    inner = blocks_to_markdown([paragraph(note), table(header, rows)])
    if group.is_open and len(rows) <= DETAILS:
        return f"**{inline_text(group.title)}**\n\n{inner}", missing
    return f"<details>\n<summary>{inline_text(group.title)}</summary>\n\n{inner}\n\n</details>", missing


def _row(change: CaseChange, header: Sequence[str]) -> tuple[LineContent, ...]:
    failure = change.failure
    presumed = " (presumed)" if failure.is_presumed else ""
    cells: dict[str, LineContent] = {
        "case": Code(_short(change.name, NAME)),
        "owner": line(OwnerName(failure.owner), presumed) if failure.owner else "",
        "passed": rates_of(change),
        "value": rates_of(change),
        "why": marked(_short(failure.reason, REASON)),
    }
    return tuple(cells[name] for name in header)


def _short(text: str, most: int) -> str:
    return short_line(text, most)


def _tail(hidden: int, job: str) -> str:
    where = f"[the job]({job})" if _ADDRESS.fullmatch(job) else "the output of the job"
    more = f"{plural(hidden, 'more case')} did not fit; {where} lists them all. " if hidden else ""
    page = f"Details: {where}. " if not hidden and _ADDRESS.fullmatch(job) else ""
    return f"<sub>{more}{page}Owners come from rules until a failure is reviewed. Written by errata.</sub>"


LONGEST = 1_000

_SKIPPED: dict[ChangeKind, str] = {
    "flaky": "flaky: mixed outcomes over equivalent attempts",
    "missing": "missing in this run",
    "edited": "the task was edited",
    "not_measured": "not measured in this run",
    "no_baseline_result": "fails, but was not measured in the baseline",
    "still_failing": "fails in the baseline too",
}


def to_junit(gate: Gate) -> str:
    """Only new failures of the chosen owners are failures; infrastructure failures are errors of the test run.

    What the gate does not count is skipped, with the reason.
    """
    run = gate.given.run.run
    suites = Element("testsuites", name="errata gate")
    suite = SubElement(suites, "testsuite", name=_text(run.suite or run.source.name))
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for change, tag, message in _test_cases(gate):
        case = SubElement(suite, "testcase", name=_text(change.name), classname=_text(run.suite or run.source.name))
        counts["tests"] += 1
        if tag:
            counts[{"failure": "failures", "error": "errors", "skipped": "skipped"}[tag]] += 1
            SubElement(case, tag, message=_text(message))
    for element in (suites, suite):
        for name, count in counts.items():
            element.set(name, str(count))
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(suites, encoding="unicode") + "\n"


def _test_cases(gate: Gate) -> Iterator[tuple[CaseChange, str, str]]:
    for change in gate.new:
        yield change, "failure", f"{change.failure.owner}: {change.failure.reason}"
    for change in gate.infrastructure:
        yield change, "error", f"{change.failure.owner}: {change.failure.reason}"
    for change in gate.others:
        yield change, "skipped", f"regressed, owner {change.failure.owner or 'unknown'}: {change.failure.reason}"
    for change in gate.allowed:
        yield change, "skipped", "regressed, on the allow-list"
    changes = gate.given.changes
    for kind, cases in changes.cases.items() if changes is not None else ():
        if kind in ("regressed", "infrastructure"):
            continue
        for change in cases:
            if kind == "added" and change.fails:
                yield change, "skipped", "fails, but is not in the baseline"
            else:
                yield (change, "skipped", _SKIPPED[kind]) if kind in _SKIPPED else (change, "", "")


def _text(text: str) -> str:
    """On one line, without what XML can't hold."""
    return short_line(text, LONGEST)
