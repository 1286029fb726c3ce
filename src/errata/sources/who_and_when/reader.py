"""A multi-agent log → its case and its attempt, with the mistake that people marked as decisive, if any."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from errata.model import Actor, Artefact, Attempt, Case, Item, Output, Run, SourceInfo, SourceRef, Step, case_key
from errata.model.words import ActorRole
from errata.sources.base import Numbering, Row, children, convert_each, json_file, of_run, relative
from errata.sources.shared.chat import CHAT_ROLES, steps_of_chat
from errata.sources.shared.facts import Facts
from errata.sources.shared.fields import JsonFields
from errata.sources.shared.values import as_text, mapping, non_empty, plain, rest, text
from errata.sources.who_and_when import NAME, is_of_the_set, kind_of_file

SUITE = "Who&When"
STOP = "TERMINATE"

_HOMES = frozenset(
    ["history", "question", "question_ID", "ground_truth", "is_correct", "is_corrected", "level", "system_prompt"]
)


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    root = path if path.is_dir() else path.parent
    files = [child for child in children(path) if kind_of_file(child)] if path.is_dir() else [path]
    # one log is a part of the set: it must not replace the whole
    name = root.name if path.is_dir() else f"{root.name}.{path.stem}"
    run = Run(
        native_id=name,
        source=SourceInfo(name=NAME),
        name=name,
        suite=SUITE if any(map(is_of_the_set, files)) else root.name,
        expected_cases=len(files) if path.is_dir() else None,
        origin=str(root),
        ref=SourceRef(file=relative(path, root)),
    )
    yield run
    rows = (json_file(file, source=NAME, root=root) for file in files)
    yield from of_run(run.id, convert_each(rows, partial(_items, run, Numbering()), source=NAME))


def _items(run: Run, numbering: Numbering, row: Row) -> Iterator[Item]:
    log: dict[str, Any] = row.data if isinstance(row.data, dict) else {}
    name = text(log.get("question_ID")) or Path(row.ref.file).stem
    is_bare = isinstance(row.data, list)
    steps = _steps(row.data, row.ref) if is_bare else _steps(log["history"], row.ref.below("history"))
    index = numbering.next(name)
    if index == 1:
        yield Case(
            run=run.id,
            suite=run.suite,
            native_id=name,
            input=plain(log.get("question")),
            expected=plain(log.get("ground_truth")),
            difficulty=as_text(log["level"]) if log.get("level") is not None else "",
            ref=row.ref,
        )
    yield _attempt(run, name, index, steps, Row(log, row.ref))


def _steps(messages: list[Any], ref: SourceRef) -> tuple[Step, ...]:
    """As chat messages where tools are called in their way, else one step per message and agent."""
    fields = {key for message in messages for key in mapping(message)}
    if fields & {"tool_calls", "tool_call_id"}:
        return tuple(replace(step, ref=ref.below(at)) for at, step in enumerate(steps_of_chat(messages)))
    return tuple(_step(mapping(message), at, ref.below(at)) for at, message in enumerate(messages))


def _attempt(run: Run, name: str, index: int, steps: tuple[Step, ...], row: Row) -> Attempt:
    log = row.data
    is_judged = bool({"is_correct", "is_corrected"} & log.keys()) or run.suite == SUITE
    execution, measurement, outcome = _facts(log.get("is_correct", log.get("is_corrected"))) if is_judged else UNJUDGED
    # the annotation is not the harness's verdict; a reviewer who is tested against it must not see it
    marked = {key: log[key] for key in ("mistake_agent", "mistake_step", "mistake_reason") if key in log}
    return Attempt(
        run=run.id,
        case=case_key(run.suite, name),
        native_id=Path(row.ref.file).stem,
        index=index,
        execution=execution,
        measurement=measurement,
        outcome=outcome,
        output=Output(text=_answer(steps)),
        steps=steps,
        artefacts=tuple(_prompts(mapping(log.get("system_prompt")), row.ref)),
        ref=row.ref,
        extra=rest(log, _HOMES | marked.keys()) | non_empty(annotation=marked),
    )


def _answer(steps: tuple[Step, ...]) -> str | None:
    """An agent's last message, without the word that ends the conversation."""
    messages = (
        step.text.strip().removesuffix(STOP).strip() for step in reversed(steps) if step.actor.role == "assistant"
    )
    return next(filter(None, messages), None)


UNJUDGED = Facts("completed", "not_run", "none")


def _facts(correct: Any) -> Facts:
    if not isinstance(correct, bool):
        return Facts("completed", "unscored", "none")
    return Facts("completed", "scored", "pass" if correct else "fail")


def _step(message: dict[str, Any], index: int, ref: SourceRef) -> Step:
    """Numbered from 0, as in the annotation."""
    fields = JsonFields(message)
    role, name, content = text(fields.take("role")), text(fields.take("name")), fields.take("content")
    return Step(
        index=index,
        actor=Actor(role=_who(role, name), name=name or (role if role not in CHAT_ROLES else "")),
        text=content if isinstance(content, str) else "" if content is None else as_text(content),
        ref=ref,
        extra=rest(fields.rest()) | non_empty(role=role if name else None),
    )


def _who(role: str, name: str) -> ActorRole:
    """In one half of the dataset, roles are relative to each agent; in the other half, the role is the agent's name.

    `Computer_terminal` runs the code that the others write.
    """
    if re.search(r"terminal", name or role, re.IGNORECASE):
        return "tool"
    return "assistant" if name else CHAT_ROLES.get(role, "assistant")


def _prompts(prompts: dict[str, Any], ref: SourceRef) -> Iterator[Artefact]:
    for name, prompt in prompts.items():
        if isinstance(prompt, str):
            size = len(prompt.encode("utf-8", "replace"))
            yield Artefact(
                role="context",
                path=f"system_prompt/{name}.md",
                size=size,
                text=prompt,
                ref=ref.below("system_prompt", name),
            )
