"""How long one attempt takes whose text is 1 MB of one sign: `python -m soak.one_large_text`.

Five signs, four carriers (answer, tool result, judge's reason, log), eight formats; each command may take 2 seconds of
this process. Prints what takes longer, then the longest of each command.
"""

import io
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from errata.cli.door import run

SIZE = 1_000_000
MOST = 2.0
SIGNS = {
    "blank lines": "\n",
    "dots": ".",
    "quotes": '"',
    "brackets": "[",
    "repeated words": "the answer is 42 because ",
}
FIXTURES = Path(__file__).parent.parent / "tests" / "fixtures" / "sources"
Steps = tuple[str | int, ...]
FORMATS: dict[str, tuple[str, dict[str, Steps]]] = {
    "generic": (
        "generic/jsonl/data/nightly",
        {"answer": (1, "answer"), "reason": (1, "note"), "tool": (1, "messages"), "log": (1, "exception")},
    ),
    "lm_eval": (
        "lm_eval/dummy/data/dummy/samples_demo_gen_2026-11-15T19-22-58.311841.jsonl",
        {"answer": (1, "filtered_resps", 0), "tool": (1, "resps", 0, 0), "reason": (1, "target"), "log": (1, "log")},
    ),
    "openai_evals": (
        "openai_evals/judged/data/260304101010HGFEDCBA_nimbus-2_tide-facts.jsonl",
        {
            "answer": (2, "data", "sampled", 0),
            "reason": (4, "data", "choice"),
            "tool": (3, "data", "prompt", 0, "content"),
            "log": (2, "data", "log"),
        },
    ),
    "deepeval": (
        "deepeval/measures/data/test_run.json",
        {
            "answer": ("testCases", 1, "actualOutput"),
            "reason": ("testCases", 1, "metricsData", 0, "reason"),
            "log": ("testCases", 1, "metricsData", 0, "verboseLogs"),
            "tool": ("testCases", 1, "retrievalContext"),
        },
    ),
    "promptfoo": (
        "promptfoo/shared_4/data/v4evalToShare.json",
        {
            "answer": ("results", 1, "providerResponse", "output"),
            "reason": ("results", 1, "gradingResult", "reason"),
            "log": ("results", 1, "error"),
            "tool": ("results", 1, "metadata"),
        },
    ),
    "langsmith": (
        "langsmith/repetitions/data/experiment_rows.jsonl",
        {
            "answer": (1, "run", "outputs", "a"),
            "reason": (1, "evaluation_results", 0, "comment"),
            "log": (1, "run", "error"),
            "tool": (1, "run", "extra", "metadata", "tool"),
        },
    ),
    "pydantic_evals": (
        "pydantic_evals/scores/data/report.json",
        {
            "answer": ("cases", 1, "output"),
            "reason": ("cases", 1, "scores", "closeness", "reason"),
            "log": ("cases", 1, "attributes", "log"),
            "tool": ("cases", 1, "metadata"),
        },
    ),
    "errata-jsonl": ("", {"answer": (2,), "reason": (2,), "tool": (2,), "log": (2,)}),
}


def main() -> int:
    longest: dict[str, tuple[float, str]] = {}
    for name, carrier, sign, text in attempts():
        for command, seconds in times(name, carrier, text).items():
            where = f"{name}, {carrier} of {sign}"
            longest[command] = max(longest.get(command, (0.0, "")), (seconds, where))
            if seconds > MOST:
                print(f"{command}: {seconds:.1f} s: {where}", flush=True)
    for command, (seconds, where) in longest.items():
        print(f"longest {command}: {seconds:.2f} s ({where})")
    return int(any(seconds > MOST for seconds, _ in longest.values()))


