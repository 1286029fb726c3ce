"""tau2-bench: one document with tasks and simulations, a folder with a file per simulation, or simulations alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from errata.model import (
    Artefact,
    Attempt,
    Case,
    CodeVersion,
    Item,
    Reported,
    Run,
    ScoreScale,
    SourceInfo,
    SourceRef,
    Subject,
    Unreadable,
    case_key,
)
from errata.sources.base import Row, children, convert_each, describe, head_of, is_file, json_file, of_run, unreadable
from errata.sources.shared.facts import MISSING
from errata.sources.shared.fields import JsonFields
from errata.sources.shared.json_rows import LongDocument, long_document
from errata.sources.shared.row_groups import Copies, copied_row
from errata.sources.shared.values import (
    as_text,
    count,
    mapping,
    moment,
    non_empty,
    number,
    plain,
    rest,
    sequence,
    settings,
    text,
)
from errata.sources.tau_bench import NAME, RESULTS, SIMULATIONS
from errata.sources.tau_bench.tau2_attempts import attempt_of, ending_of
from errata.sources.tau_bench.trials import TrialNumber, TrialNumbers
from errata.text.lazy_regex import lazy_regex

_INFO = frozenset(["git_commit", "user_info", "agent_info", "environment_info"])
_AGENT = frozenset(["implementation", "llm", "llm_args"])
_TASK = frozenset(["id", "user_scenario", "evaluation_criteria"])
_BESIDE = frozenset(["tasks", "info", "timestamp", "simulation_index"])
_IDENTITY = ("model", "llm", "agent_llm", "agent_model", "agent", "agent_implementation", "user_llm", "user_model",
             "user", "user_simulator")  # fmt: skip
_FILE = lazy_regex(
    r"(?P<model>.+?)_(?P<domain>airline|retail|telecom(?:-workflow)?|mock|banking_knowledge)(?:_(?P<agent>[a-z]+)"
    r"(?:_(?P<user>.+?))?)?(?:_\d+(?:trials?)?)?$"
)
"""`gpt-4.1_airline_default_gpt-4.1_4trials`, as published results are named."""


class _Reward(msgspec.Struct):
    reward: float | None = None


class _Tau2Glance(msgspec.Struct):
    termination_reason: str = ""
    reward_info: _Reward | None = None


class Tasks:
    """The tasks of a document by id, and its other fields."""

    def __init__(self, document: LongDocument) -> None:
        self._document = document
        self._problems: list[Unreadable] = []
        self._tasks: dict[str, tuple[int, dict[str, Any]]] = {}
        for at, raw in enumerate(sequence(self.field("tasks"))):
            task = mapping(raw)
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

    def actions(self, name: str) -> Any:
        """The expected actions of a task; None if the document does not have it."""
        task = self._tasks.get(name, (0, {}))[1]
        return mapping(task.get("evaluation_criteria")).get("actions")

    def case(self, run: Run, name: str, ref: SourceRef) -> Case:
        """A simulation's task may be missing in the document."""
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


class Simulations:
    """Converts simulations to attempts, and each task to a case when it first occurs."""

    def __init__(self, run: Run, info: dict[str, Any], tasks: Tasks) -> None:
        self._run = run
        self._info = info
        self._tasks = tasks
        self._numbers = TrialNumbers()
        self._copies = Copies()

    def items(self, row: Row) -> Iterator[Item]:
        simulation = JsonFields(row.data)
        task = as_text(simulation.require("task_id"))
        if self._copies.includes((task, as_text(simulation.get("trial"))), row.data):
            yield copied_row(NAME, row.ref, task)
            return
        number_ = self._numbers.next(self._run, task, simulation.get("trial"))
        attempt = attempt_of(
            self._run, simulation, number_, number(self._info.get("max_steps")), row.ref, self._tasks.actions(task)
        )
        yield from self._case(task, row.ref)
        self._numbers.take(number_)
        yield attempt

    def missing_trials(self) -> Iterator[Item]:
        """Planned trials without a simulation."""
        trials = count(self._info.get("num_trials")) or 1
        for task in self._tasks.names():
            for index in range(1, min(trials, 1_000) + 1):
                if not self._numbers.is_taken(task, index):
                    ref = self._tasks.ref_of(task) or self._run.ref
                    yield from self._case(task, ref or SourceRef(file=RESULTS))
                    yield self._missing(task, index, ref)

    def _case(self, task: str, ref: SourceRef) -> Iterator[Case]:
        if self._numbers.is_first(task):
            yield self._tasks.case(self._run, task, ref)

    def _missing(self, task: str, index: int, ref: SourceRef | None) -> Attempt:
        self._numbers.take(TrialNumber(task, index))
        execution, measurement, outcome = MISSING
        return Attempt(
            run=self._run.id,
            case=case_key(self._run.suite, task),
            index=index,
            execution=execution,
            measurement=measurement,
            outcome=outcome,
            reported_counted=False,
            ref=ref,
        )


