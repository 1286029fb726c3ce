"""A benchmark's contract: the inputs and expectations of its turns, and the subject's context. Never executed.

Also the hint for a path of this harness that is not a finished run.
"""

import ast
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Artefact, Case, Item, Run, SourceRef, Unreadable
from errata.model.words import ArtefactRole
from errata.sources.base import Row, convert_each, describe, json_file, json_lines, text_file, unreadable
from errata.sources.conversation_bench import JUDGED_SUFFIX, JUDGES, NAME, RUN_RESULTS, RUNTIME, TRANSCRIPT
from errata.sources.conversation_bench.layout import from_run, is_name, upwards
from errata.sources.conversation_bench.turns import turn_of
from errata.sources.shared.values import mapping, plain, sequence, text

TURNS_FILES = ("turns.json", "turns.jsonl", "turns.py", "turns.txt")
RELEVANT = "relevant_dimensions.json"
CONTEXT_FILES = ("system_prompt.txt", "system.py", "tools.json", "tools.py", "data/knowledge_base.txt")
TEXT_CAP = 2 * 1024 * 1024
_EXPECTED = ("golden_text", "required_function_call", "function_call_response")
_USED = frozenset(("turn", "input", "categories", "subcategory", *_EXPECTED))
_CONTRACT_FILES = (*TURNS_FILES, "tools.json", "tools.py")
_OF_A_COMPARISON = {"benchmark", "models", "judge"}
_OF_A_RUN = {"model_name", "turns"}
_MOST_BENCHMARKS = 5


class Contract(NamedTuple):
    turns: tuple[Row | Unreadable, ...] = ()
    relevant: Row | Unreadable | None = None
    context: tuple[Artefact, ...] = ()

    @property
    def length(self) -> int | None:
        """The number of turns of the benchmark; None if some could not be read."""
        known = all(type(turn) is Row for turn in self.turns)
        return len(self.turns) if self.turns and known else None


def find_contract(root: Path, benchmark: str) -> Contract:
    """The contract beside `runs/` or further up."""
    if not is_name(benchmark):
        return Contract()
    for above in upwards(root):
        folder = above / "benchmarks" / benchmark
        if is_contract(folder):
            return _contract(folder, root)
    return Contract()


def is_contract(folder: Path) -> bool:
    return any((folder / name).is_file() for name in TURNS_FILES)


def _contract(folder: Path, root: Path) -> Contract:
    turns = next(folder / name for name in TURNS_FILES if (folder / name).is_file())
    relevant = folder / RELEVANT
    return Contract(
        turns=tuple(_placed(row, from_run(turns, root)) for row in _turns(turns)),
        relevant=_placed(json_file(relevant, source=NAME, root=folder), from_run(relevant, root))
        if relevant.is_file()
        else None,
        context=tuple(_context(folder / name, root) for name in CONTEXT_FILES if (folder / name).is_file()),
    )


def cases(contract: Contract, run: Run) -> Iterator[Item]:
    relevant: dict[str, Any] = {}
    if type(contract.relevant) is Row:
        relevant = mapping(contract.relevant.data)
    elif type(contract.relevant) is Unreadable:
        yield contract.relevant
    yield from convert_each(contract.turns, partial(_case, run, relevant), source=NAME)


def _case(run: Run, relevant: dict[str, Any], row: Row) -> Case:
    asked = row.data
    turn = turn_of(asked)
    categories = [name for name in sequence(asked.get("categories")) if type(name) is str]
    tags = dict.fromkeys([*categories, text(asked.get("subcategory"))])
    expected = {key: plain(asked[key]) for key in _EXPECTED if asked.get(key) is not None}
    extra = {key: plain(asked[key]) for key in asked.keys() - _USED}
    if str(turn) in relevant:
        extra["relevant_dimensions"] = plain(relevant[str(turn)])
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=f"turn-{turn}",
        category=categories[0] if categories else "",
        tags=tuple(tag for tag in tags if tag),
        input=plain(asked.get("input")),
        expected=expected or None,
        extra=extra,
        ref=row.ref,
    )


def _placed(row: Row | Unreadable, file: str) -> Row | Unreadable:
    """The same row with its file relative to the run's folder."""
    assert row.ref is not None
    ref = SourceRef(file=file, line=row.ref.line, pointer=row.ref.pointer)
    if type(row) is Row:
        return Row(row.data, ref)
    assert type(row) is Unreadable
    return Unreadable(source=NAME, where=str(ref), why=row.why, excerpt=row.excerpt, ref=ref)