def attempts() -> Iterator[tuple[str, str, str, str]]:
    for name, (_, carriers) in FORMATS.items():
        for carrier in carriers:
            for sign, unit in SIGNS.items():
                yield name, carrier, sign, unit * (SIZE // len(unit))


def times(name: str, carrier: str, text: str) -> dict[str, float]:
    """Seconds of each command about a log with this text in it."""
    before, folder = Path.cwd(), Path(tempfile.mkdtemp())
    os.chdir(folder)
    try:
        log = write_errata_log(carrier, text) if not FORMATS[name][0] else write_log(name, carrier, text)
        made = {"import": seconds("import", log), "triage": seconds("triage", "latest")}
        made["failures"] = seconds("failures", "latest")
        listed = io.StringIO()
        with redirect_stdout(listed):
            run(["failures", "latest", "--json"])
        cases = sorted({f"latest/{row['case']}" for row in map(json.loads, listed.getvalue().splitlines())})
        made["show --packet"] = max((seconds("show", case, "--packet") for case in cases), default=0.0)
        return made | {"report": seconds("report", "latest")}
    finally:
        os.chdir(before)
        shutil.rmtree(folder)


def seconds(*arguments: object) -> float:
    start = time.process_time()
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as messages:
        code = run([str(argument) for argument in arguments])
    if code not in (0, 2):
        raise RuntimeError(messages.getvalue())
    return time.process_time() - start


def write_log(name: str, carrier: str, text: str) -> Path:
    source, carriers = FORMATS[name]
    log = Path("log")
    if (FIXTURES / source).is_dir():
        shutil.copytree(FIXTURES / source, log)
    else:
        log.mkdir()
        shutil.copy(FIXTURES / source, log)
    file = next(path for path in sorted(log.iterdir()) if path.suffix in (".json", ".jsonl"))
    lines = (
        file.read_text(encoding="utf-8").split("\n") if file.suffix == ".jsonl" else [file.read_text(encoding="utf-8")]
    )
    at, *steps = carriers[carrier] if file.suffix == ".jsonl" else (0, *carriers[carrier])
    row: Any = json.loads(lines[int(at)])
    holder = row
    for step in steps[:-1]:
        holder = holder.setdefault(step, {}) if isinstance(holder, dict) else holder[step]
    holder[steps[-1]] = tool_calls(text) if steps[-1] == "messages" else text
    lines[int(at)] = json.dumps(row)
    file.write_text("\n".join(lines), encoding="utf-8")
    return log


def tool_calls(text: str) -> list[dict[str, Any]]:
    call = {"id": "c1", "type": "function", "function": {"name": "tides", "arguments": "{}"}}
    return [
        {"role": "user", "content": "When is high water?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": text},
        {"role": "assistant", "content": "noon"},
    ]


def write_errata_log(carrier: str, text: str) -> Path:
    ended = {"execution": "completed", "measurement": "scored", "outcome": "fail"}
    call = {"index": 0, "actor": {"role": "assistant"}, "tool_calls": [{"id": "c", "name": "tides"}]}
    result = {"index": 1, "actor": {"role": "tool"}, "text": text}
    carried: dict[str, dict[str, Any]] = {
        "answer": {"output": {"text": text}},
        "reason": {"checks": [{"name": "judge", "status": "fail", "explanation": text, "judge": "j"}]},
        "tool": {"steps": [call, result, {"index": 2, "actor": {"role": "assistant"}, "text": "noon"}]},
        "log": {"artefacts": [{"path": "run.log", "role": "log", "text": text}]},
    }
    rows = [
        ("run", {"native_id": "n", "source": {"name": "h"}, "suite": "s", "subject": {"model": "m"}}),
        ("case", {"suite": "s", "native_id": "t", "input": "When is high water?", "expected": "14:05"}),
        ("attempt", {"case": "s/t", "output": {"text": "noon"}} | ended | carried[carrier]),
    ]
    log = Path("log.jsonl")
    log.write_text("".join(json.dumps({"errata": 1, "kind": kind, "record": row}) + "\n" for kind, row in rows))
    return log


if __name__ == "__main__":
    sys.exit(main())
