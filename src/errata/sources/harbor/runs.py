"""A Harbor job and its runs: one per agent, model and dataset, with the numbers that the job reports."""

import os
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import CodeVersion, Reported, Run, SourceInfo, Subject, Unreadable, Usage, UsageByRole
from errata.sources.harbor import NAME
from errata.sources.paths import folder_names, names_in
from errata.sources.shared.documents import Documents
from errata.sources.shared.values import (
    count,
    last_part,
    mapping,
    moment,
    non_empty,
    number,
    reported_cost,
    rest,
    sequence,
    settings,
    text,
)

ADHOC = "adhoc"
"""Harbor's own word for tasks without a dataset."""
_STATS = ("n_completed_trials", "n_errored_trials", "n_running_trials", "n_pending_trials", "n_cancelled_trials")
_OLD_STATS = ("n_trials", "n_errors", "n_retries")
_HOMES = ("id", "started_at", "finished_at", "n_total_trials", "stats", "trial_results")
_STATS_HOMES = (*_STATS, *_OLD_STATS, "evals", "n_input_tokens", "n_cache_tokens", "n_output_tokens", "cost_usd")
_EVAL_HOMES = ("n_trials", "n_errors", "metrics", "pass_at_k", "reward_stats", "exception_stats")


class EvalKey(NamedTuple):
    """One key of `stats.evals`."""

    agent: str
    model: str
    dataset: str


class HarborTrial(NamedTuple):
    place: str
    """Its folder: a job may have very many, and path objects for all of them would take long to make."""
    file: str
    """Of the result."""
    names: frozenset[str]
    """What is in the folder. A job has very many, and most lack most of what there may be."""
    name: str
    task: str
    group: EvalKey
    native_key: str
    """As in `stats.evals`: without the model if Harbor did not know it."""
    provider: str
    version: str
    job: str
    trials_dir: str
    has_result: bool
    settings: dict[str, Any]
    """The configuration of agent and environment."""
    inline: dict[str, Any] = {}
    """The result, if it is only in the job's own file."""
    pointer: str = ""

    @property
    def folder_name(self) -> str:
        return os.path.basename(self.place)  # noqa: PTH119


def trials_of(folder: Path, documents: Documents) -> tuple[list[HarborTrial], list[Unreadable]]:
    """The trials in name order, so that equal folders give equal numbers, and the problems of unreadable ones."""
    trials, lost = [], []
    for name in folder_names(folder):
        trial = glance(os.path.join(folder, name), documents)  # noqa: PTH118
        problems = list(documents.problems())
        if trial is not None:
            trials.append(trial)  # its problems are reported when it is read in full
        else:
            lost += problems
    return trials, lost


def inline_trials(job: dict[str, Any], folder: Path, seen: set[str]) -> list[HarborTrial]:
    trials = []
    for at, entry in enumerate(sequence(job.get("trial_results"))):
        result = mapping(entry)
        name = last_part(result.get("trial_name"))
        own, config = str(folder / (name or "_")), mapping(result.get("config"))
        if name in seen:
            continue
        if trial := _trial(own, result, config, str(folder / "result.json"), names_in(own)):
            trials.append(trial._replace(inline=result, pointer=f"/trial_results/{at}"))
    return trials


def glance(place: str, documents: Documents) -> HarborTrial | None:
    """None if the folder is not that of a trial, or nothing can be read of it."""
    names, file = names_in(place), f"{place}{os.sep}result.json"
    result = documents.get(file, again=True) if "result.json" in names else {}
    config = mapping(result.get("config"))
    if not config and "config.json" in names:
        config = documents.get(f"{place}{os.sep}config.json", again=True)
    return _trial(place, result, config, file, _shared(names))


@lru_cache(1024)
def _shared(names: frozenset[str]) -> frozenset[str]:
    """One object for all folders with equal names in them."""
    return names


