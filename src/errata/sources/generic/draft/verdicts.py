"""Guess which columns of a table are the verdict, the score, the checks and the errors."""

import json
import re

from errata.sources.generic.draft.names import (
    COUNT,
    MEASURE,
    MEASURE_GROUP,
    NO_VERDICT,
    is_judges,
    last_name,
    plain_name,
    rank,
)
from errata.sources.generic.draft.pool import ColumnPool
from errata.sources.generic.draft.profiles import LABELS, ColumnProfile
from errata.sources.generic.draft.status import put_status_words
from errata.sources.generic.values import yes_or_no

_PLAIN = ("verdict", "score", "result", "passed", "pass", "grade", "rating", "value", "correct", "label")
"""Names that mean little without the object around them."""
CLEAR = frozenset(("pass", "fail", "passed", "failed", "correct", "incorrect"))
"""Values that are a verdict under any name."""
RATINGS = ((0, 1), (1, 5), (0, 5), (1, 10), (0, 10), (0, 100))


def guess_errors(pool: ColumnPool) -> None:
    def is_error(profile: ColumnProfile) -> bool:
        return not profile.numbers and not profile.is_time and not profile.is_verdict

    broken = pool.assign("attempt", "scoring_error", "scoring_error", is_error)
    matches = pool.candidates("error", lambda profile: is_error(profile) and not is_judges(profile.path))
    whole = (
        [profile for profile in matches if profile.kinds["dict"]]
        or [one for one in matches if not one.is_flag]
        or matches
    )
    if whole:
        best = whole[0]
        pool.put("attempt", "error", best)
        if best.is_text and len(best.filled) == pool.rows and best.distinct > 1:
            pool.draft.doubt("attempt", "error", "it is filled in every row; then every attempt counts as crashed")
    if broken is not None and len(broken.filled) == pool.rows:
        pool.draft.doubt("attempt", "scoring_error", "it is filled in every row")


OWN_COLUMNS = frozenset(("attempt_id", "case_key", "is_failure", "value"))
"""Of the table of attempts that errata exports."""


def guess_verdicts(pool: ColumnPool) -> None:
    """The verdict first, then the score, then everything else that was measured."""
    profiles = pool.profiles
    if profiles.keys() >= OWN_COLUMNS and profiles["value"].numbers:
        pool.put("attempt", "score", profiles["value"])
        return
    flags = [profile for profile in pool.free() if (profile.is_flag or profile.is_verdict) and "]" not in profile.path]
    named = pool.candidates("passed", lambda profile: profile.is_flag or profile.is_verdict, flags)
    programs = [
        profile for profile in named if not is_judges(profile.path) and not NO_VERDICT.search(last_name(profile.path))
    ]
    judges = [profile for profile in flags if is_judges(profile.path) and not profile.numbers] or [
        profile for profile in named if is_judges(profile.path)
    ]
    chosen = _decisive(programs, flags) or (judges[0] if judges else None)
    if chosen is not None:
        _put_passed(pool, chosen, [one for one in programs if one is not chosen], flags)
    _guess_score(pool)
    _guess_checks(pool)
    if chosen is None and not pool.draft.has("attempt", "score"):
        _doubt_no_verdict(pool, flags)


def _decisive(programs: list[ColumnProfile], flags: list[ColumnProfile]) -> ColumnProfile | None:
    """The verdict that follows from the others, else the one with the most telling name."""
    for candidate in programs:
        others = [
            flag for flag in flags if flag is not candidate and rank("passed", flag.path) is None and flag.is_flag
        ]
        if len(others) > 1 and _is_all_of(candidate, others):
            return candidate
    return programs[0] if programs else None


def _is_all_of(candidate: ColumnProfile, others: list[ColumnProfile]) -> bool:
    rows = [
        (yes_or_no(value), all(yes_or_no(other.values[at]) for other in others))
        for at, value in enumerate(candidate.values)
        if yes_or_no(value) is not None
    ]
    return len({whole for _, whole in rows}) == 2 and all(one == whole for one, whole in rows)


