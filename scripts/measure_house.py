"""Measure the layout of a checkout: modules, functions per command, conversions, passes, imports, CPU time.

    python scripts/measure_house.py                                    this checkout
    python scripts/measure_house.py --json > before.json               keep the figures
    python scripts/measure_house.py --before docs/lab/house-before.json     compare, with the aim of each figure

The script knows the command line, the name of the package and the name of the record `Attempt`, but no module below
`errata` other than `errata.sources`. So it runs on any layout. A figure that can't be measured is `unknown`.

Every measured command runs in a process of its own, on a copy of the bundled example, with an empty store.

Definitions
-----------
layout       Python files below src/errata, without the example data. A module is a file that has code: an
             `__init__.py` that is empty or has only a docstring is not a module. Lines are lines of these modules.
             Classes are counted at any depth; a name is shared if two or more classes have it.
functions    Functions and methods of errata that are called at least once by `errata analyze --no-report`, and the
             files they are in. Not counted: module and class bodies, lambdas, comprehensions, generator expressions,
             and calls made while a module is being imported.
conversions  Classes of errata with an instance that is about one failure and no other: anywhere in it is the name,
             the key or the attempt id of the marked case, and of no other case. Counted from the first attempt that
             is decoded from the store until `errata failures` has printed the failure, over `errata analyze
             --no-report` and `errata failures latest`. Instances are those that reach a function of errata as an
             argument or leave it as a result, with everything inside them. They are examined after the commands are
             done, so an object that collects several cases is not counted. The figure depends on the marked case:
             a case that is alone in its group also counts the record of its group.
passes       Attempt records decoded while `errata analyze` runs and writes its report, divided by the number of
             attempts. A read of single columns by SQL is not a pass.
recognition  Modules of `errata.sources` that are loaded in a new process after `errata.sources.find` of one promptfoo
             log.
cpu          User and system time of `errata analyze` (with its report), child processes included, divided by that
             of `errata --help`. Both run in turn; the lowest of each is taken, since other programs only add to it.
"""

import argparse
import ast
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
MARKED = "005-idioms/003-shared_validator"
"""A failure of the bundled example: two checks failed, and it shares its symptoms with other failures."""
RECORD = "Attempt"
SHORT, LONG = 40, 400
UNKNOWN = "unknown"
OPTIMISED, VARARGS, VARKEYWORDS = 0x1, 0x4, 0x8
"""Flags of code objects: bodies of modules and classes lack the first."""


class Figure(NamedTuple):
    part: str
    key: str
    label: str
    most: float | None = None
    """The aim: at most this."""
    share: float | None = None
    """The aim, as a share of the figure before."""


FIGURES = (
    Figure("layout", "modules", "modules", 560),
    Figure("layout", "lines", "lines", 74_000),
    Figure("layout", "short_modules", f"modules under {SHORT} lines", 20),
    Figure("layout", "long_modules", f"modules over {LONG} lines", 0),
    Figure("layout", "shared_class_names", "class names used more than once", 0),
    Figure("layout", "classes_sharing_a_name", "classes that share their name", 0),
    Figure("functions", "analyze_functions", "functions called by analyze", 400),
    Figure("functions", "analyze_files", "files with a called function", 110),
    Figure("conversions", "conversions", "classes that carry one failure", 7),
    Figure("passes", "passes", "passes over the attempts, with report", 3),
    Figure("recognition", "recognition_modules", "source modules to recognise a path", 40),
    Figure("cpu", "cpu_ratio", "CPU of analyze / CPU of --help", share=0.5),
)
PARTS = tuple(dict.fromkeys(figure.part for figure in FIGURES))
Result = dict[str, Any]


# --- the layout: read, not run ---------------------------------------------------------------------------------------


def measure_layout(source: Path) -> Result:
    package = source / "src" / "errata"
    lengths: dict[str, int] = {}
    classes: dict[str, list[str]] = {}
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if name.startswith("examples/"):
            continue
        text = path.read_text("utf-8")
        # parsing takes most of the time
        tree = ast.parse(text) if path.name == "__init__.py" or "class " in text else ast.Module([], [])
        if path.name == "__init__.py" and not has_code(tree):
            continue
        lengths[name] = len(text.splitlines())
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, []).append(name)
    if not lengths:
        raise ValueError("there is no module below src/errata")
    shared = {name: files for name, files in sorted(classes.items()) if len(files) > 1}
    short = [name for name, length in lengths.items() if length < SHORT]
    long = [name for name, length in lengths.items() if length > LONG]
    return {
        "modules": len(lengths),
        "lines": sum(lengths.values()),
        "short_modules": len(short),
        "long_modules": len(long),
        "shared_class_names": len(shared),
        "classes_sharing_a_name": sum(map(len, shared.values())),
        "lists": {"short_modules": short, "long_modules": long, "shared_class_names": shared},
    }


