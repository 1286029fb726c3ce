"""The run of a log: models, scorers, roles, the numbers that Inspect reports, tokens and cost."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from errata.model import (
    CodeVersion,
    Evidence,
    Reported,
    Run,
    Scorer,
    SourceInfo,
    SourceRef,
    Subject,
    Usage,
    UsageByRole,
)
from errata.model.identity import fingerprint
from errata.model.usage import NO_USAGE, total_cost, total_of
from errata.sources.inspect_ai import NAME
from errata.sources.inspect_ai.logs import InspectLog
from errata.sources.inspect_ai.values import words
from errata.sources.shared.usage import usage_of
from errata.sources.shared.values import count, mapping, moment, number, plain, rest, sequence
from errata.text.lazy_regex import lazy_regex

_HEADER = frozenset(("version", "status", "eval", "plan", "results", "stats", "error", "samples", "reductions"))
_EVAL = frozenset(
    (
        "eval_id", "run_id", "task_id", "created", "task_version", "task_display_name", "task_args", "dataset", "model",
        "model_generate_config", "model_args", "solver", "revision", "packages", "sandbox", "config",
        "scorers",
    )
)  # fmt: skip
_DATASET = frozenset(("sample_ids",))
_STATS = frozenset(("started_at", "completed_at", "model_usage", "role_usage"))
_PLAIN_SOLVERS = frozenset(
    (
        "generate", "multiple_choice", "chain_of_thought", "prompt_template", "system_message", "user_message",
        "assistant_message", "self_critique", "use_tools",
    )
)  # fmt: skip
_UNCERTAINTY = frozenset(("stderr", "std_err", "bootstrap_stderr"))
_TASK = lazy_regex(r"[/@\\:]")
_PATTERN = lazy_regex(r"[*?\[]")
"""Sample ids may be selected with wildcards."""
JUDGE_ROLES = frozenset(("grader", "judge", "scorer"))
_JUDGING = "model_graded"
"""The prefix of Inspect's own scorers that use a judge model."""
SIMULATOR_ROLES = frozenset(("user", "simulator", "user_simulator"))
_FIELDS = ("input", "output", "total", "cache_read", "cache_write", "reasoning", "cost")


class Judges(NamedTuple):
    """The judges of a run, as names of models and roles."""

    models: frozenset[str]
    roles: frozenset[str]


def run_of(log: InspectLog, origin: str, scorers: dict[str, Scorer], judges: Judges) -> Run:
    """`scorers` and `judges` are those of the header."""
    header = log.header
    spec, stats, plan = mapping(header.get("eval")), mapping(header.get("stats")), mapping(header.get("plan"))
    return Run(
        native_id=_native_id(spec),
        external_id=words(spec.get("task_id")),
        group=words(spec.get("eval_set_id")) or words(spec.get("run_id")),
        source=SourceInfo(name=NAME, format_version=words(header.get("version"))),
        name=words(spec.get("task_display_name")),
        subject=_subject(spec, plan),
        roles=roles_of(header, scorers),
        variant={name: _as_text(arg) for name, arg in mapping(spec.get("task_args")).items() if arg is not None},
        suite=suite_of(header),
        suite_version=words(spec.get("task_version")),
        expected_cases=expected_cases(header),
        measured_attempts=measured_attempts(header),
        started_at=moment(stats.get("started_at") or spec.get("created")),
        finished_at=moment(stats.get("completed_at")),
        native_status=words(header.get("status")),
        reported=tuple(_reported(header, log.ref)),
        scorers=tuple(scorers.values()),
        code=_code(mapping(spec.get("revision"))),
        environment=rest({name: spec.get(name) for name in ("packages", "sandbox", "config")}, frozenset()),
        log_evidence=tuple(_error(mapping(header.get("error")), log.ref)),
        usage=by_role(stats, judges),
        origin=origin,
        extra=_extra(header, spec),
        ref=log.ref,
    )


def suite_of(header: dict[str, Any]) -> str:
    """`inspect_evals/arc_easy` and `tasks.py@arc_easy` are one suite."""
    return _TASK.split(words(mapping(header.get("eval")).get("task")))[-1]


