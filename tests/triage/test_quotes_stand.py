"""What a signal or a finding quotes is a word of the log, at the place that it names."""

import html
import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

from errata import sources
from errata.checkup import examine
from errata.model import Attempt, Case, Run, Unreadable
from errata.triage import built_in, look_over, observe

FIXTURES = Path(__file__).parents[1] / "fixtures" / "sources"
STATEMENTS = frozenset((
    "answer_equals_reference", "call_differs", "call_missing", "calls_incomplete", "cascade", "check_failed",
    "expected_contradicts_data", "follower", "harness_frame", "judges_contradict", "judges_disagree",
    "limit_during_changes", "limit_reached", "loop", "measurement_failed", "never_wrote", "no_verdict", "strict_match",
    "turns_used_up", "unavailable_run", "unfinished_cases", "wrong_fact", "wrote_otherwise", "zero_tokens",
))  # fmt: skip
"""Rules that are functions may state a fact in errata's words."""
ELSEWHERE = frozenset(("other_path", "verifier_never_ran", "turn_limit", "identical_outputs"))
"""Their place names the file; `ref` is the attempt's. Or the words are of another part of the same row."""
OF_THE_REPORT = ("missing_module", "container_unavailable")
"""Reasons that the report of the run gives, not that of the instance."""
BELOW = 40
"""Lines of a message below the first."""


def bare(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()


@cache
def words_of(path: Path) -> str:
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    return "" if text.startswith("PK") else text


def unescaped(text: str) -> str:
    for _ in range(2):
        text = text.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"').replace("\\\\", "\\")
        text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
    return html.unescape(text)


def quotes(items):
    run, *_ = (item for item in items if isinstance(item, Run))
    of_run = [item for item in items if isinstance(item, Attempt) and item.run == run.id]
    cases = {item.key: item for item in items if isinstance(item, Case)}
    rules, wide = built_in(), look_over(of_run)
    for attempt in of_run:
        if attempt.outcome != "pass":
            for seen in observe(run, attempt, cases.get(attempt.case), wide, rules):
                yield run, seen.signal.name, seen.signal.quote, seen.signal.ref
    unread = tuple(item for item in items if isinstance(item, Unreadable))
    for finding in examine(run, of_run, unread, now=datetime(2026, 3, 1, tzinfo=UTC)):
        for evidence in finding.evidence:
            yield run, finding.name, evidence.quote, evidence.ref


def not_there(path: Path):
    for found in sources.find(path):
        items = [*found.source.read(found.path)]
        by_run = {item.id: [item] for item in items if isinstance(item, Run)}
        for item in items:
            if not isinstance(item, Run) and item.run in by_run:
                by_run[item.run].append(item)
        for part in by_run.values():
            for run, name, quote, ref in quotes(part):
                origin = Path(run.origin) if Path(run.origin).is_dir() else Path(run.origin).parent
                if ref is None or name in STATEMENTS | ELSEWHERE or quote in OF_THE_REPORT:
                    continue
                if not (origin / ref.file).is_file():
                    continue
                text = words_of(origin / ref.file)
                if ref.line:
                    below = 0 if ref.file.endswith((".jsonl", ".json")) else BELOW
                    text = "\n".join(text.split("\n")[ref.line - 1 : ref.line + below])
                whole = bare(unescaped(text))
                if whole and not all(bare(piece) in whole for piece in re.split("…|\\[redacted\\]", unescaped(quote))):
                    yield name, quote, str(ref)


@pytest.mark.req("N-08")
@pytest.mark.parametrize("source", sorted(path.name for path in FIXTURES.iterdir() if path.is_dir()))
def test_what_is_quoted_stands_at_the_place_that_is_named(source):
    assert [*not_there(FIXTURES / source)] == []