def _trial(
    place: str, result: dict[str, Any], config: dict[str, Any], file: str, names: frozenset[str]
) -> HarborTrial | None:
    has_result = "task_name" in result or "trial_name" in result
    if not has_result and not {"task", "agent"} & config.keys():
        return None
    task = mapping(config.get("task"))
    own = os.path.basename(place)  # noqa: PTH119
    return HarborTrial(
        place=place,
        file=file,
        names=names,
        name=text(result.get("trial_name")) or text(config.get("trial_name")) or own,
        task=text(result.get("task_name")) or text(task.get("name")) or last_part(task.get("path")) or own,
        has_result=has_result,
        job=text(config.get("job_id")),
        trials_dir=last_part(config.get("trials_dir")),
        settings={"agent": config.get("agent"), "environment": config.get("environment")},
        **_subject(result, config, text(result.get("source")) or text(task.get("source")) or ADHOC),
    )


def model_of(name: str) -> tuple[str, str]:
    """`openai/gpt-5` is a provider and a model."""
    provider, slash, model = name.partition("/")
    return (provider, model) if slash and model else ("", name)


def _subject(result: dict[str, Any], config: dict[str, Any], dataset: str) -> dict[str, Any]:
    info, asked = mapping(result.get("agent_info")), mapping(config.get("agent"))
    model_info = mapping(info.get("model_info"))
    agent = text(info.get("name")) or text(asked.get("name")) or text(asked.get("import_path"))
    provider, model = model_of(text(asked.get("model_name")))
    named = text(model_info.get("name"))
    return {
        "group": EvalKey(agent, named or model, dataset),
        "native_key": "__".join(part for part in (agent, named, dataset) if part),
        "provider": text(model_info.get("provider")) or provider,
        "version": text(info.get("version")),
    }


class Job:
    """The documents of the job's own folder and its trials, by the run that they belong to."""

    def __init__(self, folder: Path, trials: list[HarborTrial], documents: Documents) -> None:
        self.folder = folder
        self.result = documents.get(folder / "result.json")
        self.config = documents.get(folder / "config.json")
        self.lock = documents.get(folder / "lock.json")
        self.ref = documents.ref(folder / "result.json" if self.result else folder / "config.json")
        self.log = documents.artefact(folder / "job.log", "log", name="job.log", clean=True)
        self.stats = mapping(self.result.get("stats"))
        self.groups: dict[EvalKey, list[HarborTrial]] = {}
        manifest = documents.get(folder / "download_manifest.json") if trials else {}
        rows = map(mapping, sequence(manifest.get("downloaded")))
        self.requeued = {text(row.get("trial_name")) for row in rows if row.get("retry_count")}
        """Trials that the hub has run again; earlier tries are in another folder, if at all."""
        self._evals: dict[EvalKey, tuple[str, dict[str, Any]]] = {}
        self._named: dict[EvalKey, set[str] | None] = {}
        for trial in (*trials, *inline_trials(self.result, folder, {trial.name for trial in trials})):
            self.groups.setdefault(trial.group, []).append(trial)
        for key in mapping(self.stats.get("evals")) if not self.groups else ():
            self.groups[_group_of_key(key)] = []
        if not self.groups and self.result:
            self.groups[_configured(self.config)] = []

    @property
    def native_id(self) -> str:
        jobs = [trial.job for trials in self.groups.values() for trial in trials if trial.job]
        return text(self.result.get("id")) or "".join(jobs[:1]) or self.name or self.folder.name

    @property
    def name(self) -> str:
        """The configured name, else the trials' own folder, unless it is Harbor's default `trials`."""
        names = [
            trial.trials_dir for trials in self.groups.values() for trial in trials if trial.trials_dir != "trials"
        ]
        return text(self.config.get("job_name")) or "".join(names[:1])

    @property
    def datasets(self) -> set[str]:
        return {group.dataset for group in self.groups}

    def eval_of(self, group: EvalKey) -> tuple[str, dict[str, Any]]:
        """The key in `stats.evals` and its value; a single key always matches a single run."""
        if group not in self._evals:
            evals = mapping(self.stats.get("evals"))
            keys = {trial.native_key for trial in self.groups[group]} | {"__".join(part for part in group if part)}
            match = next((key for key in evals if key in keys), None)
            if match is None and len(evals) == len(self.groups) == 1:
                match = next(iter(evals))
            self._evals[group] = (match, mapping(evals[match])) if match is not None else ("", {})
        return self._evals[group]

    def ended(self, group: EvalKey) -> int:
        """The number of finished trials in the job's stats. New files list them; in old ones `n_trials` excludes
        trials with an exception."""
        _, stats = self.eval_of(group)
        if names := _named_in(stats):
            return len(names)
        return (count(stats.get("n_trials")) or 0) + (count(stats.get("n_errors")) or 0)

    def unseen(self, group: EvalKey) -> set[str]:
        """Trials that the job names but that have no folder."""
        return _named_in(self.eval_of(group)[1]) - {trial.name for trial in self.groups[group]}

    def broken(self, group: EvalKey) -> dict[str, str]:
        """Unseen trials that were never measured → the type of their exception."""
        stats = self.eval_of(group)[1]
        unmeasured = self.unseen(group) - (_trial_names(mapping(stats.get("reward_stats"))) or set())
        exceptions = mapping(stats.get("exception_stats")).items()
        return {text(name): kind for kind, names in exceptions for name in sequence(names) if text(name) in unmeasured}

    def counted(self, trial: HarborTrial, result: dict[str, Any]) -> bool | None:
        """Whether the trial is one of the `n_trials` of its eval. New files list them; old ones only count them and
        exclude trials with an exception."""
        _, stats = self.eval_of(trial.group)
        if not stats:
            return None
        if trial.group not in self._named:
            self._named[trial.group] = _trial_names(mapping(stats.get("reward_stats")))
        names = self._named[trial.group]
        if names is not None:
            return trial.name in names
        has_rewards = bool(mapping(mapping(result.get("verifier_result")).get("rewards")))
        return has_rewards and result.get("exception_info") is None


