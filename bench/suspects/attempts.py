"""How twelve subjects of different skill, and a reference, do on the tasks: errata's own records, one log for each."""

import math
import random
from collections.abc import Iterator

from bench.suspects.tasks import Task, make_tasks
from errata.model import Artefact, Attempt, Case, Check, ErrorInfo, Output, Run, SourceInfo, Subject
from errata.model.record import Record

SUBJECTS = {f"model-{letter}": 2.4 - 0.32 * at for at, letter in enumerate("abcdefghijkl")}
"""Name → skill."""
REFERENCE = "oracle"
SUITE = "harbour"
MEASURED_WITH_REFERENCE = ("reference_fails", "hard", "")
"""A reference fails every broken test: on the others it would leave nothing to be found by other evidence."""
CRASHES = 0.02
LUCK = 0.02
"""A subject gives an answer that happens to be the wrong one that the grader wants."""
LOG = "verifier/test-stdout.txt"


def records_of(subject: str, seed: int) -> Iterator[Record]:
    agent = subject if subject == REFERENCE else "terminal-agent"
    model = "" if subject == REFERENCE else subject
    run = Run(
        native_id=f"{subject}-run",
        source=SourceInfo(name="harbour"),
        suite=SUITE,
        subject=Subject(model=model, agent=agent),
    )
    yield run
    chance = random.Random(f"{seed} {subject}")
    tasks = make_tasks(seed)
    for task in tasks:
        if subject == REFERENCE and task.fault not in MEASURED_WITH_REFERENCE:
            continue
        yield Case(
            run=run.id,
            suite=SUITE,
            native_id=task.name,
            name=task.name,
            category=task.category,
            input=task.text,
            choices=task.choices,
            expected=task.gold or None,
        )
        yield _attempt(run, task, subject, chance, tasks)


def _attempt(run: Run, task: Task, subject: str, chance: random.Random, tasks: list[Task]) -> Attempt:
    case = f"{SUITE}/{task.name}"
    if subject != REFERENCE and chance.random() < CRASHES:
        error = ErrorInfo(
            type="APIStatusError", message="503 Service Unavailable: upstream overloaded", phase="subject"
        )
        return Attempt(run=run.id, case=case, execution="error", measurement="not_run", outcome="none", errors=(error,))
    knows = subject == REFERENCE or chance.random() < 1 / (1 + math.exp(task.difficulty - SUBJECTS[subject]))
    if task.is_program:
        return _program_attempt(run, case, task, knows, subject == REFERENCE, chance, tasks)
    return _answer_attempt(run, case, task, knows, chance)


def _answer_attempt(run: Run, case: str, task: Task, knows: bool, chance: random.Random) -> Attempt:
    answer = task.answer if knows else _wrong_answer(task, chance)
    if task.is_broken and chance.random() < LUCK:
        answer = task.gold
    passed = answer == task.gold
    sentence = chance.choice(("{}", "The answer is {}.", "**{}**", "I count {}."))
    check = Check(name="match", status="pass" if passed else "fail", explanation=f"expected {task.gold}, got {answer}")
    return Attempt(
        run=run.id,
        case=case,
        execution="completed",
        measurement="scored",
        outcome="pass" if passed else "fail",
        output=Output(text=sentence.format(answer), answer=answer),
        checks=(check,),
    )


def _wrong_answer(task: Task, chance: random.Random) -> str:
    """Every fifth task has a mistake that most make who do not know better, hard ones among them."""
    if task.form % 5 == 4 and chance.random() < 0.75:
        return str(int(task.answer) - 17)
    return str(int(task.answer) + chance.choice((-1, 1)) * chance.randrange(1, 90))


# the tests of programs


def _program_attempt(
    run: Run, case: str, task: Task, knows: bool, is_reference: bool, chance: random.Random, tasks: list[Task]
) -> Attempt:
    names = [f"test_{task.name.partition('-')[0]}_{part}" for part in ("exists", "runs", "content", "order", "empty")]
    if task.fault == "other_tasks_tests":
        other = tasks[(tasks.index(task) + 1) % len(tasks)]
        names = [f"{other.name}::{name}" for name in names]
    failed = _failed_tests(task, knows, is_reference, names, chance)
    uncollected = [message for name, message in failed if name == ""]
    log = _no_tests_log(uncollected[0]) if uncollected else _log(names, dict(failed))
    checks = () if uncollected else tuple(_check(name, dict(failed)) for name in names)
    reward = Check(name="reward", status="fail" if failed else "pass")
    return Attempt(
        run=run.id,
        case=case,
        execution="completed",
        measurement="scored",
        outcome="fail" if failed else "pass",
        output=Output(text="Done. I wrote what was asked for and checked it."),
        checks=checks or (reward,),
        artefacts=(Artefact(role="log", path=LOG, text=log),),
    )


