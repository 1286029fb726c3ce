"""Guess which columns of a table are tokens, times, texts, and what identifies a run, a case and an attempt."""

from statistics import median
from typing import Any

from errata.sources.generic.dates import has_undecided_dates
from errata.sources.generic.draft.names import HEADLINE, MODEL_LIKE, is_judges, last_name, plain_name, rank
from errata.sources.generic.draft.pool import ColumnPool, Test
from errata.sources.generic.draft.profiles import ColumnProfile, is_nothing
from errata.sources.generic.places import FILE_COLUMNS
from errata.sources.generic.values import currency_of, yes_or_no

TOKENS = (
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "input_tokens",
    "output_tokens",
    "total_tokens",
)
_UNIT_WORDS = {
    "ms": ("ms", "msec", "millis", "milliseconds"),
    "us": ("us",),
    "ns": ("ns",),
    "s": ("s", "sec", "secs", "seconds"),
}
LONG_TEXT = 60
FEW_RUNS = 60
FEW_ROWS = 5
MOST = 0.8
"""Of the rows; a first line with settings has no case."""
MILLISECONDS = 1_000


def guess_usage(pool: ColumnPool) -> None:
    for role in TOKENS:
        pool.assign("attempt", role, role, lambda profile: profile.is_whole and not profile.is_time)
    cost = pool.assign("attempt", "cost", "cost", lambda profile: bool(profile.numbers))
    if cost is not None:
        named = {currency_of(cost.path), *map(currency_of, cost.filled)} - {""}
        if len(named) == 1 and named != {"USD"}:
            pool.draft.put("", "currency", named.pop())
    pool.assign("attempt", "exit_code", "exit_code", lambda profile: profile.is_whole)
    pool.assign("attempt", "seed", "seed", lambda profile: profile.is_whole)
    pool.assign("attempt", "stop_reason", "stop_reason", lambda profile: bool(profile.words))


def guess_times(pool: ColumnPool) -> None:
    pool.assign("attempt", "started_at", "started_at", lambda profile: profile.is_time)
    pool.assign("attempt", "finished_at", "finished_at", lambda profile: profile.is_time)
    for key in ("started_at", "finished_at"):
        profile = _profile_of(pool, "attempt", key)
        if profile is not None and has_undecided_dates(profile.filled):
            pool.draft.doubt("attempt", key, f"`{profile.filled[0]}` is read as day.month.year")
    matches = pool.candidates(
        "duration", lambda profile: bool(profile.numbers) and not profile.is_time and min(profile.numbers) >= 0
    )
    if not matches:
        return
    best = matches[0]
    words = plain_name(best.path).split("_")
    unit = next((unit for unit, names in _UNIT_WORDS.items() if words[-1] in names), "")
    guessed = unit or ("ms" if best.is_whole and median(best.numbers) >= MILLISECONDS else "s")
    if guessed == "s":
        pool.put("attempt", "duration", best)
    else:
        pool.put("attempt", "duration", best, unit=guessed)
    if not unit:
        other = "seconds" if guessed == "ms" else 'milliseconds: `unit = "ms"`'
        pool.draft.doubt("attempt", "duration", f"values around {median(best.numbers):g}: the unit is a guess", [other])