def _put_passed(
    pool: ColumnPool, chosen: ColumnProfile, programs: list[ColumnProfile], flags: list[ColumnProfile]
) -> None:
    if is_judges(chosen.path):
        pool.put("attempt", "passed", chosen, judge=True)
    else:
        pool.put("attempt", "passed", chosen)
    draft = pool.draft
    programs = [one for one in programs if not (rank("status", one.path) == 0 and rank("passed", chosen.path) == 0)]
    if programs:
        draft.doubt("attempt", "passed", "other columns may be the verdict", [f"`{one.path}`" for one in programs[:4]])
    elif _may_be_something_else(chosen):
        words = ", ".join(dict.fromkeys(str(value) for value in chosen.filled[:20]))
        others = [
            f"`{flag.path}`" for flag in flags if flag is not chosen and flag.distinct > 1 and _may_be_verdict(flag)
        ]
        draft.doubt("attempt", "passed", f"its values are {_few(words)}; is this pass and fail?", others[:4])
    if chosen.odd_words and not chosen.is_flag:
        put_status_words(pool, chosen.odd_words, "passed")


def _may_be_verdict(flag: ColumnProfile) -> bool:
    """Not the number of a trial, nor a judge's check."""
    return not is_judges(flag.path) and rank("index", flag.path) is None and rank("seed", flag.path) is None


def _may_be_something_else(chosen: ColumnProfile) -> bool:
    """A yes or no under a name such as `score`, `match` or `status`, or one of several scores."""
    place = rank("passed", chosen.path)
    if chosen.words and {word.lower() for word in chosen.words} <= CLEAR:
        return False
    grouped = MEASURE_GROUP.search(plain_name(_stem(chosen.path))) is not None
    return place is None or place > 4 or (place > 2 and not chosen.is_verdict) or (place > 2 and grouped)


def _few(words: str) -> str:
    return words if len(words) <= 40 else f"{words[:40]}…"


def _guess_score(pool: ColumnPool) -> None:
    if pool.draft.has("attempt", "score"):
        return

    def is_score(profile: ColumnProfile) -> bool:
        return bool(profile.numbers) and not profile.is_count and not profile.is_time and not profile.kinds["bool"]

    scores = pool.candidates("score", is_score)
    matches = [profile for profile in scores if not MEASURE_GROUP.search(plain_name(_stem(profile.path)))]
    named = [one for one in matches if rank("score", one.path) == 0 and not is_judges(one.path)]
    has_verdict = pool.draft.has("attempt", "passed")
    if not named and not has_verdict:
        named = matches
    if not named or (has_verdict and rank("score", named[0].path) != 0):
        return
    best = named[0]
    pool.put("attempt", "score", best, **({"judge": True} if is_judges(best.path) else {}))
    if not has_verdict:
        low, high = _scale(best)
        pool.draft.doubt(
            "attempt",
            "score",
            f"values from {low:g} to {high:g}; without a line `threshold = …` no attempt passes or fails",
            [f"`{one.path}`" for one in matches if one is not best][:4],
        )


def _stem(path: str) -> str:
    return path.rpartition(".")[0]


def _scale(profile: ColumnProfile) -> tuple[float, float]:
    return min(profile.numbers), max(profile.numbers)


def _guess_checks(pool: ColumnPool) -> None:
    """Yes or no, and ratings: what lies in an object of scores, or has the name of a measure."""
    explanations = [one for one in pool.free() if one.is_text and _is_explanation(one)]
    for profile in pool.free():
        grouped = MEASURE_GROUP.search(plain_name(_stem(profile.path))) is not None
        name = last_name(profile.path)
        judged = is_judges(profile.path)
        if not (profile.is_flag or profile.numbers) or profile.is_time or profile.is_count:
            continue
        if "]" in profile.path and name in LABELS:
            continue
        if not (grouped or MEASURE.search(name) or judged) or (not grouped and NO_VERDICT.search(name) and not judged):
            continue
        if rank("total_tokens", profile.path) is not None or not _is_rating(profile) or _is_count(profile, pool):
            continue
        _put_check(pool, profile, judged, explanations)
    reasons = [one for one in explanations if one in pool.free()]
    if reasons:
        pool.put("attempt", "judge_reasoning", reasons[0])
        if not is_judges(reasons[0].path) and rank("judge_reasoning", reasons[0].path) == 1:
            pool.draft.doubt("attempt", "judge_reasoning", "is this a judge's reason, or the model's?")