def has_code(tree: ast.Module) -> bool:
    return any(not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) for node in tree.body)


# --- the probes: each runs in a process of its own, in an empty folder -----------------------------------------------


class Errata:
    """The command line of a checkout, called in this process."""

    def __init__(self, source: Path) -> None:
        self.package = str(source / "src" / "errata") + os.sep
        module, _, name = entry_point(source).partition(":")
        self._main = getattr(import_module(module), name)

    def run(self, *arguments: str) -> None:
        try:
            code = self._main(list(arguments))
        except SystemExit as end:
            code = end.code
        if code:
            raise RuntimeError(f"`errata {arguments[0]}` exited with {code}")

    def owns(self, code: CodeType) -> bool:
        return code.co_filename.startswith(self.package)


def entry_point(source: Path) -> str:
    with (source / "pyproject.toml").open("rb") as file:
        return str(tomllib.load(file)["project"]["scripts"]["errata"])


def probe_functions(source: Path, example: Path) -> Result:
    called: set[CodeType] = set()
    children: list[str] = []
    importing = Counter[int]()
    package = str(source / "src" / "errata") + os.sep

    def watch(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(package):
            return
        thread = threading.get_ident()
        if code.co_name == "<module>":
            importing[thread] += 1 if event == "call" else -1
        elif event == "call" and not importing[thread]:
            called.add(code)

    sys.addaudithook(lambda event, _: children.append(event) if event == "subprocess.Popen" else None)
    with profiling(watch):
        Errata(source).run("analyze", str(example), "--no-report")
    functions = [code for code in called if code.co_flags & OPTIMISED and not code.co_name.startswith("<")]
    if children:
        print(f"note: functions: {len(children)} child processes were started and not followed", file=sys.stderr)
    listed = sorted(f"{code.co_filename.removeprefix(package)}:{code.co_qualname}" for code in functions)
    files = sorted({code.co_filename.removeprefix(package) for code in functions})
    return {
        "analyze_functions": len(functions) or UNKNOWN,
        "analyze_files": len(files) or UNKNOWN,
        "lists": {"analyze_functions": listed, "analyze_files": files},
    }


class profiling:  # noqa: N801 reads as a statement
    """`sys.setprofile` in every thread."""

    def __init__(self, watch: Callable[[FrameType, str, Any], None]) -> None:
        self._watch = watch

    def __enter__(self) -> None:
        threading.setprofile(self._watch)
        sys.setprofile(self._watch)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]


class Records:
    """Watches msgspec's MessagePack: which attempt records are written, and which are decoded.

    An attempt is decoded where the result holds one, or where the bytes are those of a written one, whatever they are
    decoded into.
    """

    def __init__(self) -> None:
        self.decoded = 0
        self.cases: set[str] = set()
        self._written: set[bytes] = set()
        msgpack = import_module("msgspec.msgpack")
        self._decode = msgpack.decode
        records = self

        class Decoder:
            def __init__(self, type: Any = Any, **options: Any) -> None:
                self._real = records.real_decoder(type, **options)
                self.type = type

            __class_getitem__ = classmethod(lambda cls, _: cls)

            def decode(self, data: Any) -> Any:
                return records.note(self._real.decode(data), data)

        class Encoder:
            def __init__(self, **options: Any) -> None:
                self._real = records.real_encoder(**options)

            def encode(self, record: Any) -> bytes:
                data = self._real.encode(record)
                records.keep(record, data)
                return bytes(data)

            def encode_into(self, record: Any, buffer: bytearray, offset: int | None = 0) -> None:
                start = len(buffer) if offset == -1 else offset or 0
                self._real.encode_into(record, buffer, offset)
                if is_attempt(record):
                    records.keep(record, bytes(buffer[start:]))

        def encode(record: Any, **options: Any) -> bytes:
            return Encoder(**options).encode(record)

        def decode(data: Any, **options: Any) -> Any:
            return records.note(records._decode(data, **options), data)

        self.real_decoder, self.real_encoder = msgpack.Decoder, msgpack.Encoder
        msgpack.decode, msgpack.encode, msgpack.Decoder, msgpack.Encoder = decode, encode, Decoder, Encoder

    def keep(self, record: Any, data: bytes) -> None:
        if is_attempt(record):
            self._written.add(bytes(data))

    def note(self, result: Any, data: Any) -> Any:
        several = result if isinstance(result, list | tuple) else (result,)
        attempts = [record for record in several if is_attempt(record)]
        self.cases.update(str(attempt.case) for attempt in attempts if hasattr(attempt, "case"))
        self.decoded += len(attempts) or bytes(data) in self._written
        return result


