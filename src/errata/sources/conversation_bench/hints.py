"""What to say about a path of this harness that is no finished run."""

from pathlib import Path

from errata.sources.base import Row, json_file
from errata.sources.conversation_bench.contract import TURNS_FILES, is_contract
from errata.sources.conversation_bench.layout import (
    JUDGED_SUFFIX,
    JUDGES,
    NAME,
    RUN_RESULTS,
    RUNTIME,
    TRANSCRIPT,
    upwards,
)
from errata.sources.shared.values import mapping

_TOLD = (*TURNS_FILES, "tools.json", "tools.py")
_OF_A_COMPARISON = {"benchmark", "models", "judge"}
_OF_A_RUN = {"model_name", "turns"}
_BENCHMARKS_TOLD = 5


def explain(path: Path) -> str | None:
    try:
        return _comparison(path) or _unfinished(path) or _benchmark(path)
    except OSError:
        return None


def _comparison(path: Path) -> str | None:
    if (path / RUN_RESULTS).exists() or not _keys(path / "metadata.json") >= _OF_A_COMPARISON:
        return None
    return f"`metadata.json` is of a comparison, but `{RUN_RESULTS}`, which lists its runs, is missing"


def _unfinished(path: Path) -> str | None:
    if not _keys(path / RUNTIME) >= _OF_A_RUN:
        return None
    judged = f"{JUDGES[0]}{JUDGED_SUFFIX}"
    return f"`{RUNTIME}` is of a conversation, but neither `{judged}` nor `{TRANSCRIPT}` with turns lies beside it"


def _keys(path: Path) -> set[str]:
    row = json_file(path, source=NAME, root=path.parent) if path.is_file() else None
    return set(mapping(row.data)) if type(row) is Row else set()


def _benchmark(path: Path) -> str | None:
    folders = _contracts(path)
    if not folders:
        return None
    held = [name for name in _TOLD if (folders[0] / name).is_file()]
    files = " and ".join(f"`{name}`" for name in held)
    runs = [f"runs of this benchmark: `{runs}`" for folder in folders if (runs := _runs(folder))]
    return "\n".join([f"it holds {files} of a benchmark, not a finished run" + (";" if runs else ""), *runs])


def _contracts(path: Path) -> list[Path]:
    if path.is_file():
        return [path.parent] if path.name in TURNS_FILES else []
    if is_contract(path):
        return [path]
    return [child for child in sorted(path.iterdir()) if is_contract(child)][:_BENCHMARKS_TOLD] if path.is_dir() else []


def _runs(contract: Path) -> Path | None:
    """Named as the user named the benchmark, where that is possible."""
    for above in (*upwards(contract), *upwards(contract.absolute())):
        runs = above / "runs" / contract.absolute().name
        if runs.is_dir():
            return runs
    return None
