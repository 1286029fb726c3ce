"""Names that only the folders of a log hold: the name of a run, and its model where a folder level plainly is one."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from errata.model import Run
from errata.model.run import with_folder_names
from errata.sources.base import folders
from errata.text.lazy_regex import lazy_regex

LEVELS = 3
SIBLINGS = 200
LONG_ID = lazy_regex(r"[A-Za-z0-9]{20,}(?:_[A-Za-z0-9]{20,})?|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""One or two long ids without any word in them, or a UUID."""
_NO_NAME = lazy_regex(
    r"(?i)(?:jobs?|runs?|results?|outputs?|out|logs?|data|trials?|evals?|reports?|artifacts?|tmp|temp|latest)?"
    r"[-_ ]?(?:\d[\d_.:TZ-]*)?"
)
"""A folder that every job may have, or a date or number alone."""
_DATE = lazy_regex(r"20\d\d-?\d\d-?\d\d")
# an agent's program may have a model's name in its own: `claude-code`, `gemini-cli`
_FAMILY = lazy_regex(
    r"(?i)(?:^|[-_.~ ])(?:gpt-?[3-9]|gpt-?oss|chatgpt|o[134](?![a-z0-9])|claude|sonnet|opus|haiku|gemini"
    r"|gemma|llama|qwen|qwq|deepseek|mistral|mixtral|ministral|magistral|codestral|devstral|kimi|glm-?\d|grok|command-[ar]"
    r"|phi-?\d|minimax|nemotron|ernie|doubao|hunyuan|jamba|olmo|granite|nova-(?:pro|lite|micro|premier))"
    r"(?![-_]?(?:code|cli|agent)(?![a-z0-9]))"
)


def named_by_folder(items: Iterable[Any], path: Path) -> Iterator[Any]:
    """Runs whose log names no model get the model and the name of their folder; ids stay as they are."""
    for item in items:
        yield _add_names(item, path) if type(item) is Run else item


def _add_names(run: Run, path: Path) -> Run:
    if run.subject.model:
        return run
    names = {"model": folder_model(path, run.subject.agent)}
    if not run.name and LONG_ID.fullmatch(run.native_id):
        names["name"] = folder_name(path)
    return with_folder_names(run, {key: name for key, name in names.items() if name})


def folder_name(path: Path) -> str:
    """The run's folder; with those above it where it is called like any other, such as `results` or a date."""
    levels = _levels(path)
    known = next((at for at, name in enumerate(levels) if not _NO_NAME.fullmatch(name)), None)
    return "/".join(reversed(levels[: known + 1])) if known is not None else "/".join(reversed(levels[:2]))


def folder_model(path: Path, agent: str = "") -> str:
    """The name of a folder level that plainly is the model; empty where none is.

    That is a part of a name such as `2025-11-02__gpt-5__terminus`, or a whole name beside a folder named after another
    model. The folder of a trial, `task__id`, names no model.
    """
    whole = path.absolute()
    if not _looks_like_model(whole.name) and not _may_name_model(str(whole.parent)):
        return ""
    folder = _folder(path)
    for level in [folder, *folder.parents][:LEVELS]:
        if "__" in level.name:
            parts = level.name.split("__")
            models = [part for part in parts if _FAMILY.search(part) and part != agent]
            if len(models) == 1 and (len(parts) > 2 or any(part == agent or _DATE.match(part) for part in parts)):
                return models[0]
        elif _FAMILY.search(level.name) and level.name != agent:
            others = (other.name for other in islice(folders(level.parent), SIBLINGS))
            if any(name != level.name and "__" not in name and _FAMILY.search(name) for name in others):
                return level.name
    return ""


@lru_cache(64)
def _may_name_model(path: str) -> bool:
    """Whether one of the last names in it looks like it. Very many logs may lie in one folder."""
    return any(map(_looks_like_model, Path(path).parts[-LEVELS:]))


def _looks_like_model(name: str) -> bool:
    return "__" in name or _FAMILY.search(name) is not None


def _folder(path: Path) -> Path:
    whole = path.absolute()
    return whole if whole.is_dir() else whole.parent


def _levels(path: Path) -> list[str]:
    """The names from the run's folder upwards; of a file, its own name first."""
    whole = path.absolute()
    names = [whole.name if whole.is_dir() else whole.stem, *(parent.name for parent in whole.parents)]
    return [name for name in names if name][:LEVELS]