def is_attempt(record: object) -> bool:
    return type(record).__name__ == RECORD and type(record).__module__.startswith("errata")


def probe_passes(source: Path, example: Path) -> Result:
    records, errata = Records(), Errata(source)
    errata.run("analyze", str(example))
    if not any(Path.cwd().rglob("*.md")):
        errata.run("report", "latest")
    decoded = records.decoded
    attempts = sum(line["counts"]["attempts"] for line in printed_json(errata, "runs"))
    passes = round(decoded / attempts, 2) if decoded and attempts else UNKNOWN
    return {"passes": passes, "lists": {"passes": [f"{decoded} records of {attempts} attempts decoded"]}}


def printed_json(errata: Errata, *arguments: str) -> list[dict[str, Any]]:
    """The JSON lines that a command prints."""
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush()
        kept = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            errata.run(*arguments, "--json")
            sys.stdout.flush()
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        return [json.loads(line) for line in file if line.strip()]


def probe_conversions(source: Path, example: Path) -> Result:
    records, errata = Records(), Errata(source)
    seen: dict[int, object] = {}

    def watch(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not records.decoded or not errata.owns(code):
            return
        if event == "return":
            seen.setdefault(id(argument), argument)
            return
        known = frame.f_locals
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & VARARGS) + bool(code.co_flags & VARKEYWORDS)
        for name in code.co_varnames[:count]:
            if name in known:
                seen.setdefault(id(known[name]), known[name])

    with profiling(watch):
        errata.run("analyze", str(example), "--no-report")
        errata.run("failures", "latest")
    failures = printed_json(errata, "failures", "latest")
    marked = next((failure for failure in failures if failure["case"] == MARKED), None)
    if marked is None or not records.cases:
        raise RuntimeError(f"the marked failure `{MARKED}` is not listed")
    names = {failure["case"]: failure["case_key"] for failure in failures}
    prefix = marked["case_key"].removesuffix(MARKED)
    names |= {case.removeprefix(prefix): case for case in records.cases}
    carriers = Carriers(names)
    for value in list(seen.values()):
        carriers.cases_in(value)
    alone, several = carriers.classes_about(marked["case_key"])
    if not alone:
        return {"conversions": UNKNOWN}
    return {"conversions": len(alone), "lists": {"conversions": alone, "collections_of_failures": several}}


class Carriers:
    """Which cases an object is about: those whose name, key or attempt id is somewhere in it."""

    _attempt_id = re.compile(r"[0-9a-f]+:(.+)#\d+")

    def __init__(self, names: dict[str, str]) -> None:
        self._keys = names | {key: key for key in names.values()}
        self._known: dict[int, tuple[object, frozenset[str]]] = {}

    def cases_in(self, value: object) -> frozenset[str]:
        if isinstance(value, str):
            match = self._attempt_id.fullmatch(value)
            key = self._keys.get(match[1] if match else value)
            return frozenset((key,)) if key else frozenset()
        if id(value) not in self._known:
            self._known[id(value)] = (value, frozenset())  # ends a cycle
            cases = frozenset[str]().union(*map(self.cases_in, parts_of(value)))
            self._known[id(value)] = (value, cases)
        return self._known[id(value)][1]

    def classes_about(self, case: str) -> tuple[list[str], list[str]]:
        """Those with an instance about this case alone, and those that only have it among others."""
        alone, several = set(), set()
        for value, cases in self._known.values():
            if case in cases and is_of_errata(value):
                name = f"{type(value).__module__}.{type(value).__qualname__}"
                (alone if len(cases) == 1 else several).add(name)
        return sorted(alone), sorted(several - alone)


