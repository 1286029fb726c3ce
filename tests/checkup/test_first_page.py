"""The law of the first page: no sentence that calms its reader above a finding, a doubt or an interval that denies it.

The sentences and what forbids each stand in `errata.runs.first_page`. Here they are looked for on every page: of each
finding that the checkup knows (those that break no run among 40 healthy rows), of a few harnesses' runs, and of what
users saw.
"""

import ast
import re
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from checkup_fixtures import RUN, row, rows
from starlette.testclient import TestClient
from test_examine import MINIMAL

import errata
from errata.json_output.runs import analysis_output
from errata.mcp import arguments
from errata.mcp.tools import Call, analyze
from errata.model import Case, Check, Judgement, Output, Usage, UsageByRole
from errata.runs.first_page import SENTENCES, best_of, doubts_of, may_say
from errata.runs.view import RunView
from errata.server.app import build_app
from errata.settings import Settings
from errata.sources.errata_jsonl.lines import write_lines
from errata.store.database import open_store
from errata.verbs.report import report_run
from errata.verbs.store import all_runs
from terminal import FIXTURES, done
from terminal import errata as command

HEALTHY = [row(number, outcome="fail", checks=(Check(name="tests", status="fail"),)) if number % 3 == 0 else row(number)
           for number in range(100, 140)]  # fmt: skip
HARNESSES = ("convex_evals/run_b", "conversation_bench/comparison", "langsmith", "helm")


def judged(number, second):
    both = (Judgement(judge="a", raw={"passed": True}), Judgement(judge="b", raw={"passed": second}))
    return row(number, judgements=both)


def of_another_task(number):
    return row(number, checks=(Check(name=f"case-{(number + 1) % 43}/test.py::test_it", status="pass"),))


def threw(number):
    """As promptfoo writes it: a failure, and the reason is that the assertion's own code does not parse."""
    stack = "Stack Trace: SyntaxError: Unexpected token 'return'\n    at new Function (<anonymous>)"
    why = f"Custom function threw error: Unexpected token 'return'\n{stack}"
    check = Check(name="javascript", status="fail", explanation=why)
    return row(number, outcome="fail", checks=(check,))


def without_work(number):
    return row(number, usage=UsageByRole(subject=Usage(input=0, output=0)), output=Output(), checks=())


CRASH = {"execution": "error", "measurement": "not_run", "outcome": "none", "checks": ()}
SEEN = {
    "78 error bodies": [*rows(322), *(row(number, http_status=422) for number in range(400, 478))],
    "judges no better than chance": [judged(number, number % 10 != 0) for number in range(40)],
    "checks of another task": [of_another_task(number) for number in range(43)],
    "every assertion threw": [threw(number) for number in range(5)],
    "no tokens and no answer": [without_work(number) for number in range(12)],
    "a third left out": [
        *rows(60),
        *(row(number, **CRASH, output=Output(), errors=(stopped,)) for number in range(200, 230)
          for stopped in [msgspec.convert({"type": "RateLimitError", "message": "429 Too Many Requests",
                                           "phase": "subject", "status": 429}, type=errata.model.ErrorInfo)]),
    ],
}  # fmt: skip
"""What users saw below "fit", "All passed" and "best estimate"."""


def as_log(name, given):
    """The records under a run and a suite of their own; rows of each case have a case that is described."""
    run = msgspec.structs.replace(given.get("run", RUN), native_id=name, id="")
    described = list(given.get("descriptions", ()))
    keys = {f"{one.suite}/{one.native_id}" for one in described}
    for attempt in given.get("attempts", ()):
        if attempt.case not in keys:
            keys.add(attempt.case)
            described.append(Case(run=RUN.id, suite="suite", native_id=attempt.case.partition("/")[2], input="q"))
    items = [run, *described, *given.get("attempts", ()), *given.get("unreadables", ())]
    lines = b"".join(write_lines(items)).decode()
    return lines.replace(f'"{RUN.id}', f'"{run.id}')


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("law")
    logs = {name: given for name, (severity, given) in MINIMAL.items() if severity == "error"}
    logs |= {name: given | {"attempts": [*given.get("attempts", ()), *HEALTHY]}
             for name, (severity, given) in MINIMAL.items() if severity != "error"}  # fmt: skip
    logs |= {name: {"attempts": attempts} for name, attempts in SEEN.items()}
    logs |= {"healthy": {"attempts": HEALTHY}, "twin": {"attempts": HEALTHY}, "passed": {"attempts": rows(8)}}
    (folder / "logs").mkdir()
    for name, given in logs.items():
        (folder / "logs" / f"{name}.jsonl").write_text(as_log(name, given), encoding="utf-8")
    done("import", folder / "logs", *(FIXTURES / one for one in HARNESSES), "--store", folder / "errata.db")
    return open_store(folder / "errata.db")


@pytest.fixture(scope="module")
def runs(store):
    """Run id → its view, and what is on record about it."""
    views = [RunView(stored, store) for stored in all_runs(store)]
    seen = [(view, view.overview) for view in views]
    return {
        view.run.id: (view, doubts_of(one.health.findings, one.suspicious.suspicious, best_of(one.scores.scores)))
        for view, one in seen
    }


def calm(text):
    """The claims whose sentences are in a text; `NOT FIT` and `no best estimate` are none."""
    plain = " ".join(re.sub(r"<[^>]*>", " ", text).split())
    return {
        claim
        for claim, sentences in SENTENCES.items()
        if any(re.search(rf"(?i)(?<!no )(?<!not ){re.escape(one)}", plain) for one in sentences)
    }