def _turns(path: Path) -> Iterator[Row | Unreadable]:
    if path.suffix == ".jsonl":
        for place, row in enumerate(json_lines(path, source=NAME, root=path.parent)):
            yield _numbered(row, place) if type(row) is Row else row
    elif path.suffix == ".txt":
        yield from _inputs(path)
    else:
        whole = json_file(path, source=NAME, root=path.parent) if path.suffix == ".json" else _literal(path)
        yield from _listed(whole) if type(whole) is Row else (whole,)


def _listed(whole: Row) -> Iterator[Row | Unreadable]:
    turns = whole.data.get("turns") if type(whole.data) is dict else whole.data
    below = "/turns" if type(whole.data) is dict else ""
    if type(turns) is not list:
        yield unreadable(NAME, whole.ref, "expected a list of turns")
        return
    for place, turn in enumerate(turns):
        ref = SourceRef(file=whole.ref.file, line=whole.ref.line, pointer=f"{below}/{place}")
        yield _numbered(Row(turn, ref), place)


def _numbered(row: Row, place: int) -> Row:
    """The default number of a turn is its place in the list."""
    if type(row.data) is str:
        return Row({"turn": place, "input": row.data}, row.ref)
    return Row({"turn": place} | row.data, row.ref) if type(row.data) is dict else row


def _inputs(path: Path) -> Iterator[Row]:
    lines = (text_file(path, cap=TEXT_CAP) or "").splitlines()
    asked = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    for place, (number, line) in enumerate(asked):
        yield Row({"turn": place, "input": line.strip()}, SourceRef(file=path.name, line=number))


def _literal(path: Path) -> Row | Unreadable:
    """The list literal in a `turns.py`. The module is parsed, never run."""
    ref = SourceRef(file=path.name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text_file(path, cap=TEXT_CAP) or "")
        for node in tree.body:
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            if isinstance(value, ast.List):
                return Row(ast.literal_eval(value), SourceRef(file=path.name, line=node.lineno))
    except (OSError, SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        return unreadable(NAME, ref, f"not a list literal of turns (the module is never run): {describe(error)}")
    return unreadable(NAME, ref, "no list of turns is assigned (the module is never run)")


def _context(path: Path, root: Path) -> Artefact:
    return text_artefact("context", path, from_run(path, root))


def text_artefact(role: ArtefactRole, path: Path, name: str) -> Artefact:
    content, size = _text_and_size(path)
    truncated = content is not None and size is not None and size > TEXT_CAP
    return Artefact(role=role, path=name, size=size, text=content, truncated=truncated)


def _text_and_size(path: Path) -> tuple[str | None, int | None]:
    try:
        return text_file(path, cap=TEXT_CAP), path.stat().st_size
    except OSError:
        return None, None


def explain(path: Path) -> str | None:
    try:
        return _comparison(path) or _unfinished(path) or _benchmark(path)
    except OSError:
        return None


def _comparison(path: Path) -> str | None:
    if (path / RUN_RESULTS).exists() or not _keys(path / "metadata.json") >= _OF_A_COMPARISON:
        return None
    return f"this is a comparison, but `{RUN_RESULTS}`, which lists its runs, is missing"


def _unfinished(path: Path) -> str | None:
    if not _keys(path / RUNTIME) >= _OF_A_RUN:
        return None
    judged = f"{JUDGES[0]}{JUDGED_SUFFIX}"
    return f"this is a conversation, but it has no `{judged}` and no `{TRANSCRIPT}` with turns"


def _keys(path: Path) -> set[str]:
    row = json_file(path, source=NAME, root=path.parent) if path.is_file() else None
    return set(mapping(row.data)) if type(row) is Row else set()


def _benchmark(path: Path) -> str | None:
    folders = _contracts(path)
    if not folders:
        return None
    held = [name for name in _CONTRACT_FILES if (folders[0] / name).is_file()]
    files = " and ".join(f"`{name}`" for name in held)
    runs = [f"runs of this benchmark: `{runs}`" for folder in folders if (runs := _runs(folder))]
    return "\n".join([f"it contains {files} of a benchmark, not a finished run" + (";" if runs else ""), *runs])


def _contracts(path: Path) -> list[Path]:
    if path.is_file():
        return [path.parent] if path.name in TURNS_FILES else []
    if is_contract(path):
        return [path]
    return [child for child in sorted(path.iterdir()) if is_contract(child)][:_MOST_BENCHMARKS] if path.is_dir() else []


def _runs(contract: Path) -> Path | None:
    """The runs folder of a benchmark, relative if the given path was."""
    for above in (*upwards(contract), *upwards(contract.absolute())):
        runs = above / "runs" / contract.absolute().name
        if runs.is_dir():
            return runs
    return None
