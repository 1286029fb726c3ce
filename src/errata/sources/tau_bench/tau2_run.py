"""A run of tau2-bench as a whole, and its tasks."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from errata.model import Artefact, Case, Code, Reported, Run, SourceInfo, SourceRef, Subject, Unreadable
from errata.sources.base import describe, unreadable
from errata.sources.shared.json_rows import LongDocument
from errata.sources.shared.values import as_text, known, mapping, moment, plain, rest, sequence, settings, text
from errata.sources.tau_bench.layout import NAME

_INFO = frozenset(["git_commit", "user_info", "agent_info", "environment_info"])
_AGENT = frozenset(["implementation", "llm", "llm_args"])
_USER = frozenset(["implementation", "llm", "global_simulation_guidelines"])
_TASK = frozenset(["id", "user_scenario", "evaluation_criteria"])


class Tasks:
    """The tasks of a document by id, and what else stands beside its simulations."""

    def __init__(self, document: LongDocument) -> None:
        self._document = document
        self._problems: list[Unreadable] = []
        self._tasks: dict[str, tuple[int, dict[str, Any]]] = {}
        for at, told in enumerate(sequence(self.field("tasks"))):
            task = mapping(told)
            if task.get("id") is not None:
                self._tasks.setdefault(as_text(task["id"]), (at, task))
            else:
                self._problems.append(unreadable(NAME, document.ref.below("tasks", at), "a task without an id"))

    def field(self, name: str) -> Any:
        try:
            return self._document.field(name)
        except KeyError:
            return None
        except ValueError as error:
            self._problems.append(unreadable(NAME, self._document.ref.below(name), describe(error)))
            return None

    def problems(self) -> Iterator[Unreadable]:
        yield from self._problems

    def names(self) -> Iterator[str]:
        return iter(self._tasks)

    def ref_of(self, name: str) -> SourceRef:
        return self._document.ref.below("tasks", self._tasks[name][0])

    def case(self, run: Run, name: str, ref: SourceRef) -> Case:
        """A simulation may be of a task that is not among them."""
        if name not in self._tasks:
            return Case(run=run.id, suite=run.suite, native_id=name, ref=ref)
        task = self._tasks[name][1]
        return Case(
            run=run.id,
            suite=run.suite,
            native_id=name,
            input=plain(task.get("user_scenario")),
            expected=plain(task.get("evaluation_criteria")),
            ref=self.ref_of(name),
            extra=rest(task, _TASK),
        )


def run_of(info: dict[str, Any], tasks: Tasks, *, name: str, n: int, origin: Path, ref: SourceRef) -> Run:
    agent, user = mapping(info.get("agent_info")), mapping(info.get("user_info"))
    world = mapping(info.get("environment_info"))
    commit = text(info.get("git_commit"))
    told = tasks.field("timestamp")
    domain = text(world.get("domain_name"))
    return Run(
        native_id=name,
        source=SourceInfo(name=NAME, format_version="tau2"),
        name=name,
        subject=Subject(
            model=text(agent.get("llm")),
            agent=text(agent.get("implementation")),
            params=settings(mapping(agent.get("llm_args"))),
        ),
        roles=known(user=text(user.get("llm"))),
        suite=f"tau2-bench/{domain}" if domain else "tau2-bench",
        expected_cases=len([*tasks.names()]) or None,
        started_at=moment(told),
        # the average over all simulations that tau2-bench takes for evaluable; no file states it
        reported=(Reported(name="average reward", metric="mean", n=n, headline=True, ref=ref),),
        context=tuple(_context(world, user, ref.below("info"))),
        code=Code(commit=commit) if commit else None,
        environment=settings(rest(info, _INFO) | known(**_rest_of(agent, user, world))),
        origin=str(origin),
        ref=ref,
        extra=known(timestamp=told if moment(told) is None else None, simulation_index=tasks.field("simulation_index")),
    )


def _rest_of(agent: dict[str, Any], user: dict[str, Any], world: dict[str, Any]) -> dict[str, Any]:
    return {
        "agent": rest(agent, _AGENT),
        "user": rest(user, ("llm", "global_simulation_guidelines")),
        "environment": rest(world, ("domain_name", "policy")),
    }


def _context(world: dict[str, Any], user: dict[str, Any], ref: SourceRef) -> Iterator[Artefact]:
    """What the agent had to keep to, and what the simulated user was told."""
    for words, path, place in (
        (world.get("policy"), "policy.md", ref.below("environment_info", "policy")),
        (user.get("global_simulation_guidelines"), "user_guidelines.md", ref.below("user_info")),
    ):
        if isinstance(words, str) and words:
            size = len(words.encode("utf-8", "replace"))
            yield Artefact(role="context", path=path, size=size, text=words, ref=place)