def expected_cases(header: dict[str, Any]) -> int | None:
    """The listed ids are those left after limits and selections; `samples` is the size of the whole dataset.

    Published logs may be shortened: then the results still have the number of samples.
    """
    spec, results = mapping(header.get("eval")), mapping(header.get("results"))
    config, dataset = mapping(spec.get("config")), mapping(spec.get("dataset"))
    ids = sequence(dataset.get("sample_ids"))
    planned = (count(results.get("total_samples")) or 0) // (count(config.get("epochs")) or 1)
    if not ids:
        return planned or _selected(config, count(dataset.get("samples")))
    return planned if planned > len(ids) else len(set(map(words, ids)))


def _selected(config: dict[str, Any], samples: int | None) -> int | None:
    """How many of the samples `--sample-id` or `--limit` selects; None where a pattern leaves it open."""
    chosen = config.get("sample_id")
    if chosen is not None:
        names = set(map(words, chosen if isinstance(chosen, list) else [chosen]))
        return None if any(_PATTERN.search(name) for name in names) else _at_most(samples, len(names))
    limit = config.get("limit")
    if isinstance(limit, list):
        first, end = (*map(count, limit), None, None)[:2]
        return samples if first is None or end is None else max(0, (_at_most(samples, end) or 0) - first)
    most = count(limit)
    return samples if most is None else _at_most(samples, most)


def _at_most(samples: int | None, most: int) -> int:
    return most if samples is None else min(samples, most)


def measured_attempts(header: dict[str, Any]) -> int | None:
    """The number of samples without an error, all epochs, whether or not the log still contains them."""
    return count(mapping(header.get("results")).get("completed_samples"))


def _native_id(spec: dict[str, Any]) -> str:
    """Old logs have no `eval_id`: their id is run and task."""
    ids = [words(spec.get(name)) for name in ("run_id", "task_id")]
    return words(spec.get("eval_id")) or "_".join(filter(None, ids)) or fingerprint(plain(spec))


def _subject(spec: dict[str, Any], plan: dict[str, Any]) -> Subject:
    model = model_name(spec.get("model"))
    given = {"model_args": spec.get("model_args")} if mapping(spec.get("model_args")) else {}
    params = {**mapping(plan.get("config")), **mapping(spec.get("model_generate_config")), **given}
    return Subject(
        model=model,
        provider=model.partition("/")[0] if "/" in model else "",
        agent=_agent(spec, plan),
        params=rest(params, frozenset()),
    )


def _agent(spec: dict[str, Any], plan: dict[str, Any]) -> str:
    """The given solver, else the last solver of the task's plan if it does more than call the model."""
    steps = [words(mapping(step).get("solver")) for step in sequence(plan.get("steps"))]
    last = steps[-1] if steps else ""
    return words(spec.get("solver")) or (last if last.rpartition("/")[2] not in _PLAIN_SOLVERS else "")


def _code(revision: dict[str, Any]) -> CodeVersion | None:
    if not revision:
        return None
    taken = frozenset(("origin", "commit"))
    return CodeVersion(
        repo=words(revision.get("origin")), commit=words(revision.get("commit")), extra=rest(revision, taken)
    )


def _reported(header: dict[str, Any], ref: SourceRef) -> Iterator[Reported]:
    results = mapping(header.get("results"))
    headline = mapping(results.get("headline"))
    scores = [mapping(score) for score in sequence(results.get("scores"))] or _only_score(results)
    first = True
    for place, score in enumerate(scores):
        metrics = {name: mapping(metric) for name, metric in mapping(score.get("metrics")).items()}
        error = next((number(metrics[name].get("value")) for name in metrics if name in _UNCERTAINTY), None)
        for name, metric in metrics.items():
            made = _metric(name, metric, score, ref.below("results", "scores", place, "metrics", name))
            is_headline = _is_headline(headline, score, name) if headline else first
            stderr = None if name in _UNCERTAINTY else error
            yield msgspec.structs.replace(made, headline=is_headline and first, stderr=stderr)
            first = first and not is_headline


def _metric(name: str, metric: dict[str, Any], score: dict[str, Any], ref: SourceRef) -> Reported:
    value = metric.get("value")
    extra = rest(metric, frozenset(("value",))) | rest(score, frozenset(("name", "scorer", "reducer", "metrics")))
    if number(value) is None and value is not None:
        extra["value"] = plain(value)
    return Reported(
        name=words(score.get("name")),
        metric=name,
        scorer=words(score.get("scorer")) or words(score.get("name")),
        reducer=words(score.get("reducer")),
        value=number(value),
        n=count(score.get("scored_samples")),
        extra=extra,
        ref=ref,
    )


