"""V-measure, AMI and the number of buckets, for errata and for two baselines."""

import statistics
from collections.abc import Sequence
from typing import NamedTuple

from bench.buckets.samples import Labelled
from errata.buckets.failure import FailureToGroup
from errata.buckets.suggest import suggest


class Score(NamedTuple):
    v: float
    ami: float
    buckets: float


class GroupingScores(NamedTuple):
    failures: int
    causes: float
    errata: Score
    exact_text: Score
    k_means: Score


def measure(rows: Sequence[Labelled]) -> GroupingScores:
    causes = [row.cause for row in rows]
    failures = [row.failing for row in rows]
    return GroupingScores(
        len(rows),
        len(set(causes)),
        _score(causes, _by_errata(failures)),
        _score(causes, [_first_text(one) for one in failures]),
        _score(causes, _by_k_means(failures, len(set(causes)))),
    )


def each_harness(rows: Sequence[Labelled]) -> GroupingScores:
    """As users have them: one suite at a time. Means by the number of failures, sums of buckets and causes."""
    names = sorted({row.harness for row in rows})
    scores = [measure([row for row in rows if row.harness == name]) for name in names]
    return GroupingScores(
        len(rows),
        sum(one.causes for one in scores),
        _mean([(one.failures, one.errata) for one in scores]),
        _mean([(one.failures, one.exact_text) for one in scores]),
        _mean([(one.failures, one.k_means) for one in scores]),
    )


def _mean(scores: Sequence[tuple[int, Score]]) -> Score:
    weights = [failures for failures, _ in scores]
    return Score(
        statistics.fmean([score.v for _, score in scores], weights),
        statistics.fmean([score.ami for _, score in scores], weights),
        sum(score.buckets for _, score in scores),
    )


def _score(causes: Sequence[str], buckets: Sequence[object]) -> Score:
    # late: collecting the tests must not import scikit-learn in every worker
    from sklearn.metrics import (  # type: ignore[import-untyped, unused-ignore]  # noqa: PLC0415
        adjusted_mutual_info_score,
        v_measure_score,
    )

    numbers = [list(dict.fromkeys(buckets)).index(one) for one in buckets]
    ami = float(adjusted_mutual_info_score(causes, numbers))
    return Score(float(v_measure_score(causes, numbers)), ami, len(set(numbers)))


def _by_errata(failures: Sequence[FailureToGroup]) -> list[str]:
    places = suggest(failures).places
    return [places[failing.attempt] for failing in failures]


def _by_k_means(failures: Sequence[FailureToGroup], causes: int) -> list[int]:
    from sklearn.cluster import KMeans  # type: ignore[import-untyped, unused-ignore]  # noqa: PLC0415
    from sklearn.feature_extraction.text import (  # type: ignore[import-untyped, unused-ignore]  # noqa: PLC0415
        TfidfVectorizer,
    )

    texts = [" ".join(one.texts) or one.key.exact for one in failures]
    k_means = KMeans(n_clusters=min(causes, len(set(texts))), n_init=10, random_state=0)
    clusters = k_means.fit_predict(TfidfVectorizer().fit_transform(texts))
    return [int(number) for number in clusters]


def _first_text(failing: FailureToGroup) -> str:
    return next(iter(failing.texts), failing.key.exact)
