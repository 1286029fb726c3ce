"""Every kind of secret in every disguise, in every field of a log: nothing of it is in anything that errata writes.

Each secret is in the texts of one attempt, and in the names of a case, a check, a file, a tool, a judge or a run.
Then every command that writes texts runs on the run, and what it printed or wrote is searched.
"""

import io
import os
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import msgspec

from errata.cli.door import run as command
from errata.model import (
    Actor,
    Artefact,
    Attempt,
    Case,
    Check,
    ErrorInfo,
    Item,
    Judgement,
    Limit,
    Output,
    Run,
    SourceInfo,
    Step,
    Subject,
    ToolCall,
    ToolError,
    ToolResult,
    case_key,
)
from errata.model.words import Phase
from errata.sources.errata_jsonl.lines import write_lines
from soak.secret_strings import CARRIERS, MadeSecret, leaks, made_secrets, readable, searched_words
from soak.secret_surfaces import surfaces

SUITE = "vault"
LOG, OTHER_LOG = "secrets.jsonl", "other.jsonl"
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("analyze", "LOG"),
    ("runs",),
    ("runs", "--json"),
    ("check", "latest"),
    ("check", "latest", "--json"),
    ("failures", "latest"),
    ("failures", "latest", "--json"),
    ("score", "latest"),
    ("score", "latest", "--json"),
    ("sessions", "latest"),
    ("buckets", "suggest", "latest"),
    ("buckets", "list", "latest", "--all"),
    ("buckets", "list", "latest", "--json"),
    ("rerun", "latest"),
    ("report", "latest", "--html", "-o", "out/reports"),
    ("report", "latest", "--json", "-o", "out/reports"),
    ("issues", "latest", "-o", "out/issues"),
    ("export", "latest", "--to", "csv", "-o", "out/csv"),
    ("review", "export", "latest", "-o", "out/review"),
    ("review", "export", "latest", "--format", "csv"),
    ("review", "status", "latest"),
    ("show", "latest"),
    ("show", "latest", "--json"),
    ("show", "no such case"),
    ("import", "OTHER LOG"),
    ("compare", "FIRST", "SECOND", "--all"),
    ("compare", "FIRST", "SECOND", "--json"),
    ("compare", "FIRST", "SECOND", "--csv", "out/matrix.csv"),
    (
        "compare",
        "FIRST",
        "SECOND",
        "--format",
        "github",
        "-o",
        "out/comment.md",
    ),
    ("report", "FIRST", "SECOND", "--html", "-o", "out/comparison"),
    ("report", "FIRST", "--step-summary", "-o", "out/reports"),
    ("consistency", "FIRST", "SECOND", "-o", "out/consistency"),
    ("gate", "FIRST", "--baseline", "SECOND"),
    ("gate", "FIRST", "--baseline", "SECOND", "--format", "junit", "-o", "out/gate.xml"),
    ("export", "FIRST", "--to", "parquet", "-o", "out/parquet"),
    ("export", "FIRST", "--to", "inspect", "-o", "out/inspect"),
    ("export", "FIRST", "--to", "promptfoo", "-o", "out/promptfoo"),
    ("export", "FIRST", "--to", "dataset", "-o", "out/dataset"),
    ("writeback", "FIRST", "-o", "out/writeback"),
    ("rerun", "FIRST", "--json"),
    ("sessions", "FIRST", "--json"),
    ("store", "size"),
    ("doctor", "--json"),
    ("action", "add", "--what", "We removed PLAIN", "--path", "PLAIN", "--for", "case-1"),
    ("action", "list"),
    ("known", "add", "case-1", "--text", "It needs PLAIN"),
    ("known", "list"),
    ("exclude", "SECOND", "--reason", "PLAIN"),
    ("runs", "--json"),
)
EACH: tuple[tuple[str, ...], ...] = (
    ("show", "ATTEMPT"),
    ("show", "ATTEMPT", "--full"),
    ("show", "ATTEMPT", "--json"),
    ("show", "ATTEMPT", "--packet", "--format", "json"),
    ("show", "ATTEMPT", "--packet", "--format", "text"),
    ("review", "next", "ATTEMPT", "--format", "json", "--reviewer", "soak"),
    ("review", "next", "ATTEMPT", "--format", "text", "--reviewer", "soak"),
    ("review", "run", "latest", "--limit", "20", "--dry-run", "--command", "true"),
)
"""For single attempts: their whole texts are nowhere else."""