def _only_score(results: dict[str, Any]) -> list[dict[str, Any]]:
    """The form of results in old logs, which have only one scorer."""
    scorer = mapping(results.get("scorer"))
    return [{**scorer, "metrics": results.get("metrics")}] if scorer else []


def _is_headline(headline: dict[str, Any], score: dict[str, Any], metric: str) -> bool:
    names = {
        "scorer": score.get("scorer"),
        "score": score.get("name"),
        "reducer": score.get("reducer"),
        "metric": metric,
    }
    return all(headline.get(name) in (None, value) for name, value in names.items())


def _error(error: dict[str, Any], ref: SourceRef) -> Iterator[Evidence]:
    if error:
        extra = rest(error, frozenset(("message", "traceback_ansi")))
        place = ref.below("error")
        yield Evidence(name="error", quote=words(error.get("message")), extra=extra, ref=place)


def _extra(header: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    dataset = rest(mapping(spec.get("dataset")), _DATASET)
    parts = {
        "eval": rest(spec, _EVAL) | ({"dataset": dataset} if dataset else {}) | rest(_ids(spec), frozenset()),
        "plan": plain(header.get("plan")),
        "results": rest(
            mapping(header.get("results")), frozenset(("scores", "scorer", "metrics", "sample_reductions"))
        ),
        "stats": rest(mapping(header.get("stats")), _STATS),
    }
    usage = mapping(mapping(header.get("stats")).get("model_usage"))
    if len(usage) > 1:
        parts["model_usage"] = plain(usage)
    return {name: value for name, value in parts.items() if value} | rest(header, _HEADER)


def _ids(spec: dict[str, Any]) -> dict[str, Any]:
    return {name: spec.get(name) for name in ("run_id", "created", "model_base_url")}


def _as_text(value: Any) -> str:
    return value if type(value) is str else msgspec.json.encode(plain(value)).decode()


def model_name(value: Any) -> str:
    """A model is given as text, as a configuration, or, for a role with several models, as a list of these."""
    if type(value) is list:
        return ", ".join(filter(None, map(model_name, value)))
    return words(mapping(value).get("model")) if type(value) is dict else words(value)


def roles_of(header: dict[str, Any], scorers: dict[str, Scorer]) -> dict[str, str]:
    spec = mapping(header.get("eval"))
    roles = {}
    for role, config in mapping(spec.get("model_roles")).items():
        known = "judge" if role in JUDGE_ROLES else "simulator" if role in SIMULATOR_ROLES else role
        roles[known if known not in roles else role] = model_name(config)
    judging = [scorer for scorer in scorers.values() if scorer.model]
    if judging:
        roles.setdefault("judge", judging[0].model)
    return {role: model for role, model in roles.items() if model}


def judges_of(header: dict[str, Any]) -> Judges:
    spec = mapping(header.get("eval"))
    named = {
        model_name(model) for value in _judging_models(header) for model in (value if type(value) is list else [value])
    }
    asked = {words(_options(scorer).get("model_role")) for scorer in _declared(header)}
    roles = {role for role in mapping(spec.get("model_roles")) if role in JUDGE_ROLES} | asked | JUDGE_ROLES
    subject = model_name(spec.get("model"))
    return Judges(frozenset(named - {"", subject}), frozenset(roles - {""}))


def scorers_of(header: dict[str, Any]) -> dict[str, Scorer]:
    """Scorers by name. Early logs do not list them, but their results name them."""
    scorers: dict[str, Scorer] = {}
    for declared in _declared(header):
        name = words(declared.get("name"))
        # a repeated name gets a number, as in the scores
        unique = name if name not in scorers else f"{name}{len([one for one in scorers if one.startswith(name)])}"
        model = model_name(_judge(declared, header))
        scorers[unique] = Scorer(
            name=unique,
            kind="judge" if model or _is_judging(name) else "code",
            model=model,
            extra=rest(declared, frozenset(("name",))),
        )
    return scorers


def _declared(header: dict[str, Any]) -> list[dict[str, Any]]:
    spec, results = mapping(header.get("eval")), mapping(header.get("results"))
    declared = [mapping(scorer) for scorer in sequence(spec.get("scorers"))]
    if declared:
        return declared
    scores = [mapping(score) for score in sequence(results.get("scores"))] or [mapping(results.get("scorer"))]
    by_name = {
        name: {"name": name, "options": score.get("params")}
        for score in scores
        if (name := words(score.get("scorer")) or words(score.get("name")))
    }
    return list(by_name.values())


def _judging_models(header: dict[str, Any]) -> Iterator[Any]:
    for role, config in mapping(mapping(header.get("eval")).get("model_roles")).items():
        if role in JUDGE_ROLES:
            yield config
    for declared in _declared(header):
        yield _judge(declared, header)


def _judge(declared: dict[str, Any], header: dict[str, Any]) -> Any:
    """The judge model of a scorer: its option, else the model of its role, else the subject itself."""
    spec, options = mapping(header.get("eval")), _options(declared)
    roles = mapping(spec.get("model_roles"))
    given = [value for name, value in options.items() if _is_model(name, value)]
    if given:
        return given[0]
    role = words(options.get("model_role"))
    if role in roles:
        return roles[role]
    if not _is_judging(words(declared.get("name"))):
        return None
    return next((roles[role] for role in sorted(JUDGE_ROLES) if role in roles), spec.get("model"))


def _is_model(name: str, value: Any) -> bool:
    """Options ending in `model` name a model; a model's configuration is recognised by its fields."""
    first = value[0] if type(value) is list and value else value
    if type(first) is dict:
        return type(first.get("model")) is str and "config" in first
    return type(first) is str and bool(first) and name.endswith("model")


def _options(declared: dict[str, Any]) -> dict[str, Any]:
    return mapping(declared.get("options")) or mapping(declared.get("params"))


def _is_judging(name: str) -> bool:
    return name.rpartition("/")[2].startswith(_JUDGING)


def sum_of(usages: Iterable[Usage]) -> Usage:
    given = [usage for usage in usages if usage != NO_USAGE]
    if not given:
        return NO_USAGE
    return Usage(
        input=total_of(usage.input for usage in given),
        output=total_of(usage.output for usage in given),
        total=total_of(usage.total for usage in given),
        cache_read=total_of(usage.cache_read for usage in given),
        cache_write=total_of(usage.cache_write for usage in given),
        reasoning=total_of(usage.reasoning for usage in given),
        cost=total_cost(usage.cost for usage in given),
        cost_source="reported" if any(usage.cost is not None for usage in given) else "unknown",
        includes_cache=False,
    )


def by_role(data: dict[str, Any], judges: Judges, scoring: Iterable[Usage] = ()) -> UsageByRole:
    """Usage by role, from the role of a call, the model's name, or the calls inside scorers.

    `data` has `model_usage` and `role_usage`; `scoring` is the usage of calls inside scorers.
    """
    models = {name: usage_of(raw) for name, raw in mapping(data.get("model_usage")).items()}
    roles = {name: usage_of(raw) for name, raw in mapping(data.get("role_usage")).items()}
    scoring = list(scoring)
    if not models and not roles and not scoring:
        return _NO_USAGE_AT_ALL
    whole = sum_of(models.values())
    simulator = sum_of(usage for role, usage in roles.items() if role in SIMULATOR_ROLES)
    judged = sum_of(usage for role, usage in roles.items() if role in judges.roles)
    named = sum_of(usage for name, usage in models.items() if name in judges.models)
    if judged == NO_USAGE and named != NO_USAGE:
        others = sum_of(usage for name, usage in models.items() if name not in judges.models)
        return UsageByRole(subject=_without(others, simulator) or others, judge=named, simulator=simulator)
    judge = judged if judged != NO_USAGE else sum_of(scoring)
    left = _without(_without(whole, simulator), judge)
    if left is None:
        return UsageByRole(subject=whole, simulator=simulator)
    return UsageByRole(subject=left, judge=judge, simulator=simulator)


_NO_USAGE_AT_ALL = UsageByRole(subject=sum_of(()), judge=sum_of(()), simulator=sum_of(()))


def _without(whole: Usage | None, part: Usage) -> Usage | None:
    """The difference; None if it would be negative, because cached calls are not in the whole."""
    if whole is None or part == NO_USAGE:
        return whole
    left: dict[str, Any] = {}
    for name in _FIELDS:
        whole_value, part_value = getattr(whole, name), getattr(part, name)
        left[name] = whole_value if whole_value is None or part_value is None else whole_value - part_value
        if left[name] is not None and left[name] < 0:
            return None
    return Usage(cost_source="unknown" if left["cost"] is None else "reported", includes_cache=False, **left)