def guess_texts(pool: ColumnPool) -> None:
    chats = pool.candidates("messages", lambda profile: profile.is_messages) or [
        profile for profile in pool.free() if profile.is_messages and profile.has_answers
    ]
    if chats and chats[0].has_answers:
        pool.put("attempt", "messages", chats[0])

    def is_answer(profile: ColumnProfile) -> bool:
        return not profile.is_time and not profile.kinds["bool"] and not is_judges(profile.path)

    def is_prompt(profile: ColumnProfile) -> bool:
        return profile.is_text or profile.is_messages or bool(profile.kinds["dict"])

    expected = pool.candidates("expected", is_answer)
    outputs = pool.candidates("output", is_answer)
    sure = [profile for profile in expected if rank("expected", profile.path) == 0]
    pair = _which_is_expected(expected, outputs, sure)
    if pair is not None:
        pool.put("case", "expected", pair)
    outputs = [profile for profile in outputs if profile is not pair and _stem_is_not(profile, "usage")]
    if outputs:
        chosen = _innermost_text(outputs[0], outputs)
        pool.put("attempt", "output", chosen)
        alike = [one for one in outputs if one is not chosen and one is not outputs[0]]
        equals = [one.path for one in alike if rank("output", one.path) == rank("output", chosen.path)]
        if equals:
            pool.draft.doubt(
                "attempt", "output", "another column has such a name", [f"`{path}`" for path in equals[:4]]
            )
        pool.assign("attempt", "answer", "answer", is_answer)
    if pair is not None and pair not in sure:
        _doubt_expected(pool, pair)
    asked = pool.candidates("input", is_prompt)
    texts = [profile for profile in asked if rank("input", profile.path) == 0 or _has_sentences(profile)]
    if texts:
        pool.put("case", "input", texts[0])


def _innermost_text(chosen: ColumnProfile, outputs: list[ColumnProfile]) -> ColumnProfile:
    """`generation.text` rather than the object `generation` that contains it."""
    inside = [one for one in outputs if one.path.startswith(f"{chosen.path}.") and one.is_text]
    return inside[0] if chosen.kinds["dict"] and inside else chosen


def _has_sentences(profile: ColumnProfile) -> bool:
    texts = [str(value) for value in profile.filled[:20]]
    return profile.mean_length > 8 and 2 * sum(" " in text for text in texts) > len(texts)


def _stem_is_not(profile: ColumnProfile, word: str) -> bool:
    return word not in plain_name(profile.path.rpartition(".")[0])


def _which_is_expected(
    expected: list[ColumnProfile], outputs: list[ColumnProfile], sure: list[ColumnProfile]
) -> ColumnProfile | None:
    """`answer` is the expected answer only if another column is the output."""
    if sure:
        return sure[0]
    named = [profile for profile in expected if rank("expected", profile.path) == 1]
    if named:
        return named[0]
    others = [profile for profile in outputs if profile not in expected]
    return expected[0] if expected and others else None


def _doubt_expected(pool: ColumnPool, chosen: ColumnProfile) -> None:
    """A name such as `label` or `answer` decides nothing; equal values where attempts passed do."""
    output = _profile_of(pool, "attempt", "answer") or _profile_of(pool, "attempt", "output")
    passed = _profile_of(pool, "attempt", "passed")
    if output is not None and passed is not None:
        rows = list(zip(chosen.values, output.values, map(yes_or_no, passed.values), strict=True))
        rows = [row for row in rows if row[2] is not None and not is_nothing(row[0]) and not is_nothing(row[1])]
        agree = sum((_same(gold, got) == verdict) for gold, got, verdict in rows)
        if rows and agree >= 0.9 * len(rows) and len({verdict for *_, verdict in rows}) == 2:
            return
    pool.draft.doubt("case", "expected", "is this the expected answer, or the model's?")


def _same(gold: Any, got: Any) -> bool:
    return " ".join(str(gold).lower().split()) == " ".join(str(got).lower().split())


def _profile_of(pool: ColumnPool, section: str, key: str) -> ColumnProfile | None:
    value = pool.draft.keys.get((section, key))
    path = value.get("column") if isinstance(value, dict) else value
    return pool.profiles.get(path) if isinstance(path, str) else None