class Planted(NamedTuple):
    secret: MadeSecret
    carrier: str
    attempt: str


class Leak(NamedTuple):
    kind: str
    carrier: str
    surface: str


def run(folder: Path, secrets: int = 0, each: int = 40, seed: int = 7, turn: int | None = None) -> list[Leak]:
    """Plant `secrets` of them, 0 for all, in all disguises; `each` attempts are shown one by one.

    Without a turn they are chosen by chance; over all turns, every one is planted.
    """
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(seed)
    every = range(how_many())
    if turn is not None:
        chosen = list(every[turn * secrets : (turn + 1) * secrets])
    else:
        chosen = chance.sample(every, secrets) if secrets else list(every)
    items, planted = _run_with(chosen, seed)
    (folder / LOG).write_bytes(b"".join(write_lines(items)))
    second = _second(items)
    (folder / OTHER_LOG).write_bytes(b"".join(write_lines(second)))
    words = {
        "LOG": str(folder / LOG),
        "OTHER LOG": str(folder / OTHER_LOG),
        "FIRST": items[0].id,
        "SECOND": second[0].id,
        "PLAIN": planted[0].secret.text,
    }
    # the first one has its secret in the name of its case, too
    shown = [planted[0], *chance.sample(planted[1:], min(each, len(planted)) - 1)]
    outputs = dict(_outputs(folder, words, shown))
    leaked = sorted(set(_leaks(planted, outputs)))
    for leak in leaked[:40]:
        print(f"  {leak.kind} in {leak.carrier}: {leak.surface}")
    kinds = len({one.secret.kind for one in planted})
    print(
        f"secrets: {len(planted):,} of {kinds} kinds in {len(CARRIERS)} disguises (seed {seed}), "
        f"{len(outputs)} outputs: {len(leaked)} leaks"
    )
    return leaked


def how_many() -> int:
    """One secret for each test string of each rule."""
    return sum(1 for _ in made_secrets())


def _run_with(chosen: Sequence[int], seed: int) -> tuple[list[Item], list[Planted]]:
    """Each disguise has secrets of its own, so that a leak names it."""
    made = {carrier: list(made_secrets(seed + at)) for at, carrier in enumerate(CARRIERS)}
    first, *_, last = (secrets[chosen[0]].text for secrets in made.values())
    run_record = Run(
        native_id=f"nightly {first}",
        source=SourceInfo(name="soak"),
        suite=SUITE,
        subject=Subject(model="acme/nimbus-2", agent=f"agent {last}"),
    )
    items: list[Item] = [run_record]
    planted = []
    for at in chosen:
        for carrier, carry in CARRIERS.items():
            secret = made[carrier][at]
            case, attempt = _failed(run_record, len(planted), secret, carry(secret.text))
            items += (case, attempt)
            planted.append(Planted(secret, carrier, attempt.id))
    return items, planted


def _second(items: Sequence[Item]) -> list[Item]:
    """The same cases in another run, where every second one passed."""
    first = items[0]
    assert isinstance(first, Run)
    other = msgspec.structs.replace(first, id="", native_id=f"{first.native_id} again")
    made: list[Item] = [other]
    for number, item in enumerate(items[1:]):
        changed: dict[str, str] = {"run": other.id}
        if isinstance(item, Attempt):
            changed |= {"id": "", "outcome": "pass" if number % 4 == 1 else "fail"}
        made.append(msgspec.structs.replace(item, **changed))
    return made


