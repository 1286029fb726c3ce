"""Tables with columns for each model, or for each case: find the names and the columns they share."""

from typing import Any

from errata.sources.generic.draft.names import MODEL_LIKE, NAMES, plain_name, rank
from errata.sources.generic.draft.pool import ColumnPool
from errata.sources.generic.draft.profiles import ColumnProfile
from errata.sources.generic.draft.record import DraftedMapping
from errata.sources.generic.draft.status import put_status_words
from errata.sources.generic.places import DASHES, WIDE_MARKERS
from errata.text.lazy_regex import lazy_regex

ENDINGS = ("passed", "score", "output", "answer", "error", "duration", "cost", "input_tokens", "output_tokens",
           "total_tokens", "status", "judge_reasoning")  # fmt: skip
_SIGNS = ("_", " ", "-", ".", ":", "/")
_WIDE_ENDINGS = ("passed", "output", "answer")
FEW = 2
_NUMBERED = lazy_regex(r"(?:run|trial|attempt|try|rep|repeat|sample|seed|versuch|round)_?\d+")
_ROLES = lazy_regex(
    r"(?:llm_)?judges?|human|grader|rater|annotator|expected|gold|reference|ref|correct|true|ground|model|user|final|total"
    r"|raw|parsed|extracted|prompt|completion|input|output|exact|api|mean|avg|overall|is|was|run|task|case|test|error"
    r"|scores?|metrics?|results?|usage|response|answer|cache|eval|evaluation|start|end|finish|stop|max|min|num|n|exit"
)
"""What is often the first word of a column's name, and no model."""


def find_models(profiles: dict[str, ColumnProfile], draft: DraftedMapping) -> dict[str, ColumnProfile] | None:
    """The columns as they look to one model, with `{model}` in their names; None if the table is not wide."""
    for before in (False, True):
        stems = {stem: columns for stem, columns in _stems(profiles, before=before).items() if not _is_role(stem)}
        like_models = [stem for stem in stems if MODEL_LIKE.search(stem)]
        several = {stem: columns for stem, columns in stems.items() if len(columns) >= FEW}
        chosen = stems if like_models else several
        if len(chosen) >= FEW and _has_verdicts(chosen):
            draft.put("", "models", list(chosen))
            if len(like_models) < len(chosen):
                draft.doubt("", "models", "are these the models?")
            return _with_templates(profiles, chosen)
    named = [
        path
        for path, profile in profiles.items()
        if MODEL_LIKE.search(path) and _is_result(profile) and not profile.kinds["dict"] and not _is_field(path)
    ]
    if len(named) >= FEW:
        return _single_columns(profiles, draft, "models", named, "one column for each model?")
    return None


def find_attempts(profiles: dict[str, ColumnProfile], draft: DraftedMapping) -> dict[str, ColumnProfile] | None:
    """A table with a column for each attempt: `task, run_1, run_2`."""
    named = [
        path
        for path, profile in profiles.items()
        if _NUMBERED.fullmatch(plain_name(path))
        and (profile.is_flag or profile.is_verdict or profile.within(0, 1) or profile.words_among_numbers)
    ]
    if len(named) >= FEW:
        return _single_columns(profiles, draft, "attempts", named, "one column for each attempt?")
    return None


def _single_columns(
    profiles: dict[str, ColumnProfile], draft: DraftedMapping, key: str, names: list[str], why: str
) -> dict[str, ColumnProfile]:
    draft.put("", key, names)
    draft.doubt("", key, why)
    return _with_templates(profiles, {name: {"": name} for name in names}, marker=f"{{{key.removesuffix('s')}}}")


def _is_role(stem: str) -> bool:
    """Whether the first word names a kind of value, not a model: `judge_score`, `total_cost`."""
    return _ROLES.fullmatch(plain_name(stem.rpartition(".")[2])) is not None


def _has_verdicts(stems: dict[str, dict[str, str]]) -> bool:
    endings = {template.replace("{model}", "") for columns in stems.values() for template in columns}
    return any(rank(role, ending) is not None for role in ("passed", "score", "output") for ending in endings)


