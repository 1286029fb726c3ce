"""A nested list of runs: which fields of an object around the rows name a run, and which distinguish its variants."""

from errata.sources.generic.draft.names import HEADLINE, last_name, plain_name, rank
from errata.sources.generic.draft.pool import ColumnPool
from errata.sources.generic.draft.profiles import ColumnProfile
from errata.text.lazy_regex import lazy_regex

VARIANTS = 4
_ID = lazy_regex(r"id|uid|uuid|key|slug|run|run_?(?:id|name|key|no|number)|(?:experiment|job|eval)_?id|name|label")
_RESULTS = lazy_regex(
    r"(?:^|_)(?:summary|results?|metrics?|scores?|stats|statistics|totals?|aggregates?|usage|costs?)(?:_|$)"
)


def guess_run_objects(pool: ColumnPool) -> None:
    """`id` from the object's own name, and a variant for each setting that differs between runs of one model."""
    used = {path for path in pool.draft.columns() if path.startswith("^")}
    of_case = {path for (section, _), path in pool.draft.keys.items() if section == "case" and isinstance(path, str)}
    if not used or any(path.startswith("^") for path in of_case):
        return
    outer = [
        profile
        for path, profile in pool.profiles.items()
        if path.startswith("^") and not path.startswith("^^") and profile.is_scalar
    ]
    models = [profile for profile in outer if profile.path in used]
    objects = _combinations(outer, pool.rows)
    if objects < 2 or objects == _combinations(models, pool.rows):
        return
    free = [profile for profile in outer if profile.path not in used]
    ids = [one for one in free if _ID.fullmatch(last_name(one.path)) and one.distinct == objects]
    if ids and not pool.draft.has("run", "id"):
        pool.put("run", "id", ids[0])
    settings = [one for one in free if one not in ids and _is_setting(one) and _differs(one, models, pool.rows)]
    for setting in settings[:VARIANTS]:
        name = last_name(setting.path)
        if not pool.draft.has("run.variant", name):
            pool.put("run.variant", name, setting)


def _is_setting(profile: ColumnProfile) -> bool:
    if profile.is_time or profile.mean_length > 60 or _RESULTS.search(plain_name(profile.path)):
        return False
    if rank("variant", profile.path) is not None:
        return True
    return HEADLINE.fullmatch(last_name(profile.path)) is None and not profile.numbers


def _differs(setting: ColumnProfile, models: list[ColumnProfile], rows: int) -> bool:
    """Whether runs of one model have different values."""
    return _combinations([*models, setting], rows) > _combinations(models, rows)


def _combinations(profiles: list[ColumnProfile], rows: int) -> int:
    return len({tuple(repr(profile.values[at]) for profile in profiles) for at in range(rows)})