def _failed(run_record: Run, number: int, secret: MadeSecret, text: str) -> tuple[Case, Attempt]:
    """The disguised secret in every text; the plain one in names, which a log has on one line."""
    plain = secret.text
    name = f"case-{number}" if number % 5 else f"case-{number} {plain}"
    case = Case(
        run=run_record.id,
        suite=SUITE,
        native_id=name,
        category=f"kind {plain}",
        tags=(f"tag {plain}",),
        input=f"Use it: {text}",
        choices=(text, "another"),
        expected=f"not {text}",
        difficulty=f"hard {plain}",
        artefacts=(Artefact(role="grader", path=f"graders/{number} {plain}", text=f"assert {text!r}"),),
    )
    attempt = Attempt(
        run=run_record.id,
        case=case_key(SUITE, name),
        execution="completed",
        measurement="scored",
        outcome="fail",
        native_id=f"try {plain}",
        native_status=f"status {plain}",
        native_reason=text,
        stop_reason=f"stop {plain}",
        limit=Limit(type=f"limit {plain}", reason=text),
        output=Output(text=f"I used {text}.", answer=text, structured={"used": text, plain: 1}, extraction=text),
        errors=(_error(plain, text, "tool"),),
        checks=(
            Check(name=f"check {plain}", status="fail", explanation=f"expected {text}", value=plain, is_primary=True),
            Check(name="second", status="fail", scorer=f"scorer {plain}", reason_code=plain, value=text),
            Check(name="third", status="error", judge=f"judge {plain}", error=_error(plain, text, "scoring")),
        ),
        judgements=(
            Judgement(judge="judge", reasoning=f"It shows {text}", raw={"reply": text, text: 1}),
            Judgement(judge=f"judge {plain}", model=f"model {plain}", reasoning=text),
        ),
        steps=_steps(plain, text),
        artefacts=(Artefact(role="log", path=f"logs/{number} {plain}", text=f"start\n{text}\nend"),),
        links={f"link {plain}": f"see {plain}"},
    )
    return case, attempt


def _error(plain: str, text: str, phase: Phase) -> ErrorInfo:
    return ErrorInfo(
        type=f"Failed {plain}",
        message=f"{text} was rejected",
        code=plain,
        traceback=f"at line 1\n{text}",
        frame=f"main.py {plain}",
        phase=phase,
    )


def _steps(plain: str, text: str) -> tuple[Step, ...]:
    calls = (
        ToolCall(name="bash", arguments={"command": text, "env": {"NOTE": text}}, result=ToolResult(text=text)),
        ToolCall(name=f"tool {plain}", id=plain, arguments_raw=text, parse_error=f"not JSON: {text}"),
        ToolCall(name="read", arguments={plain: 1}, error=ToolError(type=f"Lost {plain}", message=text)),
    )
    return (
        Step(index=0, actor=Actor(role="user"), text=f"Go: {text}"),
        Step(
            index=1,
            actor=Actor(role="assistant", name=f"agent {plain}"),
            text=text,
            reasoning=text,
            parts=({"type": "note", "text": text},),
            tool_calls=calls,
            error=_error(plain, text, "subject"),
            model=f"model {plain}",
        ),
        Step(index=2, actor=Actor(role="tool", name=f"tool {plain}"), text=text),
    )


def _outputs(folder: Path, given: dict[str, str], shown: Sequence[Planted]) -> Iterator[tuple[str, str]]:
    """What each command printed, and each file it wrote with its name."""
    with _inside(folder):
        for words in COMMANDS:
            yield " ".join(words), _printed([_filled(word, given) for word in words])
        for planted in shown:
            for words in EACH:
                given_words = [planted.attempt if word == "ATTEMPT" else word for word in words]
                yield f"{' '.join(words)} {planted.attempt[-12:]}", _printed(given_words)
        yield from surfaces(folder, given["FIRST"], [planted.attempt for planted in shown])
    for place in ("out", "reports", "analysis"):
        for file in sorted((folder / place).rglob("*")):
            if file.is_file():
                name = file.relative_to(folder).as_posix()
                yield f"file {name[:80]}", f"{name}\n{file.read_text(encoding='utf-8', errors='replace')}"


def _filled(word: str, given: dict[str, str]) -> str:
    return given.get(word, word.replace("PLAIN", given["PLAIN"]))


def _printed(words: list[str]) -> str:
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        code = command([*words])
    assert code != 3, f"errata {' '.join(words)[:80]}: {out.getvalue()[-2000:]}"
    return out.getvalue()


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before, kept = Path.cwd(), os.environ.get("ERRATA_STORE")
    os.environ["ERRATA_STORE"] = str(folder / "store.db")
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.pop("ERRATA_STORE") if kept is None else os.environ.__setitem__("ERRATA_STORE", kept)


def _leaks(planted: Sequence[Planted], outputs: dict[str, str]) -> Iterator[Leak]:
    """The words of all outputs are searched first, each once: most texts are in many of them."""
    words: set[str] = set()
    for text in outputs.values():
        words.update(searched_words(text), searched_words(readable(text)))
    every = "\n".join(words)
    for plant in planted:
        if leaks(plant.secret, every):
            surfaces = [surface for surface, text in outputs.items() if leaks(plant.secret, text)]
            yield from (Leak(plant.secret.kind, plant.carrier, surface) for surface in surfaces or ["several outputs"])