def find_cases(profiles: dict[str, ColumnProfile], draft: DraftedMapping) -> dict[str, ColumnProfile] | None:
    """A table of models with a column for each benchmark: `model, average, arc, mmlu`."""
    models = [
        profile
        for path, profile in profiles.items()
        if rank("model", path) == 0 and profile.is_text and profile.distinct == len(profile.values)
    ]
    if (
        not models
        or len(models[0].values) < FEW
        or any(rank("name", path) == 0 or rank("input", path) == 0 for path in profiles)
    ):
        return None
    scores = [
        path
        for path, profile in profiles.items()
        if profile.within(0, 100) and not _is_field(path) and len(profile.filled) > 0 and not profile.is_count
    ]
    if len(scores) < 3:
        return None
    why = "a table of total scores: each column becomes a case, and each row a run"
    return _single_columns(profiles, draft, "cases", scores, why)


def _is_result(profile: ColumnProfile) -> bool:
    return profile.is_flag or profile.is_verdict or bool(profile.numbers) or profile.is_text


def _is_field(path: str) -> bool:
    """Whether a column has the usual name of some field."""
    return any(rank(role, path) is not None and plain_name(path) for role in NAMES if role != "name")


def _stems(profiles: dict[str, ColumnProfile], *, before: bool) -> dict[str, dict[str, str]]:
    """Model → ending → column, for names such as `gpt-4_correct`, or `correct_gpt-4` with `before`."""
    stems: dict[str, dict[str, str]] = {}
    for path in profiles:
        for sign in _SIGNS if "[" not in path else ():
            for at in [place for place, letter in enumerate(path) if letter == sign]:
                head, tail = path[:at], path[at + 1 :]
                stem, ending = (tail, head) if before else (head, tail)
                ranks = {role: rank(role, ending) for role in ENDINGS}
                if stem and (0 in ranks.values() or any(ranks[role] is not None for role in _WIDE_ENDINGS)):
                    template = f"{ending}{sign}{{model}}" if before else f"{{model}}{sign}{ending}"
                    stems.setdefault(stem, {}).setdefault(template, path)
    stems = _without_prefix(stems)
    endings = [set(templates) for templates in stems.values()]
    shared = {template for one in endings for template in one if sum(template in other for other in endings) >= FEW}
    return {
        stem: {template: path for template, path in templates.items() if template in shared}
        for stem, templates in stems.items()
        if set(templates) & shared
    }


def _without_prefix(stems: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """`responses.gpt-4` → `gpt-4`, with `responses.{model}` in the columns; only the first level is a name."""
    made: dict[str, dict[str, str]] = {}
    for stem, templates in stems.items():
        prefix, sign, name = stem.rpartition(".")
        nested = bool(prefix) and all(path.startswith(f"{prefix}.") for path in templates.values())
        if nested and not name[:1].isdigit():
            marked = {
                template.replace("{model}", f"{prefix}{sign}{{model}}"): path for template, path in templates.items()
            }
            made.setdefault(name, {}).update(marked)
        else:
            made.setdefault(stem, {}).update(templates)
    return made


def _with_templates(
    profiles: dict[str, ColumnProfile], stems: dict[str, dict[str, str]], marker: str = "{model}"
) -> dict[str, ColumnProfile]:
    """All rows of the first name, then all of the second: columns of their own once, the others repeated."""
    used = {path for templates in stems.values() for path in templates.values()}
    used |= {path for path in profiles if any(other.startswith(f"{path}.") for other in used)}
    made = {
        path: ColumnProfile(path, profile.values * len(stems)) for path, profile in profiles.items() if path not in used
    }
    rows = len(next(iter(profiles.values())).values)
    templates = dict.fromkeys(template for columns in stems.values() for template in columns)
    for template in templates:
        values: list[Any] = []
        for columns in stems.values():
            column = profiles.get(columns.get(template, ""))
            values += column.values if column is not None else [None] * rows
        name = template or marker
        made[name] = ColumnProfile(name, values)
    label = f"@{marker[1:-1]}"
    made[label] = ColumnProfile(label, [stem for stem in stems for _ in range(rows)])
    return made


def put_single_column(pool: ColumnPool) -> None:
    """A column that has only the model's or the case's name holds the verdict, the score or the output."""
    for marker, _ in WIDE_MARKERS:
        profile = pool.profiles.get(marker)
        if profile is None:
            continue
        words = [word for word in profile.odd_words if word not in DASHES]
        if profile.is_flag or profile.is_verdict:
            pool.put("attempt", "passed", profile)
            if not profile.is_flag:
                put_status_words(pool, words, "passed")
        elif profile.numbers or profile.words_among_numbers:
            pool.put("attempt", "score", profile)
            put_status_words(pool, [word for word in profile.words_among_numbers if word not in DASHES], "score")
        else:
            pool.put("attempt", "output", profile)
