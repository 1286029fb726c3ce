"""The rows of one document → its case and its attempt.

A row holds a document and a filter, which is a way to extract the answer from the text. All rows of a document are one
attempt: its checks are measure × filter, and the first one that lm-eval names decides.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from errata.model import Attempt, Case, Check, Item, Output, Run, case_key
from errata.model.words import Outcome
from errata.sources.base import Row, decode, number_or_none
from errata.sources.lm_eval import NAME
from errata.sources.lm_eval.results import ResultsDocument, TaskMeasure, TaskPlan
from errata.sources.shared.chat import steps_of_tries
from errata.sources.shared.facts import outcome_of, status_of
from errata.sources.shared.row_groups import split_copies
from errata.sources.shared.values import as_text, mapping, name_of, non_empty, number, plain, rest, sequence, text

NO_FILTER = "none"
NO_MATCH = "[invalid]"
"""Written by a filter that finds no answer."""
ROW = frozenset(
    ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash",
     "prompt_hash", "target_hash")
)  # fmt: skip
LIKELIHOOD = "acc"
"""The measure that takes the likeliest continuation as the answer."""


class DocumentKey(msgspec.Struct):
    """The key that groups the rows of a document."""

    doc_id: Any = None

    def key(self) -> Any:
        return None if self.doc_id is None else as_text(self.doc_id)


class Task(NamedTuple):
    """What the rows of a file have in common."""

    run: Run
    results: ResultsDocument
    plan: TaskPlan
    name: str

    def case(self, number: Any) -> str:
        return f"{self.name}/{name_of(number)}" if self.plan.is_group else name_of(number)


class FilteredRow(NamedTuple):
    """One row: the answers that one filter extracted, and their scores."""

    filter: str
    row: Row

    @property
    def metrics(self) -> list[str]:
        """Listed in newer rows; in older ones, all fields that are nothing else."""
        names = [name for name in map(text, sequence(self.row.data.get("metrics"))) if name in self.row.data]
        return names or [name for name in self.row.data if name not in ROW]

    @property
    def found_nothing(self) -> bool:
        answers = self.row.data.get("filtered_resps")
        return NO_MATCH in (answers if isinstance(answers, list) else [answers])


class SampleRequest(NamedTuple):
    input: Any
    """A text, or a chat."""
    choices: tuple[str, ...]
    generation: Any
    """The generation settings; None if the model was only asked for likelihoods."""
    requests: list[Any]
    """All requests, if they differ in more than the choice."""

    @property
    def generates(self) -> bool:
        return self.generation is not None


def items_of(task: Task, group: Row) -> Iterator[Item]:
    last = ""
    name = task.case(group.data[0].data["doc_id"])
    rows, copies = split_copies(group.data, name, source=NAME)
    yield from copies
    for index, tried in enumerate(tries_of(rows, task.results.filters(task.name)), start=1):
        request = request_of(tried[0].row.data.get("arguments"))
        case = _case(task, tried[0].row, request)
        if index == 1 or case.digest != last:
            yield case
        last = case.digest
        yield _attempt(task, tried, index, request)


def _case(task: Task, row: Row, request: SampleRequest) -> Case:
    data = row.data
    hashes = {name: data.get(name) for name in ("doc_hash", "prompt_hash", "target_hash")}
    return Case(
        run=task.run.id,
        suite=task.run.suite,
        native_id=task.case(data["doc_id"]),
        category=task.name if task.plan.is_group else "",
        input=request.input,
        choices=request.choices,
        expected=_expected(data.get("target"), request.choices),
        extra=non_empty(doc=data["doc"], generation=request.generation, requests=request.requests, **hashes),
        ref=row.ref,
    )


def _expected(target: Any, choices: tuple[str, ...]) -> Any:
    """With several choices, the target is the number of the right one."""
    if choices and text(target).isdecimal() and int(target) < len(choices):
        return choices[int(target)]
    return plain(target)


def _attempt(task: Task, tried: list[FilteredRow], index: int, request: SampleRequest) -> Attempt:
    primary = primary_of(next(iter(task.results.measures(task.plan.name)), None), tried)
    checks = tuple(checks_of(task.results, task.name, tried, primary))
    main = next((check for check in checks if check.is_primary), None)
    first = next((one for one in tried if primary.endswith(f",{one.filter}")), tried[0])
    value = value_of(main)
    return Attempt(
        run=task.run.id,
        case=case_key(task.run.suite, task.case(first.row.data["doc_id"])),
        index=index,
        execution="completed",
        measurement="unscored" if main is None or main.status == "unscored" else "scored",
        outcome=outcome(main),
        native_status=f"{primary} {value:g}" if value is not None else "",
        reported=value,
        reported_counted=value is not None and bool(task.run.reported),
        output=_output(first, request, primary),
        checks=checks,
        steps=steps_of_tries(texts_of(first.row.data.get("resps"))) if request.generates else (),
        extra=_beside(tried, first, request),
        ref=first.row.ref,
    )


def _output(filtered: FilteredRow, request: SampleRequest, primary: str) -> Output:
    data = filtered.row.data
    if not request.generates:
        # `acc` takes the highest likelihood as the answer; other measures weigh by length
        chosen = likeliest(data.get("resps"), request.choices) if primary.startswith(f"{LIKELIHOOD},") else None
        return Output(structured=plain(data.get("resps")), answer=chosen)
    texts, answers = texts_of(data.get("resps")), data.get("filtered_resps")
    answer = answers[0] if isinstance(answers, list) and len(answers) == 1 else answers
    answer_text = texts[0] if texts else None
    return Output(
        text=answer_text,
        answer=answer if isinstance(answer, str) and answer != answer_text else None,
        extraction=filtered.filter if filtered.filter != NO_FILTER else "",
        extra={} if isinstance(answer, str) else non_empty(filtered=answers),
    )


def _beside(tried: list[FilteredRow], first: FilteredRow, request: SampleRequest) -> dict[str, Any]:
    """Answers that the other filters extracted from the same texts, and fields without a place of their own."""
    data = first.row.data
    answers = {filtered.filter: filtered.row.data.get("filtered_resps") for filtered in tried if filtered is not first}
    if not request.generates and data.get("filtered_resps") != [
        sequence(filtered)[:1] for filtered in sequence(data.get("resps"))
    ]:
        answers[first.filter] = data.get("filtered_resps")
    listed_metrics = data.get("metrics") if data.get("metrics") != first.metrics else None
    return non_empty(filtered=answers, metrics=listed_metrics) | rest(data, ROW | set(first.metrics))


def tries_of(rows: tuple[Row, ...], filters: list[str]) -> list[list[FilteredRow]]:
    """A repeated filter means a repeated document. Older rows have no filter name: their order decides."""
    tries: list[list[FilteredRow]] = []
    for row in rows:
        filter_name = text(row.data.get("filter"))
        for tried in tries:
            kind = filter_name or (filters[len(tried)] if len(tried) < len(filters) else "")
            if kind and kind not in [one.filter for one in tried]:
                tried.append(FilteredRow(kind, row))
                break
        else:
            tries.append([FilteredRow(filter_name or (filters[0] if filters else NO_FILTER), row)])
    return tries


def primary_of(headline: TaskMeasure | None, tried: list[FilteredRow]) -> str:
    """The name of the deciding check: the headline's, otherwise the first of these rows."""
    metrics = [(name, one.filter) for one in tried for name in one.metrics]
    for name, kind in metrics:
        if headline is not None and name == headline.name and headline.filter in ("", kind):
            return key_of(name, kind)
    return key_of(*metrics[0]) if metrics else ""