def contradictions(pages, runs):
    return {
        f"{view.run.native_id}: {claim} above {', '.join(doubts)}"
        for run_id, text in pages
        for view, doubts in [runs[run_id]]
        for claim in calm(text)
        if not may_say(claim, doubts)
    }


@pytest.mark.req("first page")
@pytest.mark.req("N-10")
@pytest.mark.parametrize("words", [("analyze", "--no-report"), ("check",)])
def test_no_page_of_the_terminal_calms_above_what_denies_it(words, store, runs):
    pages = []
    for run_id in runs:
        result = command(words[0], run_id, *words[1:], "--store", store.path)
        pages.append((run_id, f"{result.err} {result.out}"))

    assert contradictions(pages, runs) == set()
    assert {claim for _, text in pages for claim in calm(text)} >= {"fit", "best_estimate"}


@pytest.mark.req("first page")
def test_no_report_calms_above_what_denies_it(runs, tmp_path):
    """The Markdown and the page of HTML."""
    pages = []
    for run_id, (view, _) in runs.items():
        made = report_run(view, day="2026-03-01", folder=tmp_path, file=tmp_path / "report", html=True, details=False)
        pages += [(run_id, one.path.read_text(encoding="utf-8")) for one in made.written]

    assert contradictions(pages, runs) == set()
    assert any("best_estimate" in calm(text) for _, text in pages)


@pytest.mark.req("first page")
def test_no_page_of_the_server_calms_above_what_denies_it(store, runs):
    with TestClient(build_app(Settings(store=store.path)), base_url="http://127.0.0.1") as client:
        pages = [(run_id, client.get(f"/runs/{run_id}").text) for run_id in runs]
        listed = client.get("/").text

    assert contradictions(pages, runs) == set()
    assert calm(listed) == set()
    unwarned = [run_id for run_id, text in pages if 'class="alert"' not in text and "was not available" not in text]
    assert [run_id for run_id in unwarned if not may_say("fit", runs[run_id][1])] == []


@pytest.mark.req("first page")
def test_what_programs_read_calms_nowhere_either(store, runs):
    call = Call(store=store, settings=Settings(store=store.path), now=datetime.now(UTC))
    for run_id, (view, doubts) in runs.items():
        row_of_run = msgspec.to_builtins(analysis_output(view.summary, None))
        if view.run.native_id in SEEN:
            (called,) = msgspec.to_builtins(analyze(call, arguments.RunArguments(run=run_id)).items)
            assert tuple(called["doubts"]) == row_of_run["doubts"]
        assert doubts == row_of_run["doubts"], view.run.native_id
        assert row_of_run["fit"] == ("breaks" not in doubts)
        assert row_of_run["no_estimate"] or may_say("best_estimate", doubts), view.run.native_id
        nothing = row_of_run["without_failures"]
        assert not nothing or nothing["state"] != "all_passed" or may_say("nothing_to_analyse", doubts)


@pytest.mark.req("first page")
@pytest.mark.parametrize("name", SEEN)
def test_what_check_prints_for_programs_names_the_same_doubts(name, store, runs):
    (run_id,) = [run_id for run_id, (view, _) in runs.items() if view.run.native_id == name]
    checked = command("check", run_id, "--json", "--store", store.path).row

    assert checked["doubts"] == list(runs[run_id][1]) != []
    assert checked["fit"] == ("breaks" not in checked["doubts"])


@pytest.mark.req("first page")
def test_runs_that_agree_or_pass_a_gate_are_not_called_equal_above_what_denies_it(store, runs):
    """Each finding that doubts results, in a run whose results are those of another."""
    names = {view.run.native_id: view for view, _ in runs.values()}
    of_doubt = [view for view, doubts in runs.values() if "results" in doubts and view.run.native_id in MINIMAL]
    assert len(of_doubt) >= 8
    for view in of_doubt:
        pair = (names["healthy"].run.id, view.run.id, "--common", "--store", store.path)
        assert "no_difference" not in calm(command("compare", *pair).out), view.run.native_id
        asked = ("gate", view.run.id, "--baseline", names["healthy"].run.id, "--no-record", "--store", store.path)
        assert "gate_passed" not in calm(command(*asked).out), view.run.native_id
    same = (names["healthy"].run.id, names["twin"].run.id, "--store", store.path)
    assert "no_difference" in calm(done("compare", *same).out)
    assert "gate_passed" in calm(done("gate", same[1], "--baseline", same[0], "--no-record", *same[2:]).out)


@pytest.mark.req("first page")
@pytest.mark.req("N-10")
@pytest.mark.parametrize("name", SEEN)
def test_what_users_saw_calms_nobody(name, store, runs):
    (view,) = [view for view, _ in runs.values() if view.run.native_id == name]
    result = command("analyze", view.run.id, "--no-report", "--store", store.path)

    assert calm(f"{result.err} {result.out}") == set()


@pytest.mark.req("first page")
def test_a_run_of_which_nothing_is_on_record_may_calm(store, runs):
    (passed,) = [run_id for run_id, (view, _) in runs.items() if view.run.native_id == "passed"]
    result = done("analyze", passed, "--no-report", "--store", store.path)

    assert calm(f"{result.err} {result.out}") == {"nothing_to_analyse", "fit"}


@pytest.mark.req("first page")
def test_the_sentences_have_one_home():
    """No other module of the product writes one of them itself."""
    home = Path(errata.__file__).parent
    every = [one.casefold() for sentences in SENTENCES.values() for one in sentences]
    own = []
    for path in home.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.name != "first_page.py" and any(one in text.casefold() for one in every):
            own += [f"{path.relative_to(home)}: {one}" for one in _written(ast.parse(text)) if calm(one)]

    assert own == []


def _written(tree):
    """Strings that the module may print: those that are no docstring."""
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
            yield node.value
