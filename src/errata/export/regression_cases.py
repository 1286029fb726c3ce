"""Failures → draft regression cases, for Inspect, for promptfoo, or as plain JSON lines. A person approves each."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Literal

import msgspec

from errata.errors import SettingsError
from errata.model import Case
from errata.model.filters import Filters
from errata.model.record import Struct
from errata.model.words import NOT_THE_SUBJECTS
from errata.runs.failures import Failure
from errata.runs.standings import owner_of
from errata.runs.view import RunView
from errata.text.clean import clean, one_line
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import tree_for_user
from errata.text.redact import beginning
from errata.triage.expected import expected_texts

DatasetFormat = Literal["inspect", "promptfoo", "dataset"]
FILES: dict[DatasetFormat, str] = {
    "inspect": "inspect.jsonl",
    "promptfoo": "promptfoo.yaml",
    "dataset": "dataset.jsonl",
}
REASON, ANSWER = 300, 1_000
HEADER = """\
# Draft regression cases, written by errata from failed attempts. Check the input and the expected answer of each
# case, then remove its `"draft": true`. Use the file with `tests: file://promptfoo.yaml`.
"""


class DraftCase(Struct):
    id: str
    input: Any
    choices: tuple[str, ...] = ()
    expected: Any = None
    targets: tuple[str, ...] = ()
    """The same as texts, where it is made of texts."""
    category: str = ""
    tags: tuple[str, ...] = ()
    origin: dict[str, Any]
    changed: bool = False
    """Whether a secret or a control character was removed."""


class CollectedCases(msgspec.Struct, kw_only=True):
    cases: dict[tuple[str, str], DraftCase] = {}
    infrastructure: int = 0
    without_input: int = 0


class WrittenDrafts(Struct):
    path: Path
    cases: int
    with_expected: int
    infrastructure: int
    without_input: int
    unsafe: int
    changed: int


def write_drafts(
    views: Iterable[RunView], filters: Filters, form: DatasetFormat, folder: Path, *, limit: int | None, force: bool
) -> WrittenDrafts:
    path = folder / FILES[form]
    if path.exists() and not force:
        raise SettingsError(f"`{path}` already exists", hint="choose another folder, or add `--force`")
    drafts = collect_drafts(views, filters, limit=limit)
    written = [(draft, row) for draft in drafts.cases.values() if (row := _WRITERS[form](draft)) is not None]
    rows = [row for _, row in written]
    text = (
        HEADER + to_yaml(rows)
        if form == "promptfoo"
        else "".join(msgspec.json.encode(row).decode() + "\n" for row in rows)
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"`{path}` can't be written: {error.strerror}", hint="choose another folder") from error
    return WrittenDrafts(
        path=path,
        cases=len(rows),
        with_expected=sum(draft.expected is not None for draft, _ in written),
        infrastructure=drafts.infrastructure,
        without_input=drafts.without_input,
        unsafe=len(drafts.cases) - len(written),
        changed=sum(draft.changed for draft, _ in written),
    )


def collect_drafts(views: Iterable[RunView], filters: Filters, *, limit: int | None = None) -> CollectedCases:
    """Each case once, however often it failed. Infrastructure failures only where their owner is asked for."""
    drafts = CollectedCases()
    for view in views:
        for failure in view.failures(filters):
            if limit is not None and len(drafts.cases) >= limit:
                return drafts
            _add(failure, view, drafts, keep_infrastructure=bool(filters.owner))
    return drafts


def _add(failure: Failure, view: RunView, drafts: CollectedCases, *, keep_infrastructure: bool) -> None:
    owner = owner_of(failure.attribution, failure.standing)
    if owner in NOT_THE_SUBJECTS and not keep_infrastructure:
        drafts.infrastructure += 1
        return
    key = failure.run.suite, failure.attempt.case
    if key in drafts.cases:
        drafts.cases[key].origin["attempts"].append(_clean(failure.attempt.id))
        return
    case = view.case_for(failure.attempt)
    given = _input(case)
    if case is None or given in (None, "", [], {}):
        drafts.without_input += 1
        return
    raw = {
        "input": given,
        "expected": case.expected,
        "choices": list(case.choices),
        "names": [failure.case_name, case.category, *case.tags],
    }
    shown = _presentable(raw)
    name, category, *tags = shown["names"]
    drafts.cases[key] = DraftCase(
        id=_unlike(name, {draft.id for draft in drafts.cases.values()} if name != failure.case_name else ()),
        input=shown["input"],
        choices=tuple(shown["choices"]),
        expected=shown["expected"],
        targets=tuple(map(_clean, expected_texts(case))),
        category=category,
        tags=tuple(tags),
        origin=_presentable(_origin(failure, owner)),
        changed=shown != raw,
    )


def _unlike(name: str, taken: Collection[str]) -> str:
    """Two names may differ only in what was removed: Inspect wants each id once."""
    numbered = (f"{name} ({number})" for number in count(2))
    return name if name not in taken else next(one for one in numbered if one not in taken)


def _input(case: Case | None) -> Any:
    """As the log has it; else the text of its only task file."""
    if case is None or case.input not in (None, ""):
        return case.input if case is not None else None
    tasks = [one.text for one in case.artefacts if one.role == "task" and one.text]
    return tasks[0] if len(tasks) == 1 else None


def _origin(failure: Failure, owner: str) -> dict[str, Any]:
    attempt, run = failure.attempt, failure.run
    verdict = failure.standing.verdict if failure.standing is not None else None
    return {
        "run": run.native_id,
        "run_id": run.id,
        "suite": run.suite,
        "source": run.source.name,
        "model": run.subject.model,
        "case": failure.case_name,
        "attempts": [attempt.id],
        "owner": owner or "unknown",
        "reviewed": verdict is not None,
        "label": verdict.label if verdict is not None else None,
        "reason": one_line(failure.reason, REASON) or None,
        "answer": beginning(attempt.output.text or "", ANSWER) or None,
    }


def _presentable(value: Any) -> Any:
    """Without secrets and control characters, all else letter for letter."""
    return _cleaned(tree_for_user(value))


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): _cleaned(one) for key, one in value.items()}
    return [_cleaned(one) for one in value] if isinstance(value, list | tuple) else value


def _clean(text: str) -> str:
    cleaned: str = _presentable(text)
    return cleaned


def inspect_sample(draft: DraftCase) -> dict[str, Any]:
    """A line of `json_dataset`. Messages keep their texts; any other structure becomes JSON text."""
    given, left_out = _text_or_messages(draft.input)
    sample: dict[str, Any] = {"id": draft.id, "input": given}
    if draft.choices:
        sample["choices"] = list(draft.choices)
    metadata: dict[str, Any] = {"draft": True}
    if left_out:
        metadata["content_left_out"] = left_out
    if draft.targets:
        sample["target"] = draft.targets[0] if len(draft.targets) == 1 else list(draft.targets)
    elif draft.expected is not None:
        metadata["expected"] = draft.expected
    return sample | {"metadata": metadata | _about(draft)}


def _about(draft: DraftCase) -> dict[str, Any]:
    about: dict[str, Any] = {"category": draft.category} if draft.category else {}
    return about | ({"tags": list(draft.tags)} if draft.tags else {}) | {"origin": draft.origin}


def _text_or_messages(given: Any) -> tuple[Any, int]:
    """And how many images and other parts were left out: Inspect would load the files that they name."""
    if isinstance(given, str):
        return given, 0
    if isinstance(given, list) and given and all(map(_is_message, given)):
        parts = [_parts(one["content"]) for one in given]
        texts = ["\n".join(part for part in one if part is not None) for one in parts]
        messages = [{"role": one["role"], "content": text} for one, text in zip(given, texts, strict=True)]
        return messages, sum(part is None for one in parts for part in one)
    if isinstance(given, dict) and len(given) == 1 and isinstance(only := next(iter(given.values())), str):
        return only, 0
    return msgspec.json.encode(given).decode(), 0


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and value.get("role") in _ROLES and isinstance(value.get("content"), str | list)


_ROLES = ("system", "user", "assistant")


def _parts(content: str | list[Any]) -> list[str | None]:
    if isinstance(content, str):
        return [content]
    return [part["text"] if isinstance(part, dict) and isinstance(part.get("text"), str) else None for part in content]


def dataset_row(draft: DraftCase) -> dict[str, Any]:
    row: dict[str, Any] = {"id": draft.id, "draft": True, "input": draft.input}
    if draft.choices:
        row["choices"] = list(draft.choices)
    if draft.expected is not None:
        row["expected"] = draft.expected
    return row | _about(draft)


def _promptfoo(draft: DraftCase) -> dict[str, Any] | None:
    metadata = {"draft": True} | _about(draft)
    return promptfoo_test(draft.id, draft.input, draft.expected, draft.targets, metadata)


_WRITERS: dict[DatasetFormat, Callable[[DraftCase], dict[str, Any] | None]] = {
    "inspect": inspect_sample,
    "promptfoo": _promptfoo,
    "dataset": dataset_row,
}


# --- tests in promptfoo's form, and the YAML they are written in
# promptfoo loads files that a value names, renders templates in values, and runs code of assertions. Texts of logs
# must do none of that.


_LOADED = lazy_regex(r"\s*(?:(?:file|huggingface)://|(?:package|exec|python):)", re.IGNORECASE)
_TEMPLATE = lazy_regex(r"\{[{%#]")
_END = lazy_regex(r"\{%-?\s*endraw")
_PLAIN_ASSERTIONS = frozenset(
    f"{prefix}{name}"
    for prefix in ("", "not-")
    for name in (
        "equals", "contains", "icontains", "contains-all", "contains-any", "icontains-all", "icontains-any",
        "starts-with", "regex", "is-json", "contains-json", "llm-rubric", "similar", "levenshtein", "cost", "latency",
    )
)  # fmt: skip
"""Kinds that compare texts; the others run code or load something."""
_KEPT = ("type", "value", "threshold", "weight", "metric")


def promptfoo_test(
    name: str, given: Any, expected: Any, targets: Sequence[str], metadata: dict[str, Any]
) -> dict[str, Any] | None:
    """None where promptfoo would load a file or run code that the log names."""
    variables = given if isinstance(given, dict) else {"input": given}
    if any(map(_is_loaded, _texts(variables))):
        return None
    test: dict[str, Any] = {"description": name, "vars": _raw(variables)}
    assertions, left_out = _assertions(expected, targets)
    if assertions:
        test["assert"] = assertions
    elif expected is not None:
        metadata = metadata | {"expected": msgspec.json.encode(expected).decode()}
    if left_out:
        metadata = metadata | {"assertions_left_out": left_out}
    if any(isinstance(value, list) for value in variables.values()):
        test["options"] = {"disableVarExpansion": True}
    return test | {"metadata": metadata}


def _assertions(expected: Any, targets: Sequence[str]) -> tuple[list[dict[str, Any]], int]:
    """Those of promptfoo's own log that only compare texts; else the expected answer."""
    own = [one for one in expected if isinstance(one, dict) and "type" in one] if isinstance(expected, list) else []
    if own:
        kept = [one for one in own if one["type"] in _PLAIN_ASSERTIONS and not any(map(_is_loaded, _texts(one)))]
        return [_raw({key: one[key] for key in _KEPT if key in one}) for one in kept], len(own) - len(kept)
    if not targets or any(map(_is_loaded, targets)):
        return [], 0
    if len(targets) == 1:
        return [{"type": "equals", "value": _raw(targets[0])}], 0
    return [{"type": "contains-any", "value": [_raw(one) for one in targets]}], 0


def _is_loaded(text: str) -> bool:
    return _LOADED.match(text) is not None or (_TEMPLATE.search(text) is not None and _END.search(text) is not None)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _raw(value: Any) -> Any:
    """Braces in texts are letters, not templates."""
    if isinstance(value, str):
        return f"{{% raw %}}{value}{{% endraw %}}" if _TEMPLATE.search(value) else value
    if isinstance(value, dict):
        return {key: _raw(one) for key, one in value.items()}
    return [_raw(one) for one in value] if isinstance(value, list) else value


def to_yaml(rows: Sequence[Any]) -> str:
    """As JSON, which every YAML parser reads the same way."""
    return f"{msgspec.json.format(msgspec.json.encode(rows), indent=2).decode()}\n"