def _is_explanation(profile: ColumnProfile) -> bool:
    """`reasoning` is the model's own, unless it lies in an object of the judge."""
    if rank("judge_reasoning", profile.path) is not None:
        return True
    return is_judges(_stem(profile.path)) and last_name(profile.path) in ("reasoning", "comment", "text", "output")


def _is_rating(profile: ColumnProfile) -> bool:
    return profile.is_flag or any(profile.within(low, high) for low, high in RATINGS)


def _is_count(profile: ColumnProfile, pool: ColumnPool) -> bool:
    """`tests_total`, and `tests_passed` beside it, even if no row has more than 1."""
    name = plain_name(profile.path)
    if not profile.is_whole or profile.kinds["bool"] or not COUNT.search(name):
        return False
    stem = re.sub(r"_?(?:passed|failed|total|count)$", "", name)
    totals = [
        other
        for other in pool.profiles.values()
        if other.is_whole and not other.kinds["bool"] and plain_name(other.path) in (f"{stem}_total", f"{stem}_count")
    ]
    return not profile.is_flag or any(total is not profile or total.distinct == 1 for total in totals)


def _put_check(pool: ColumnPool, profile: ColumnProfile, judged: bool, explanations: list[ColumnProfile]) -> None:
    name = _check_name(pool, profile)
    if pool.draft.has("checks", name):
        name = plain_name(profile.path)
    more: dict[str, object] = {"judge": True} if judged else {}
    stems = (_stem(profile.path), last_name(profile.path).partition("_")[0])
    beside = [one for one in explanations if one in pool.free() and judged]
    own = next(
        (one for one in beside if _stem(one.path) == stems[0] and last_name(one.path).startswith(stems[1])), None
    )
    if own is None and len(beside) == 1:
        own = beside[0]
    if own is not None:
        more["explanation"] = own.path
        pool.take(own.path)
    pool.put("checks", name, profile, **more)
    if not more:
        pool.draft.put("checks", name, profile.path)
    low, high = _scale(profile) if profile.numbers else (0, 1)
    if not profile.is_flag:
        why = f"values from {low:g} to {high:g}; without a `threshold` it does not count"
        if not judged and profile.is_whole and high > 1:
            why += "; add `judge = true` if a judge gave it"
        pool.draft.doubt("checks", name, why)


def _check_name(pool: ColumnPool, profile: ColumnProfile) -> str:
    """The last part of its path; in a list such as `metrics: [{name, score}]` the name that is written beside it."""
    stem, _, last = profile.path.rpartition(".")
    if stem.endswith("]"):
        beside = (pool.profiles.get(f"{stem}.{key}") for key in LABELS)
        return next((str(one.filled[0]) for one in beside if one is not None and one.distinct == 1), last)
    return plain_name(stem.rpartition(".")[2]) if stem and plain_name(last) in _PLAIN else last


def _doubt_no_verdict(pool: ColumnPool, flags: list[ColumnProfile]) -> None:
    free = [flag.path for flag in flags if flag in pool.free()]
    others = [f"`{path}`" for path in free]
    if len(free) > 1:
        others.append(f"one column per model: `models = [{', '.join(map(json.dumps, free))}]`")
    checks = any(section == "checks" for section, _ in pool.draft.keys)
    why = "the checks decide" if checks else "no column shows whether an attempt passed, so nothing is scored"
    pool.draft.doubt("attempt", "passed", why, others[:6])
