"""What is known of a failure without reading a text: its facts, its checks, what triage saw.

Triage cuts what it quotes without regard to secrets: it is shown to nobody. So a long quote is looked up where it was
taken from, and cut again there.
"""

import re
from collections.abc import Sequence
from typing import Any

from errata.model import Attempt, Check, FailureKey, Run, Signal, Usage
from errata.model.identity import fingerprint
from errata.model.run import case_name
from errata.review.excerpts import CutPoints, Tell, in_short
from errata.review.material import Clues, Material, gist, readable
from errata.review.speakers import facts_about_speakers
from errata.text.clean import clean, one_line
from errata.text.lazy_regex import lazy_regex

SIGNALS = 12
GAP = "known_gap"
QUOTE = 500
NAME = 160
WHOLE = 55
"""Characters of a quote that is not cut for sure."""
PIECE = 6
"""Characters that tell nothing of a secret."""
_OPAQUE = lazy_regex(r"\d|.{20}")
HASH = 6
MESSAGE = 4_000
"""Characters of a message that a key may be made of."""
REASON = 300
CHECKS = 24
OTHERS = 20


def signals_of(signals: Sequence[Signal], texts: Sequence[str], tell: Tell) -> tuple[Signal, ...]:
    """Without the version of the rules: a packet changes only if its content does."""
    return tuple(
        Signal(
            name=signal.name,
            where=in_short(signal.where, NAME, tell),
            quote=_quote(signal.quote, texts, tell),
            stated=_quote(signal.stated, texts, tell),
            strength=signal.strength,
        )
        for signal in _first(signals)
    )


def _first(signals: Sequence[Signal]) -> Sequence[Signal]:
    """Those that weigh most, and a gap that is on record: without it no reviewer may name one."""
    gaps = [one for one in signals[SIGNALS:] if one.name == GAP][:1]
    return (*signals[: SIGNALS - len(gaps)], *gaps)


def _quote(quote: str, texts: Sequence[str], tell: Tell) -> str:
    if len(quote) <= WHOLE:
        return one_line(quote)
    words = quote.removesuffix("…").split()
    pattern = re.compile(r"\s+".join(map(re.escape, words)))
    for text in texts:
        if match := pattern.search(text):
            cut_points = CutPoints(text, tell)
            start = cut_points.after(match.start(), match.end())
            return in_short(text[start : cut_points.before(match.end(), start)], QUOTE, tell)
    words = tell(" ".join(words)).split()  # before a word is taken out: a secret may be known by it
    if _is_half(words[0], texts, rf"\S{re.escape(words[0])}(?!\S)"):
        words[0] = "…"
    if _is_half(words[-1], texts, rf"(?<!\S){re.escape(words[-1])}\S"):
        words[-1] = "…"
    return in_short(" ".join(words), QUOTE, tell)


def _is_half(word: str, texts: Sequence[str], longer: str) -> bool:
    """Whether a word at the end of a cut quote may be the rest of a secret, by its look or by what it is a part of."""
    if len(word) <= PIECE:
        return False
    return _OPAQUE.search(word) is not None or any(re.search(longer, text) for text in texts)


def key_of(material: Material, tell: Tell) -> FailureKey | None:
    """Readable, unless something has to be redacted in what it is made of: a mask may have left half of that."""
    attribution = material.attribution
    if attribution is None:
        return None
    key = attribution.failure_key
    if all(tell(text) == clean(text) for text in _made_of(material)):
        return FailureKey(exact=clean(key.exact), coarse=clean(key.coarse))
    return FailureKey(exact=fingerprint(key.exact, size=HASH), coarse=fingerprint(key.coarse, size=HASH))


def _made_of(material: Material) -> list[str]:
    attempt = material.attempt
    texts = [attempt.native_status, attempt.native_reason, *(one.reasoning for one in attempt.judgements)]
    texts += [text for one in attempt.errors for text in (one.type, one.template, one.message, one.frame)]
    texts += [text for one in attempt.checks if one.status != "pass" for text in (one.name, one.explanation)]
    return [text[:MESSAGE] for text in dict.fromkeys(texts)]


def run_facts(run: Run, *, blind: bool) -> dict[str, Any]:
    subject = run.subject
    shown: dict[str, Any] = {
        "id": run.id if blind else run.native_id,
        "run_id": run.id,
        "harness": run.source.name,
        "model": None if blind else subject.model or None,
        "experiment": run.variant.get("experiment"),
        "date": (run.started_at or "")[:10] or None,
    }
    others = {name: value for name, value in run.variant.items() if name != "experiment"}
    more: dict[str, Any] = {"suite": run.suite, "variant": others}
    if not blind:
        more |= {"provider": subject.provider, "agent": subject.agent}
    return shown | {name: value for name, value in more.items() if value}