def _check(name: str, failed: dict[str, str]) -> Check:
    return Check(name=name, kind="tests", status="fail" if name in failed else "pass", explanation=failed.get(name, ""))


_MISTAKES = (
    "AssertionError: expected {} rows, found {}",
    "AssertionError: {} is not listed before {}",
    "ValueError: invalid literal for int() with base 10: '{}-{}'",
    "AssertionError: assert {} == {}",
    "TypeError: 'NoneType' object is not subscriptable, at row {} of {}",
)


def _mistake(chance: random.Random) -> str:
    return chance.choice(_MISTAKES).format(chance.randrange(1, 400), chance.randrange(1, 400))


def _failed_tests(
    task: Task, knows: bool, is_reference: bool, names: list[str], chance: random.Random
) -> list[tuple[str, str]]:
    """Test → message; an empty name where nothing could be collected."""
    thing = task.name.partition("-")[0]
    failed = [] if knows else [(name, _mistake(chance)) for name in chance.sample(names, chance.randrange(1, 5))]
    match task.fault:
        case "tests_cannot_run":
            return [("", _BROKEN_TESTS[task.form % len(_BROKEN_TESTS)])]
        case "unnamed_file" if chance.random() < 0.9:
            missing = ("/app/summary.txt", "/app/out/result.csv", "/app/REPORT.md", "/tmp/state.bin")[task.form % 4]
            failed += [(names[2], f"FileNotFoundError: [Errno 2] No such file or directory: '{missing}'")]
        case "unnamed_function" if chance.random() < 0.9:
            called = ("parse_manifest_v2", "sum_by_port", "LedgerReader")[task.form % 3]
            failed += [(names[2], f"AttributeError: module '{thing}' has no attribute '{called}'")]
        case "reference_fails":
            failed += [(names[1 + task.form % 3], "AssertionError: assert 'Odden' in {'Vik': 3, 'Hals': 1}")]
        case "one_strict_test" if not is_reference:
            failed += [(names[4], "AssertionError: Header must be exactly 'port;kg' but is different")]
        case "other_tasks_tests":
            failed += [(name, "AssertionError: nothing of this job was found") for name in names]
        case "hard" if not is_reference and task.form % 4 == 0:
            return [(names[3], "AssertionError: took longer than the 5 seconds that the task allows")]
    return failed


_BROKEN_TESTS = (
    "/tests/test_outputs.py:14: in <module>\n    def rows(path: str) -> list | None:\n"
    "E   TypeError: unsupported operand type(s) for |: 'type' and 'NoneType'",
    "/usr/lib/python3.9/ast.py:50: in parse\n    return compile(source, filename, mode, flags,\n"
    'E     File "/tests/test_outputs.py", line 31\nE       assert rows == [1, 2\nE                     ^\n'
    "E   SyntaxError: '[' was never closed",
    "/tests/test_outputs.py:3: in <module>\n    import dateparser_extra\n"
    "E   ModuleNotFoundError: No module named 'dateparser_extra'",
    "/tests/test.sh: line 7: uvx: command not found",
)


def _no_tests_log(fault: str) -> str:
    if fault.startswith("/tests/test.sh"):
        return f"curl: (6) Could not resolve host: astral.sh\n{fault}\n"
    return (
        "============================= test session starts ==============================\n"
        "collected 0 items / 1 error\n\n"
        "==================================== ERRORS ====================================\n"
        f"_____________________ ERROR collecting tests/test_outputs.py _____________________\n{fault}\n"
        "=========================== short test summary info ============================\n"
        "ERROR tests/test_outputs.py\n!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!\n"
        "=============================== 1 error in 0.21s ===============================\n"
    )


def _log(names: list[str], failed: dict[str, str]) -> str:
    lines = ["============================= test session starts =============================="]
    lines += [f"collected {len(names)} items", ""]
    if failed:
        lines.append("=================================== FAILURES ===================================")
    for name, message in failed.items():
        called = name.rpartition("::")[2]
        lines += [f"______________________________ {called} ______________________________", ""]
        lines += [f"    def {called}():", ">       check()", f"E       {message}", ""]
        lines += [f"/tests/test_outputs.py:{20 + len(called)}: {message.partition(':')[0]}"]
    summary = f"{len(failed)} failed, {len(names) - len(failed)} passed" if failed else f"{len(names)} passed"
    return "\n".join([*lines, f"========================= {summary} in 1.02s =========================", ""])