def guess_run(pool: ColumnPool) -> None:
    """What was tested. A column with another value in every row describes no run."""

    def is_fact(profile: ColumnProfile) -> bool:
        repeats = profile.distinct <= max(1, min(FEW_RUNS, pool.rows // 2))
        if 2 * len(profile.filled) < pool.rows:
            return False
        return profile.is_scalar and (repeats or profile.path[:1] in "^$") and profile.mean_length < 120

    def is_name(profile: ColumnProfile) -> bool:
        return is_fact(profile) and not profile.numbers

    if not pool.draft.has("", "models"):
        _guess_model(pool, is_name)
    for key in ("provider", "agent", "agent_version", "judge"):
        pool.assign("run", key, key, is_name)
    pool.assign("run", "id", "id", lambda profile: is_fact(profile) and not profile.path.startswith("^"))
    if not pool.draft.has("run", "id"):
        pool.assign("run", "name", "run_name", is_fact)
    pool.assign("", "suite", "suite", lambda profile: is_name(profile) and profile.distinct == 1)
    if not pool.draft.has("run", "model") and not pool.draft.has("", "models"):
        pool.draft.doubt("run", "model", 'no column names the model; write `model = "…"`')


def _guess_model(pool: ColumnPool, is_name: Test) -> None:
    """A column called `model` is the model, unless each of many rows has another one."""
    by_row = pool.draft.has("", "cases")

    def is_model(profile: ColumnProfile) -> bool:
        named = rank("model", profile.path) == 0 and profile.is_text and 2 * len(profile.filled) >= pool.rows
        return is_name(profile) or (named and (by_row or profile.distinct < pool.rows or pool.rows <= FEW_ROWS))

    subjects = [one for one in pool.candidates("model", is_model) if not is_judges(one.path)]
    matches = pool.assign("run", "model", "model", lambda one: one in subjects if subjects else is_model(one))
    if matches is not None and 1 < pool.rows == matches.distinct and not by_row:
        pool.draft.doubt("run", "model", "each row has another model")


def guess_case(pool: ColumnPool) -> None:
    rows = pool.rows

    def is_id(profile: ColumnProfile) -> bool:
        if not profile.is_scalar or len(profile.filled) < MOST * rows or profile.is_time or profile.is_flag:
            return False
        if rank("input", profile.path) is not None and _has_sentences(profile):
            return False
        return profile.mean_length < 200 and (profile.is_whole or not profile.numbers)

    pool.assign("attempt", "session", "session", lambda profile: profile.is_scalar and profile.distinct < rows)
    known = pool.draft.has("case", "name")
    named = (
        [] if known else [profile for profile in pool.candidates("name", is_id) if profile.distinct > 1 or rows == 1]
    )
    varied = [one for one in named if one.distinct * 20 >= rows or rank("name", one.path) == 0]
    counts = [one for one in varied if one.is_count and rank("name", one.path) == 2]
    real = [one for one in varied if one not in counts]
    if real:
        best = real[0]
        pool.put("case", "name", best)
        # a number of its own for each row identifies no case that has several
        rivals = [one for one in real[1:] if not (best.distinct < one.distinct == rows)]
        equals = [f"`{one.path}`" for one in rivals if rank("name", one.path) == rank("name", best.path)]
        if equals:
            pool.draft.doubt("case", "name", "another column may identify the case", equals[:4])
        elif rank("name", best.path) == 2:
            pool.draft.doubt(
                "case", "name", "does this column identify the case?", [f"`{one.path}`" for one in real[1:4]]
            )
    elif known:
        pass
    elif of_file := next((pool.profiles[name] for name in FILE_COLUMNS if _is_unique(pool, name)), None):
        pool.put("case", "name", of_file)
    elif not pool.draft.has("case", "input") and not pool.draft.has("", "cases"):
        _put_fallback_name(pool, counts)
    for key in ("category", "difficulty"):
        pool.assign(
            "case",
            key,
            key,
            lambda profile: profile.is_scalar and profile.distinct < max(rows, 2) and profile.mean_length < LONG_TEXT,
        )
    pool.assign("case", "tags", "tags", lambda profile: bool(profile.kinds["list"]) or "," in str(profile.filled[0]))
    pool.assign("case", "choices", "choices", lambda profile: bool(profile.kinds["list"]))


def _is_unique(pool: ColumnPool, name: str) -> bool:
    return name in pool.profiles and pool.profiles[name].distinct == pool.rows


def put_key(pool: ColumnPool) -> None:
    """What the key of a row is: the case, or with several rows by key and a name in each, what they share."""
    key = pool.profiles.get("@key")
    if key is None or key.distinct < 2:
        return
    named = pool.candidates("name", lambda profile: profile.is_scalar and rank("input", profile.path) is None)
    names = [profile for profile in named if rank("name", profile.path) != 2]
    if key.distinct == pool.rows or not names:
        pool.put("case", "name", key)
    elif not pool.draft.has("run", "model"):
        pool.put("run", "model", key)
        if not all(MODEL_LIKE.search(str(value)) for value in key.filled[:20]):
            pool.draft.doubt("run", "model", "are the keys of the lists the models?", ["`[case] category`"])
        pool.draft.doubts[:] = [doubt for doubt in pool.draft.doubts if doubt.key != "[run] model" or doubt.chosen]


def _put_fallback_name(pool: ColumnPool, counts: list[ColumnProfile]) -> None:
    if counts:
        pool.put("case", "name", counts[0])
        pool.draft.doubt("case", "name", "this only counts the rows")
    else:
        pool.draft.put("case", "name", "@row")
        pool.draft.doubt("case", "name", "no column identifies the case; this is the number of the row")


def guess_repetitions(pool: ColumnPool) -> None:
    """What distinguishes several rows of one case: the trial, or a setting of the run."""
    keys = [profile for key in ("name", "input") if (profile := _profile_of(pool, "case", key)) is not None][:1]
    keys += [one for key in ("model", "id", "name", "agent") if (one := _profile_of(pool, "run", key)) is not None]
    keys += [one for one in (_profile_of(pool, "attempt", "session"),) if one is not None]
    keys += [pool.profiles[label] for label in ("@model", "@case", "@attempt") if label in pool.profiles]

    def is_trial(profile: ColumnProfile) -> bool:
        return (
            profile.is_whole
            and not profile.is_time
            and min(profile.numbers) >= 0
            and profile.distinct < max(pool.rows, 2)
        )

    repeated = _repeats(keys, pool.rows)
    matches = pool.candidates("index", is_trial)
    if matches and (not repeated or _repeats([*keys, matches[0]], pool.rows) < repeated):
        pool.put("attempt", "index", matches[0])
        repeated = _repeats([*keys, matches[0]], pool.rows)
    for setting in pool.candidates("variant", lambda profile: profile.is_scalar and 1 < profile.distinct <= FEW_RUNS):
        left = _repeats([*keys, setting], pool.rows)
        if repeated and left < repeated:
            pool.put("run.variant", last_name(setting.path), setting)
            pool.draft.doubt("run.variant", last_name(setting.path), "each value becomes a run of its own")
            keys, repeated = [*keys, setting], left
    nested = any(profile.path.startswith("^") for profile in keys[:1])
    if repeated and not nested and not pool.draft.has("attempt", "index"):
        rows = "1 row repeats" if repeated == 1 else f"{repeated:,} rows repeat"
        pool.draft.doubt("attempt", "index", f"{rows} a case; read as further attempts, in the order of the rows")


def _repeats(keys: list[ColumnProfile], rows: int) -> int:
    if not keys:
        return 0
    return rows - len({tuple(repr(profile.values[at]) for profile in keys) for at in range(rows)})


def guess_headline(pool: ColumnPool, stated: dict[str, Any], rate: float | None, per_run: bool) -> None:
    """A score that the document states beside its rows, compared with the rate of the rows."""
    numbers = {
        path: float(value)
        for path, value in stated.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 100
    }
    matches = [path for path in numbers if HEADLINE.fullmatch(last_name(path))]
    if not matches or (per_run and not any(path.startswith("^") for path in matches)):
        return
    equal = [
        path for path in matches if rate is not None and any(abs(numbers[path] / by - rate) < 0.006 for by in (1, 100))
    ]
    best = (equal or matches)[0]
    pool.draft.put("run", "headline", {"column": best})
    if not equal:
        computed = f"; the rows give {rate:.3g}" if rate is not None else ""
        others = [f"`{path}`" for path in matches if path != best]
        pool.draft.doubt("run", "headline", f"the document states {numbers[best]:g}{computed}", others[:4])