def run_of(job: Job, group: EvalKey) -> Run:
    trials = job.groups[group]
    several = len(job.groups) > 1
    key, stats = job.eval_of(group)
    versions = Counter(trial.version for trial in trials if trial.version not in ("", "unknown"))
    providers = Counter(trial.provider for trial in trials if trial.provider)
    first = mapping(trials[0].settings) if trials else {}
    agent = mapping(first.get("agent"))
    harbor = mapping(job.lock.get("harbor"))
    return Run(
        native_id=job.native_id,
        group=(job.name or job.native_id) if several else "",
        name=(key or "__".join(part for part in group if part)) if several else job.name,
        source=SourceInfo(name=NAME, format_version=text(harbor.get("version"))),
        subject=Subject(
            model=group.model,
            provider=next(iter(dict(providers.most_common(1))), ""),
            agent=group.agent,
            agent_version=next(iter(dict(versions.most_common(1))), ""),
            params=settings(rest(agent, ("name", "model_name"))),
        ),
        variant={"dataset": group.dataset} if len(job.datasets) > 1 else {},
        suite=group.dataset,
        expected_cases=_expected(job, group),
        measured_attempts=_measured_attempts(job, group),
        started_at=moment(job.result.get("started_at")),
        finished_at=moment(job.result.get("finished_at")),
        native_status="" if job.result.get("finished_at") else "running",
        reported=tuple(_reported(job, key, stats)),
        context=(job.log,) if job.log else (),
        code=CodeVersion(repo="harbor", commit=commit) if (commit := text(harbor.get("git_commit_hash"))) else None,
        environment=settings(mapping(first.get("environment"))),
        usage=UsageByRole(subject=_usage(job.stats)) if not several else UsageByRole(),
        origin=str(job.folder),
        works_of=tuple(
            filter(None, (text(mapping(one).get("job_id")) for one in sequence(job.config.get("source_jobs"))))
        ),
        ref=job.ref,
        extra=_extra(job, key, stats),
    )


