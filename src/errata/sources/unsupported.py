"""Harnesses whose files are known and not read yet, so that a user who has such a file is not left to guess."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from errata.sources.documents import children
from errata.sources.heads import head_of

HEAD = 256 * 1024
LOOKS = 200
DEPTH = 5


class Telltale(NamedTuple):
    """All of these words stand in such a file, most of them as keys of JSON."""

    what: str
    words: tuple[bytes, ...]
    mapped: bool = True
    """Whether a mapping can describe it: rows of JSON, or a table."""


TELLTALES = (
    Telltale("deepeval results", (b'"testCases"', b'"metricsScores"')),
    Telltale("deepeval results", (b'"test_results"', b'"metrics_data"')),
    Telltale("a pydantic-evals report", (b'"cases"', b'"evaluator_failures"', b'"task_duration"')),
    Telltale("lighteval results", (b'"config_general"', b'"config_tasks"', b'"summary_tasks"')),
    Telltale("OpenCompass predictions", (b'"origin_prompt"', b'"prediction"')),
    Telltale("MLflow traces", (b'"trace_id"', b'"trace_metadata"', b'"mlflow.')),
    Telltale("MLflow traces", (b'"trace_id"', b'\\/value"', b"mlflow.")),
    Telltale("LangSmith runs", (b'"run"', b'"example"', b'"evaluation_results"')),
    Telltale("LangSmith runs", (b'"dotted_order"', b'"run_type"')),
    Telltale("a Langfuse export", (b'"observations"', b'"sessionId"', b'"timestamp"')),
    Telltale("a Langfuse export", (b'"traceId"', b'"parentObservationId"')),
    Telltale("a Langfuse export", (b'"datasetRunId"', b'"datasetItemId"')),
    Telltale("Braintrust results", (b'"experiment_name"', b'"project_name"', b'"comparison_experiment_name"')),
    Telltale("Braintrust results", (b'"root_span_id"', b'"span_attributes"', b'"scores"')),
    Telltale("Weave calls", (b'"op_name"', b'"trace_id"', b'"started_at"')),
    Telltale("OpenTelemetry traces (OTLP)", (b'"resourceSpans"',)),
    Telltale("ragas results", (b'"user_input"', b'"retrieved_contexts"', b'"response"')),
    Telltale("ragas results", (b"user_input,", b"response,", b"retrieved_contexts,")),
    Telltale("a report of pytest-json-report", (b'"nodeid"', b'"outcome"', b'"collectors"')),
    Telltale("Allure results", (b'"historyId"', b'"testCaseId"', b'"fullName"')),
    Telltale("a JUnit report", (b"<testsuite", b"<testcase"), mapped=False),
)


class Known(NamedTuple):
    telltale: Telltale
    file: Path


def known_at(path: Path) -> Known | None:
    """The first file at a path, or below it, that gives its harness away."""
    for file in islice(_files(path, 0), LOOKS):
        content = head_of(file, HEAD)
        for telltale in TELLTALES:
            if all(word in content for word in telltale.words):
                return Known(telltale, file)
    return None


def _files(path: Path, depth: int) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif depth < DEPTH:
        for child in children(path):
            yield from _files(child, depth + 1)