def facts_of(material: Material, clues: Clues, tell: Tell) -> dict[str, Any]:
    """The first six always; the others where there is something to say."""
    attempt = material.attempt
    judges = len({check.judge for check in attempt.checks}) > 1
    shown: dict[str, Any] = {
        "execution": attempt.execution,
        "measurement": attempt.measurement,
        "outcome": attempt.outcome,
        "native_status": attempt.native_status or None,
        "checks": [_check(check, tell, judges=judges) for check in _checks_to_show(attempt)],
        "usage": _usage(attempt.usage.subject),
    }
    more = _more(material, clues, tell) | _relations(material)
    return shown | {name: value for name, value in more.items() if value not in (None, "", [])}


def _more(material: Material, clues: Clues, tell: Tell) -> dict[str, Any]:
    attempt, case = material.attempt, material.case
    return {
        "category": case.category if case else "",
        "failed_step": next(iter(attempt.failed_checks), ""),
        "error_line": clues.error_line,
        "checks_in_all": len(attempt.checks) if len(attempt.checks) > CHECKS else None,
        "output": _about_output(attempt),
        "answer": in_short(attempt.output.answer or "", REASON, tell),
        "score": attempt.reported,
        "threshold": attempt.threshold,
        "threshold_of": _scorer_with(material.run, attempt.threshold),
        "rubric_threshold": _rubric_threshold(material),
        "turn": attempt.position,
        "session": attempt.session,
        "steps": _about_steps(attempt) if attempt.steps else None,
        **_durations(attempt),
        "exit_code": attempt.exit_code,
    }


def _scorer_with(run: Run, threshold: float | None) -> str:
    """What the threshold of the case is applied to, where the run states that."""
    names = [one.name for one in run.scorers if threshold is not None and one.threshold == threshold]
    return names[0] if len(names) == 1 else ""


_PASS_THRESHOLD = lazy_regex(r"^[ \t]*pass_threshold:[ \t]*(\d{1,9}(?:\.\d{1,9})?)[ \t]*$", re.MULTILINE)


def _rubric_threshold(material: Material) -> float | None:
    """The one that the judge is given, where that is another one than the case is decided by."""
    files = (*material.attempt.artefacts, *(material.case.artefacts if material.case else ()))
    matches = (_PASS_THRESHOLD.search(one.text) for one in files if one.role == "grader" and one.text)
    stated = next((float(match[1]) for match in matches if match), None)
    return stated if stated != material.attempt.threshold else None


def _durations(attempt: Attempt) -> dict[str, Any]:
    """A session that reused stored results repeats their duration: the time it took itself is another one."""
    took, stated = attempt.durations.get("wall_clock"), attempt.duration
    if took is None or stated is None or took >= stated:
        return {"duration_seconds": stated}
    return {"duration_seconds": took, "duration_seconds_with_earlier_sessions": stated}


def _about_steps(attempt: Attempt) -> dict[str, Any]:
    return {"count": len(attempt.steps), "last": attempt.steps[-1].index} | facts_about_speakers(attempt)


def _relations(material: Material) -> dict[str, Any]:
    attempt, run = material.attempt, material.run
    root = next((one for one in material.before if one.id == attempt.follows), None)
    others = [one for one in material.kin if one.counted and one.duplicate_of is None]
    return {
        "follows": case_name(run, root.case) if root else attempt.follows,
        "followed_by": [case_name(run, one.case) for one in material.after][:OTHERS],
        "other_attempts": [{"attempt": one.index, "outcome": one.outcome} for one in others][:OTHERS],
    }


def _checks_to_show(attempt: Attempt) -> list[Check]:
    """All of them, or those that did not pass where there are many."""
    if len(attempt.checks) <= CHECKS:
        return list(attempt.checks)
    return [check for check in attempt.checks if check.status != "pass"][:CHECKS]


def _check(check: Check, tell: Tell, *, judges: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": in_short(check.name, REASON, tell), "status": check.status}
    shown["reason"] = in_short(gist(readable(check.explanation, tell)), REASON, tell) or None
    if check.value is not None and not isinstance(check.value, bool):
        shown["value"] = in_short(check.value, REASON, tell) if isinstance(check.value, str) else check.value
    if judges and check.judge:
        shown["judge"] = check.judge
    if not check.counts:
        shown["counts"] = False
    return shown


def _about_output(attempt: Attempt) -> str:
    """That there was none is a fact, too."""
    if attempt.output.text is None:
        return "" if attempt.output.structured is not None or attempt.artefacts else "none is kept in the log"
    return "" if attempt.output.text.strip() else "empty"


def _usage(usage: Usage) -> dict[str, Any] | None:
    cost = "cost_usd" if usage.currency == "USD" else f"cost_{usage.currency.lower()}"
    shown = {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "total_tokens": usage.total if usage.input is None or usage.output is None else None,
        "reasoning_tokens": usage.reasoning,
        cost: usage.cost,
        "cost_source": usage.cost_source if usage.cost is not None else None,
    }
    return {name: value for name, value in shown.items() if value is not None} or None