def is_of_errata(value: object) -> bool:
    return type(value).__module__.split(".")[0] == "errata" and not isinstance(value, type)


def parts_of(value: Any) -> Iterator[object]:
    if isinstance(value, dict):
        yield from value.keys()
        yield from value.values()
    elif isinstance(value, list | tuple | set | frozenset):
        yield from value
    elif is_of_errata(value):
        yield from getattr(value, "__dict__", {}).values()
        slots = {name for kind in type(value).__mro__ for name in names_in(kind.__dict__.get("__slots__", ()))}
        for name in slots.union(getattr(value, "__struct_fields__", ())):
            yield getattr(value, name, None)


def names_in(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def probe_recognition(source: Path, example: Path) -> Result:
    logs = sorted((source / "tests" / "fixtures" / "sources" / "promptfoo").rglob("*.json"))
    sources = import_module("errata.sources")
    if not sources.find(logs[0] if logs else example):
        raise RuntimeError("errata.sources.find recognised nothing")
    loaded = sorted(name for name in sys.modules if f"{name}.".startswith("errata.sources."))
    return {"recognition_modules": len(loaded) or UNKNOWN, "lists": {"recognition_modules": loaded}}


PROBES = {
    "functions": probe_functions,
    "conversions": probe_conversions,
    "passes": probe_passes,
    "recognition": probe_recognition,
}


# --- starting the processes ------------------------------------------------------------------------------------------


class Bench:
    """Starts processes of a checkout: its own code, a copy of its example, no setting of the user's."""

    def __init__(self, source: Path, python: str, folder: Path) -> None:
        self.source, self.python, self._folder, self._count = source, python, folder, 0
        self.example = folder / "no-example"
        bundled = sorted(path for path in (source / "src" / "errata" / "examples").glob("*") if path.is_dir())
        if bundled:
            self.example = Path(shutil.copytree(bundled[0], folder / "runs" / bundled[0].name))

    def start(self, *command: str) -> "subprocess.CompletedProcess[str]":
        """In an empty folder, with an empty store."""
        self._count += 1
        place = self._folder / f"process-{self._count}"
        place.mkdir()
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("ERRATA_", "PYTHON"))}
        environment |= {"PYTHONPATH": str(self.source / "src"), "PYTHONHASHSEED": "0"}
        environment |= {"HOME": str(place), "XDG_CONFIG_HOME": str(place), "ERRATA_STORE": str(place / "errata.db")}
        return subprocess.run(
            [self.python, *command], cwd=place, env=environment, capture_output=True, text=True, check=False
        )

    def probe(self, name: str) -> Result:
        answer = self._folder / f"{name}.json"
        this = str(Path(__file__).resolve())
        done = self.start(this, "--probe", name, str(self.source), str(self.example), str(answer))
        for line in done.stderr.splitlines():
            if line.startswith("note: "):
                print(line, file=sys.stderr)
        if not answer.is_file():
            last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
            raise RuntimeError(last[0])
        return dict(json.loads(answer.read_text("utf-8")))

    def cpu(self, *arguments: str) -> float:
        """Seconds of processor time, of the process and its children."""
        module, _, name = entry_point(self.source).partition(":")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = self.start("-c", f"import sys; from {module} import {name}; sys.exit({name}())", *arguments)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise RuntimeError(f"`errata {arguments[0]}` exited with {done.returncode}")
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_cpu(bench: Bench, rounds: int) -> Result:
    times: dict[str, list[float]] = {"help": [], "analyze": []}
    for at in range(rounds + 1):
        pair = {"help": bench.cpu("--help"), "analyze": bench.cpu("analyze", str(bench.example))}
        if at:  # the first round compiles
            for name, seconds in pair.items():
                times[name].append(seconds)
    lowest = {name: min(seconds) for name, seconds in times.items()}
    listed = [f"{name}: lowest {seconds * 1000:.0f} ms of {rounds} runs" for name, seconds in lowest.items()]
    return {"cpu_ratio": round(lowest["analyze"] / lowest["help"], 2), "lists": {"cpu_ratio": listed}}