def read(path: Path) -> Iterator[Item]:
    results = path / RESULTS if path.is_dir() else path
    root = results.parent
    is_list = head_of(results, 64).lstrip().startswith(b"[")
    document = long_document(results, "" if is_list else "simulations", source=NAME, root=root)
    if isinstance(document, Unreadable):
        yield document
        return
    tasks = Tasks(document)
    info = mapping(tasks.field("info"))
    files = simulation_files(results) if info else []
    info = info or described_elsewhere(document, tasks, results.stem)
    name = root.name if files else results.stem
    run = run_of(info, tasks, name=name, n=_counted_simulations(document, files), origin=root, ref=document.ref)
    yield run
    yield from of_run(run.id, (*document.problems(), *tasks.problems()))
    simulations = Simulations(run, info, tasks)
    rows = document.rows() if not files else (json_file(file, source=NAME, root=root) for file in files)
    yield from of_run(run.id, convert_each(rows, simulations.items, source=NAME))
    yield from simulations.missing_trials()


def described_elsewhere(document: LongDocument, tasks: Tasks, stem: str) -> dict[str, Any]:
    """What `info` would hold: from the document's own fields, else the first simulation's, else the file's name."""
    first = document.row(0) if document.items else None
    row = mapping(first.data) if isinstance(first, Row) else {}
    named = _FILE.match(stem)
    fields = {key: tasks.field(key) for key in document.fields if key not in _BESIDE}

    def word(name: str, *keys: str) -> str:
        places = (*(fields.get(key) for key in keys), *(row.get(key) for key in keys), named and named[name])
        return next((text(value) for value in places if isinstance(value, str) and value), "")

    model = word("model", "model", "llm", "agent_llm", "agent_model")
    agent = word("agent", "agent", "agent_implementation")
    user = word("user", "user_llm", "user_model", "user", "user_simulator")
    used = [key for key in (*_IDENTITY, "domain") if isinstance(fields.get(key), str)]
    return rest(fields, (*used, "agent")) | non_empty(
        agent_info=mapping(fields.get("agent")) | non_empty(llm=model, implementation=agent),
        user_info=non_empty(llm=user),
        environment_info=non_empty(domain_name=word("domain", "domain")),
    )


_glance = msgspec.json.Decoder(_Tau2Glance)


def simulation_files(results: Path) -> list[Path]:
    """tau2-bench itself looks for this folder beside the results, too."""
    return [child for child in children(results.parent / SIMULATIONS) if is_file(child) and child.suffix == ".json"]


def _counted_simulations(document: LongDocument, files: list[Path]) -> int:
    """How many simulations tau2-bench averages."""
    pieces: Iterator[bytes] = (bytes(piece) for piece in document.items)
    if files:
        pieces = (file.read_bytes() for file in files)
    return sum(map(_is_counted, pieces))


def _is_counted(piece: bytes) -> bool:
    try:
        glance = _glance.decode(piece)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    has_reward = glance.reward_info is not None and glance.reward_info.reward is not None
    return has_reward and ending_of(glance.termination_reason).counted


def run_of(info: dict[str, Any], tasks: Tasks, *, name: str, n: int, origin: Path, ref: SourceRef) -> Run:
    agent, user = mapping(info.get("agent_info")), mapping(info.get("user_info"))
    world = mapping(info.get("environment_info"))
    commit = text(info.get("git_commit"))
    timestamp = tasks.field("timestamp")
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
        roles=non_empty(user=text(user.get("llm"))),
        suite=f"tau2-bench/{domain}" if domain else "tau2-bench",
        expected_cases=len([*tasks.names()]) or None,
        started_at=moment(timestamp),
        # the average over all simulations that tau2-bench considers evaluable; no file has it
        reported=(Reported(name="average reward", metric="mean", n=n, headline=True, ref=ref),),
        scale=ScoreScale(lowest=0, highest=1, is_product=True),
        context=tuple(_context(world, user, ref.below("info"))),
        code=CodeVersion(commit=commit) if commit else None,
        environment=settings(rest(info, _INFO) | non_empty(**_rest_of(agent, user, world))),
        origin=str(origin),
        ref=ref,
        extra=non_empty(
            timestamp=timestamp if moment(timestamp) is None else None, simulation_index=tasks.field("simulation_index")
        ),
    )


def _rest_of(agent: dict[str, Any], user: dict[str, Any], world: dict[str, Any]) -> dict[str, Any]:
    return {
        "agent": rest(agent, _AGENT),
        "user": rest(user, ("llm", "global_simulation_guidelines")),
        "environment": rest(world, ("domain_name", "policy")),
    }


def _context(world: dict[str, Any], user: dict[str, Any], ref: SourceRef) -> Iterator[Artefact]:
    """The policy of the agent, and the guidelines of the simulated user."""
    for prompt, path, place in (
        (world.get("policy"), "policy.md", ref.below("environment_info", "policy")),
        (user.get("global_simulation_guidelines"), "user_guidelines.md", ref.below("user_info")),
    ):
        if isinstance(prompt, str) and prompt:
            size = len(prompt.encode("utf-8", "replace"))
            yield Artefact(role="context", path=path, size=size, text=prompt, ref=place)