def key_of(name: str, kind: str) -> str:
    return f"{name},{kind}"


def checks_of(results: ResultsDocument, task: str, tried: list[FilteredRow], primary: str) -> Iterator[Check]:
    metrics = [(filtered, name) for filtered in tried for name in filtered.metrics]
    for order, (filtered, name) in enumerate(metrics):
        raw = filtered.row.data.get(name)
        value = raw if isinstance(raw, bool) else number(raw)
        lower, key = results.lower_is_better(task, name), key_of(name, filtered.filter)
        aggregation = results.averages(TaskPlan(task, (task,)), TaskMeasure(name, filtered.filter, None, None))
        yield Check(
            name=key,
            # a measure that is not a mean over rows, such as a perplexity, has no passing or failing rows
            status=status_of(_grade(value, lower=lower))
            if aggregation == "mean" and _is_one(raw)
            else "not_applicable",
            scorer=name,
            order=order,
            value=value,
            lower_is_better=lower,
            is_primary=key == primary,
            counts=key == primary,
            reason_code="no_match" if filtered.found_nothing else "",
            extra=non_empty(value=raw) if value is None else {},
            ref=filtered.row.ref.below(name),
        )


def value_of(check: Check | None) -> float | None:
    """The value that lm-eval averages."""
    return float(check.value) if check is not None and isinstance(check.value, float | bool) else None