def _expected(job: Job, group: EvalKey) -> int | None:
    """The number of tasks, not trials: every agent of a job gets the same tasks, each `n_attempts` times."""
    tasks = {trial.task for found, trials in job.groups.items() if found.dataset == group.dataset for trial in trials}
    total = count(job.result.get("n_total_trials"))
    made = sum(map(len, job.groups.values()))
    if total is None or len(job.groups) > 1 or made >= total:
        return len(tasks) or None
    often = Counter(trial.task for trial in job.groups[group])
    attempts = count(job.config.get("n_attempts")) or max(often.values(), default=1)
    return max(len(tasks), -(-total // attempts))


def _measured_attempts(job: Job, group: EvalKey) -> int | None:
    """Only if the job counts more trials than there are folders."""
    lost = job.ended(group) - len(job.broken(group)) - sum(trial.has_result for trial in job.groups[group])
    if lost <= 0:
        return None
    tasks = {trial.task for trial in job.groups[group]}
    if (_expected(job, group) or 0) > len(tasks):
        return count(job.eval_of(group)[1].get("n_trials"))
    return job.ended(group)


def _reported(job: Job, key: str, stats: dict[str, Any]) -> Iterator[Reported]:
    """The harness's own numbers. `mean` is over the rewards of the trials in `n_trials`.

    Of several rewards each has a number of its own, and only the one that decides a trial can be recounted.
    """
    n = count(stats.get("n_trials"))
    headline = True
    for at, metric in enumerate(map(mapping, sequence(stats.get("metrics")))):
        main = next((name for name in ("reward", "mean") if name in metric), next(iter(metric), ""))
        for name, raw in metric.items():
            ref = job.ref.below("stats", "evals", key, "metrics", at, name)
            value = number(raw)
            yield Reported(
                name=name,
                metric="mean" if name == "reward" else name if len(metric) == 1 or name == "mean" else f"mean {name}",
                scorer="verifier",
                value=value,
                n=n,
                headline=headline and value is not None and name == main,
                ref=ref,
                extra={} if value is not None else non_empty(value=raw),
            )
            headline = headline and (value is None or name != main)
    if stats and headline:
        yield Reported(name="mean", metric="mean", scorer="verifier", n=n, headline=True, ref=job.ref)
    for k, raw in mapping(stats.get("pass_at_k")).items():
        yield Reported(name=f"pass@{k}", metric="pass_at_k", reducer=f"pass_at_{k}", value=number(raw), ref=job.ref)
    for name in ("n_trials", "n_errors"):
        if (value := number(stats.get(name))) is not None:
            yield Reported(name=name, metric=name, value=value, ref=job.ref)


def _extra(job: Job, key: str, stats: dict[str, Any]) -> dict[str, Any]:
    """The other fields of the job's files; the lock without its trials, which are compared with the folders."""
    counts = {name: job.stats.get(name) for name in (*_STATS, *_OLD_STATS)}
    return non_empty(
        n_total_trials=job.result.get("n_total_trials"),
        stats=non_empty(**counts) | rest(job.stats, _STATS_HOMES),
        eval=key,
        reward_stats=stats.get("reward_stats"),
        exception_stats=stats.get("exception_stats"),
        more=rest(stats, _EVAL_HOMES) | settings(rest(job.result, _HOMES)),
        config=settings(job.config),
        lock=settings(rest(job.lock, ("trials",))),
    )


def _usage(stats: dict[str, Any]) -> Usage:
    return Usage(
        input=count(stats.get("n_input_tokens")),
        output=count(stats.get("n_output_tokens")),
        cache_read=count(stats.get("n_cache_tokens")),
        **reported_cost(stats.get("cost_usd")),
        includes_cache=True,
    )


def _trial_names(rewards: dict[str, Any]) -> set[str] | None:
    """The trials listed in a new `reward_stats`; None for an old one, which only counts."""
    if not any(isinstance(value, dict) for value in rewards.values()):
        return None
    lists = [names for value in rewards.values() for names in mapping(value).values()]
    return {text(name) for names in lists for name in sequence(names)}


def _named_in(stats: dict[str, Any]) -> set[str]:
    """Every trial with a reward or an exception, in a new job."""
    rewarded = _trial_names(mapping(stats.get("reward_stats")))
    if rewarded is None:
        return set()
    broken = mapping(stats.get("exception_stats")).values()
    return rewarded | {text(name) for names in broken for name in sequence(names)}


def _group_of_key(key: str) -> EvalKey:
    """`agent__model__dataset`, or without the model."""
    agent, _, others = key.partition("__")
    model, _, dataset = others.rpartition("__")
    return EvalKey(agent, model, dataset)


def _configured(config: dict[str, Any]) -> EvalKey:
    """The key of a job without trials."""
    agent, dataset = (mapping(next(iter(sequence(config.get(name))), None)) for name in ("agents", "datasets"))
    return EvalKey(
        text(agent.get("name")), model_of(text(agent.get("model_name")))[1], text(dataset.get("name")) or ADHOC
    )
