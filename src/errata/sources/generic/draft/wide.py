"""Tables with columns for each model, or for each case: find the names and the columns they share."""

from typing import Any

from errata.sources.generic.draft.names import MODEL_LIKE, NAMES, plain_name, rank
from errata.sources.generic.draft.pool import ColumnPool
from errata.sources.generic.draft.profiles import ColumnProfile
from errata.sources.generic.draft.record import DraftedMapping

ENDINGS = ("passed", "score", "output", "answer", "error", "duration", "cost", "input_tokens", "output_tokens",
           "total_tokens", "status", "judge_reasoning")  # fmt: skip
_SIGNS = ("_", " ", "-", ".", ":", "/")
_WIDE_ENDINGS = ("passed", "output", "answer")
FEW = 2


def find_models(profiles: dict[str, ColumnProfile], draft: DraftedMapping) -> dict[str, ColumnProfile] | None:
    """The columns as they look to one model, with `{model}` in their names; None if the table is not wide."""
    for before in (False, True):
        stems = _stems(profiles, before=before)
        if len(stems) >= FEW and any(MODEL_LIKE.search(stem) for stem in stems):
            draft.put("", "models", sorted(stems))
            return _with_templates(profiles, stems)
    named = [
        path
        for path, profile in profiles.items()
        if MODEL_LIKE.search(path)
        and "." not in path.replace(".", "", 2)
        and _is_result(profile)
        and not _is_field(path)
    ]
    if len(named) >= FEW:
        draft.put("", "models", named)
        draft.doubt("", "models", "one column for each model?")
        return _with_templates(profiles, {name: {"": name} for name in named})
    return None


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
    draft.put("", "cases", scores)
    draft.doubt("", "cases", "a table of total scores: each column becomes a case, and each row a run")
    return _with_templates(profiles, {name: {"": name} for name in scores}, marker="{case}")


def _is_result(profile: ColumnProfile) -> bool:
    return profile.is_flag or profile.is_verdict or bool(profile.numbers) or profile.is_text


def _is_field(path: str) -> bool:
    """Whether a column has the usual name of some field."""
    return any(rank(role, path) is not None and plain_name(path) for role in NAMES if role != "name")


def _stems(profiles: dict[str, ColumnProfile], *, before: bool) -> dict[str, dict[str, str]]:
    """Model → ending → column, for names such as `gpt-4_correct`, or `correct_gpt-4` with `before`."""
    stems: dict[str, dict[str, str]] = {}
    for path in profiles:
        for sign in _SIGNS:
            for at in [place for place, letter in enumerate(path) if letter == sign]:
                head, tail = path[:at], path[at + 1 :]
                stem, ending = (tail, head) if before else (head, tail)
                ranks = {role: rank(role, ending) for role in ENDINGS}
                if stem and (0 in ranks.values() or any(ranks[role] is not None for role in _WIDE_ENDINGS)):
                    template = f"{ending}{sign}{{model}}" if before else f"{{model}}{sign}{ending}"
                    stems.setdefault(stem, {}).setdefault(template, path)
    endings = [set(templates) for templates in stems.values()]
    shared = {template for one in endings for template in one if sum(template in other for other in endings) >= FEW}
    return {
        stem: {template: path for template, path in templates.items() if template in shared}
        for stem, templates in stems.items()
        if set(templates) & shared
    }


def _with_templates(
    profiles: dict[str, ColumnProfile], stems: dict[str, dict[str, str]], marker: str = "{model}"
) -> dict[str, ColumnProfile]:
    """All rows of the first name, then all of the second: columns of their own once, the others repeated."""
    used = {path for templates in stems.values() for path in templates.values()}
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
    label = "@model" if marker == "{model}" else "@case"
    made[label] = ColumnProfile(label, [stem for stem in stems for _ in range(rows)])
    return made


def put_single_column(pool: ColumnPool) -> None:
    """A column that has only the model's or the case's name holds the verdict, the score or the output."""
    for marker in ("{model}", "{case}"):
        profile = pool.profiles.get(marker)
        if profile is None:
            continue
        key = "passed" if profile.is_flag or profile.is_verdict else "score" if profile.numbers else "output"
        pool.put("attempt", key, profile)
