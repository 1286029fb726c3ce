"""A store for the pages on which people look: a real terminal run, the bundled example, many failures, hostile text."""

from collections.abc import Iterator
from pathlib import Path

from tests.conftest import FIXTURES

from errata.model import Actor, Artefact, Case, Item, Output, Step, Subject, ToolCall, ToolResult
from errata.sources.errata_jsonl.lines import write_lines
from errata.testing import a_run, an_attempt
from errata.verbs.analyze import import_logs
from errata.verbs.store import bundled_example, open_store

HOSTILE = (
    "<script>document.title = 'owned'</script>\n"
    "<img src=http://elsewhere.example/x.png onerror=document.title='owned'>\n"
    "<svg><script>alert(1)</script></svg><style>*{display:none}</style>\n"
    "[click](javascript:alert(1)) ![pic](http://elsewhere.example/y.png) # heading\n"
    "http://elsewhere.example/plain \x1b[31mred\x1b[0m user\u202egnp.exe zero\u200bwidth 5x5 != -> …\n"
    "</pre></article></main><form action=http://elsewhere.example><input name=q>"
)
MANY = 230
STEPS = 260


def build(path: Path) -> Path:
    """Imported and triaged; copy it before you write."""
    folder = path.parent / "logs"
    folder.mkdir()
    (folder / "own.jsonl").write_bytes(b"".join(write_lines(_own_runs())))
    store = open_store(path)
    with store.kept_open():
        import_logs(
            [bundled_example(), FIXTURES / "sources/harbor/old-job/data/kimi_k2.5", folder / "own.jsonl"], store
        )
    store.engine.dispose()
    return path


def _own_runs() -> Iterator[Item]:
    yield from _many()
    yield from _hostile()
    yield from _passed()


def _many() -> Iterator[Item]:
    """More failures than a page has, of two kinds, in three categories."""
    run = a_run(native_id="many", suite="harbour", subject=Subject(model="alpha-1"))
    yield run
    for at in range(MANY):
        yield Case(
            run=run.id, suite="harbour", native_id=f"c{at:03}", category=f"area {at % 3}", input="?", expected="14:05"
        )
    for at in range(MANY):
        yield an_attempt(
            run=run.id,
            case=f"harbour/c{at:03}",
            native_status="" if at % 2 else "error",
            output=Output(text="noon"),
            duration=float(at % 17),
        )


def _hostile() -> Iterator[Item]:
    """A long transcript whose texts try to be a page."""
    run = a_run(native_id="hostile", suite="harbour", subject=Subject(model=f"evil-1 {HOSTILE.splitlines()[0]}"))
    yield run
    yield Case(run=run.id, suite="harbour", native_id="x<b>y</b>", input=HOSTILE, expected=HOSTILE)
    steps = tuple(
        Step(
            index=at,
            actor=Actor(role="assistant", name="<i>agent</i>"),
            text=HOSTILE if at in (2, 150) else f"step number {at}",
            reasoning=HOSTILE if at == 3 else "",
            parts=({"type": "image_url", "url": "http://elsewhere.example/z.png"},) if at == 4 else (),
            tool_calls=(ToolCall(name="<u>Bash</u>", arguments={"command": HOSTILE}, result=ToolResult(text=HOSTILE)),)
            if at == 5
            else (),
        )
        for at in range(1, STEPS + 1)
    )
    log = Artefact(role="log", path="verifier/<b>out</b>.txt", text="\n".join([HOSTILE] * 40))
    yield an_attempt(
        run=run.id, case="harbour/x<b>y</b>", output=Output(text=f"answer {HOSTILE}"), steps=steps, artefacts=(log,)
    )


def _passed() -> Iterator[Item]:
    run = a_run(native_id="passed", suite="harbour", subject=Subject(model="beta-2"))
    yield run
    yield an_attempt(run=run.id, case="harbour/c000", outcome="pass", output=Output(text="14:05"))