def outcome(check: Check | None) -> Outcome:
    if check is None or check.status == "not_applicable":
        return "none"
    return outcome_of(_grade(value_of(check), lower=check.lower_is_better))


def _grade(value: float | None, *, lower: bool) -> float | None:
    return None if value is None else 1 - value if lower else float(value)


def _is_one(value: object) -> bool:
    """Some measures keep the data they are computed from in each row, such as a pair of texts."""
    return not isinstance(value, list | dict)


def request_of(arguments: Any) -> SampleRequest:
    requests = list(_requests(arguments))
    contexts = [request[0] for request in requests if request]
    options = [request[1] for request in requests if len(request) > 1]
    generation = next((option for option in options if isinstance(option, dict)), None)
    choices = [option for option in options if isinstance(option, str)]
    several = len(choices) > 1 and len(choices) == len(requests)
    same = all(context == contexts[0] for context in contexts[1:])
    return SampleRequest(
        input=_prompt(contexts[0]) if contexts else None,
        choices=tuple(choice.strip() for choice in choices) if several else (),
        generation=plain(generation),
        requests=[] if same and (several or len(requests) == 1) else plain(requests),
    )


def _requests(arguments: Any) -> Iterator[list[Any]]:
    """Named `gen_args_0` with `arg_0` below; in older files, lists in a list."""
    if isinstance(arguments, dict):
        for request in arguments.values():
            yield list(mapping(request).values())
    for request in sequence(arguments):
        yield sequence(request) or [request]


def _prompt(context: Any) -> Any:
    """A chat is stored as JSON in a text, in a list."""
    prompt = context[0] if isinstance(context, list) and len(context) == 1 else context
    if isinstance(prompt, str) and prompt.lstrip().startswith("[{"):
        try:
            return plain(decode(prompt.encode()))
        except ValueError:
            return prompt
    return plain(prompt)


def texts_of(responses: Any) -> list[str]:
    """All generated texts; repeats of the first request come first."""
    return [
        response if isinstance(response, str) else as_text(response)
        for tries in sequence(responses)
        for response in (tries if isinstance(tries, list) else [tries])
        if response is not None
    ]


def likeliest(responses: Any, choices: tuple[str, ...]) -> str | None:
    """The choice with the highest likelihood; None if there is a tie or no likelihood."""
    likelihoods = [number_or_none(_first(sequence(tries))) for tries in sequence(responses)]
    values = [value for value in likelihoods if value is not None]
    if len(values) != len(choices) or len(likelihoods) != len(choices) or values.count(max(values, default=0)) != 1:
        return None
    return choices[values.index(max(values))]


def _first(tries: list[Any]) -> Any:
    """`[[-0.1, False]]`; in newer files, the numbers are texts."""
    inner = tries[0] if tries else None
    return inner[0] if isinstance(inner, list) and inner else inner
