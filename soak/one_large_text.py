"""How long one attempt takes whose text is 1 MB of one sign: `python -m soak.one_large_text`.

Five signs, four carriers (answer, tool result, judge's reason, log), eight formats; each command may take 2 seconds of
this process. Prints what takes longer, then the longest of each command. A format without a place for a carrier has the
text in another place of the attempt; each place is one that a packet shows.
"""

import io
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
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
        {"answer": (1, "answer"), "reason": (1, "gold"), "tool": (1, "messages"), "log": (1, "exception")},
    ),
    "lm_eval": (
        "lm_eval/dummy/data/dummy/samples_demo_gen_2026-11-15T19-22-58.311841.jsonl",
        {
            "answer": (1, "filtered_resps", 0),
            "tool": (1, "resps", 0, 0),
            "reason": (1, "target"),
            "log": (1, "arguments", "gen_args_0", "arg_0"),
        },
    ),
    "openai_evals": (
        "openai_evals/judged/data/260304101010HGFEDCBA_nimbus-2_tide-facts.jsonl",
        {
            "answer": (6, "data", "sampled", 0),
            "reason": (7, "data", "sampled", 0),
            "tool": (6, "data", "prompt"),
            "log": (5, "data", "input"),
        },
    ),
    "deepeval": (
        "deepeval/measures/data/test_run.json",
        {
            "answer": ("testCases", 1, "actualOutput"),
            "reason": ("testCases", 1, "metricsData", 0, "reason"),
            "log": ("testCases", 1, "input"),
            "tool": ("testCases", 1, "expectedOutput"),
        },
    ),
    "promptfoo": (
        "promptfoo/shared_4/data/v4evalToShare.json",
        {
            "answer": ("results", 1, "providerResponse", "output"),
            "reason": ("results", 1, "gradingResult", "componentResults", 0, "reason"),
            "log": ("results", 1, "gradingResult", "componentResults", 1, "reason"),
            "tool": ("results", 1, "prompt", "raw"),
        },
    ),
    "langsmith": (
        "langsmith/repetitions/data/experiment_rows.jsonl",
        {
            "answer": (1, "run", "outputs", "a"),
            "reason": (1, "evaluation_results", 0, "comment"),
            "log": (1, "run", "error"),
            "tool": (1, "example", "inputs", "q"),
        },
    ),
    "pydantic_evals": (
        "pydantic_evals/scores/data/report.json",
        {
            "answer": ("cases", 1, "output"),
            "reason": ("cases", 1, "scores", "closeness", "reason"),
            "log": ("cases", 1, "inputs"),
            "tool": ("cases", 1, "expected_output"),
        },
    ),
    "errata-jsonl": ("", {"answer": (2,), "reason": (2,), "tool": (2,), "log": (2,)}),
}


def main() -> int:
    hidden = [(name, carrier) for name, (_, carriers) in FORMATS.items() for carrier in carriers]
    hidden = [place for place in hidden if not is_shown(*place)]
    if hidden:
        print(f"no packet shows the text: {hidden}")
        return 1
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
    with imported(name, carrier, text) as first:
        made = {"import": first, "triage": run_errata("triage", "latest")[0]}
        made["failures"], _ = run_errata("failures", "latest")
        made["show --packet"] = max(seconds for seconds, _ in packets())
        return made | {"report": run_errata("report", "latest")[0]}


def is_shown(name: str, carrier: str) -> bool:
    with imported(name, carrier, "zebra quokka " * 3):
        return any("zebra quokka" in packet for _, packet in packets())


@contextmanager
def imported(name: str, carrier: str, text: str) -> Iterator[float]:
    """In a folder of its own."""
    before, folder = Path.cwd(), Path(tempfile.mkdtemp())
    os.chdir(folder)
    try:
        yield run_errata(
            "import", write_log(name, carrier, text) if FORMATS[name][0] else write_errata_log(carrier, text)
        )[0]
    finally:
        os.chdir(before)
        shutil.rmtree(folder)


def packets() -> list[tuple[float, str]]:
    """Seconds and text, of each failure."""
    rows = map(json.loads, run_errata("failures", "latest", "--json")[1].splitlines())
    return [
        run_errata("show", case, "--packet")
        for case in sorted({f"latest/{row['case']}#{row['attempt']}" for row in rows})
    ]


def run_errata(*arguments: object) -> tuple[float, str]:
    start = time.process_time()
    with redirect_stdout(io.StringIO()) as printed, redirect_stderr(io.StringIO()) as messages:
        code = run([str(argument) for argument in arguments])
    if code:
        raise RuntimeError(f"{arguments}: {code}: {messages.getvalue()}")
    return time.process_time() - start, printed.getvalue()


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
    row = json.loads(lines[int(at)])
    if name == "promptfoo":  # its file has no failure
        checks = [{"pass": False, "score": 0, "assertion": {"type": kind}} for kind in ("llm-rubric", "javascript")]
        row["results"][1] |= {"success": False, "score": 0}
        row["results"][1]["gradingResult"] |= {"pass": False, "score": 0, "componentResults": checks}
    holder: Any = row
    for step in steps[:-1]:
        holder = holder.setdefault(step, {}) if isinstance(holder, dict) else holder[step]
    holder[steps[-1]] = tool_calls(text) if steps[-1] == "messages" else text
    lines[int(at)] = json.dumps(row)
    if name == "generic":  # a run for each model: one is enough
        lines = [line for line in lines if '"alpha-1"' in line]
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