def measure(source: Path, python: str, parts: tuple[str, ...], rounds: int) -> Result:
    figures: Result = {}
    lists: Result = {}
    with tempfile.TemporaryDirectory(prefix="measure-house-") as folder:
        bench = Bench(source, python, Path(folder))
        for part in parts:
            try:
                if part == "layout":
                    answer = measure_layout(source)
                else:
                    answer = measure_cpu(bench, rounds) if part == "cpu" else bench.probe(part)
            except (OSError, RuntimeError, SyntaxError, ValueError, KeyError) as error:
                print(f"note: {part} is unknown: {error}", file=sys.stderr)
                continue
            lists |= answer.pop("lists", {})
            figures |= answer
    measured = {figure.key: figures.get(figure.key, UNKNOWN) for figure in FIGURES if figure.part in parts}
    return {"figures": measured, "lists": lists}


# --- printing --------------------------------------------------------------------------------------------------------


def aim_of(figure: Figure, before: Result | None) -> float | None:
    if figure.share is None:
        return figure.most
    earlier = before.get(figure.key, UNKNOWN) if before else UNKNOWN
    return None if earlier == UNKNOWN else round(earlier * figure.share, 2)


def table(now: Result, before: Result | None) -> Iterator[str]:
    columns = ["figure", *(["before"] if before else []), "now", "aim", "met"]
    rows = [columns]
    for figure in FIGURES:
        if figure.key not in now:
            continue
        value, aim = now[figure.key], aim_of(figure, before)
        met = UNKNOWN if value == UNKNOWN or aim is None else "yes" if value <= aim else "no"
        earlier = [in_words(before.get(figure.key, UNKNOWN))] if before else []
        goal = f"≤ {in_words(aim)}" if aim is not None else f"≤ {figure.share} × before"
        rows.append([figure.label, *earlier, in_words(value), goal, met])
    widths = [max(len(row[at]) for row in rows) for at in range(len(columns))]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        yield "  ".join(cells).rstrip()


def in_words(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def listing(lists: Result) -> Iterator[str]:
    for title, items in lists.items():
        yield f"\n{title.replace('_', ' ')} ({len(items)})"
        for item in items:
            yield f"  {item}: {', '.join(items[item])}" if isinstance(items, dict) else f"  {item}"


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Measure the layout of a checkout. The definitions are at the top of this file."
    )
    parser.add_argument("--source", type=Path, default=ROOT, metavar="DIR", help="The checkout. Default: this one.")
    parser.add_argument("--python", metavar="FILE", help="The interpreter. Default: that of DIR/.venv, else this one.")
    parser.add_argument("--before", type=Path, metavar="FILE", help="Compare with figures kept by --json.")
    parser.add_argument("--only", metavar="PART,…", help=f"Measure only these parts: {', '.join(PARTS)}.")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="Measure CPU time N times. Default: 7.")
    parser.add_argument("--list", action="store_true", help="List the modules, classes and functions counted.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    parser.add_argument("--probe", nargs=4, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def run_probe(name: str, source: str, example: str, answer: str) -> None:
    package = import_module("errata")
    if Path(str(package.__file__)).parent != Path(source) / "src" / "errata":
        raise RuntimeError("the interpreter imports errata from another checkout")
    result = PROBES[name](Path(source), Path(example))
    Path(answer).write_text(json.dumps(result), "utf-8")


def main(arguments: list[str] | None = None) -> int:
    chosen = parsed(arguments)
    if chosen.probe:
        run_probe(*chosen.probe)
        return 0
    source = chosen.source.resolve()
    own = source / ".venv" / "bin" / "python"
    python = chosen.python or (str(own) if own.is_file() else sys.executable)
    parts = tuple(chosen.only.split(",")) if chosen.only else PARTS
    if unknown := set(parts) - set(PARTS):
        print(f"error: no such part: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    before = json.loads(chosen.before.read_text("utf-8"))["figures"] if chosen.before else None
    result = measure(source, python, parts, max(1, chosen.rounds))
    if chosen.json:
        kept = result if chosen.list else {"figures": result["figures"]}
        print(json.dumps(kept | ({"before": before} if before else {}), indent=2, ensure_ascii=False))
        return 0
    print("\n".join(table(result["figures"], before)))
    if chosen.list:
        print("\n".join(listing(result["lists"])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
