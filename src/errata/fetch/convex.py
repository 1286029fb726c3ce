"""A run of convex-evals → a folder of the deployment's own answers, from which the source reads it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import is_zipfile

import msgspec

from errata.errors import FetchError, NotFoundError
from errata.fetch.transport import FunctionError, Target, Transport
from errata.text.lazy_regex import lazy_regex

PARALLEL = 4
DETAILS, FAILED, DEBUG = "getRunDetails.envelope.json", "getFailedEvalsForRun.envelope.json", "getEvalDebugInfo"
URLS = "getOutputUrl.json"
LISTED = "fetch.json"
_STORAGE_ID = lazy_regex(r"[A-Za-z0-9_-]{8,80}")

OnItems = Callable[[int], None]


class Fetched(NamedTuple):
    folder: Path
    run: str
    evals: int
    failed: int
    files: int
    """Zips in the folder."""
    new: int
    """Zips that this call fetched."""
    problems: tuple[str, ...]
    """Missing files, with the reason; all others were saved."""


class EvalFiles(NamedTuple):
    eval: str
    path: str
    storage_ids: tuple[str, ...]


def fetch_run(
    target: Target, transport: Transport, folder: Path, *, when: str, on_items: OnItems = lambda _: None
) -> Fetched:
    """Uses the public queries; if those are closed and there is a key for the host, the debug functions."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        answer = transport.call("runs:getRunDetails", {"runId": target.run})
    except FunctionError as error:
        if not error.is_not_public or not transport.has_key:
            raise _unknown(target, transport, error) from error
        return _by_debug_functions(target, transport, folder, when, on_items)
    details = answer.value
    if not isinstance(details, dict):
        raise _not_there(target, transport)
    _write(folder / DETAILS, answer.raw)
    evals = [one for one in details.get("evals") or () if isinstance(one, dict)]
    wanted = list(_files_to_fetch(evals, target))
    if target.eval and not any(one.get("_id") == target.eval for one in evals):
        raise NotFoundError(f"Run `{target.run}` has no eval `{target.eval}`", hint="its other evals were not fetched")
    files, new, problems = _fetch_files(wanted, transport, folder / "storage", on_items)
    failed = sum(_kind(one) == "failed" for one in evals)
    made = Fetched(folder, target.run, len(evals), failed, files, new, tuple(problems))
    _list(made, transport, when, "runs:getRunDetails")
    return made


def _files_to_fetch(evals: Iterable[Mapping[str, Any]], target: Target) -> Iterator[EvalFiles]:
    """The files of the requested eval, or of every eval that failed."""
    for evaluation in evals:
        asked = evaluation.get("_id") == target.eval if target.eval else _kind(evaluation) == "failed"
        status = evaluation.get("status")
        named = (
            status.get("outputStorageId") if isinstance(status, dict) else None,
            evaluation.get("evalSourceStorageId"),
        )
        ids = tuple(each for each in named if isinstance(each, str) and _STORAGE_ID.fullmatch(each))
        if asked and ids:
            yield EvalFiles(str(evaluation.get("_id", "")), str(evaluation.get("evalPath", "")), ids)


def _kind(evaluation: Mapping[str, Any]) -> str:
    status = evaluation.get("status")
    return str(status.get("kind", "")) if isinstance(status, dict) else ""


def _fetch_files(
    wanted: Iterable[EvalFiles], transport: Transport, folder: Path, on_items: OnItems
) -> tuple[int, int, list[str]]:
    """The zip of an id never changes, so existing zips are not fetched again."""
    folder.mkdir(parents=True, exist_ok=True)
    named = {each: one.path for one in wanted for each in one.storage_ids}
    missing = [each for each in named if not (folder / f"{each}.zip").is_file()]
    urls: dict[str, Any] = {}
    problems = []

    def fetch(storage_id: str) -> str:
        try:
            answer = transport.call("runs:getOutputUrl", {"storageId": storage_id})
            urls[storage_id] = msgspec.json.decode(answer.raw)
            if not isinstance(answer.value, str):
                return "the deployment no longer has this file"
            path = folder / f"{storage_id}.zip"
            transport.download(answer.value, path)
            if not is_zipfile(path):
                path.unlink()
                return "the deployment did not send a complete zip file"
        except FetchError as error:
            return error.message
        finally:
            on_items(1)
        return ""

    with ThreadPoolExecutor(PARALLEL) as pool:
        for storage_id, problem in zip(missing, pool.map(fetch, missing), strict=True):
            if problem:
                problems.append(f"{named[storage_id]}: {storage_id}.zip: {problem}")
    if urls:
        _write(folder / URLS, msgspec.json.format(msgspec.json.encode(urls, order="sorted"), indent=1))
    return len(named) - len(problems), len(missing) - len(problems), problems


def _by_debug_functions(target: Target, transport: Transport, folder: Path, when: str, on_items: OnItems) -> Fetched:
    answer = transport.call("debugQueries:getFailedEvalsForRun", {"runId": target.run})
    if not isinstance(answer.value, dict):
        raise _not_there(target, transport)
    _write(folder / FAILED, answer.raw)
    evals = [one for one in answer.value.get("failedEvals") or () if isinstance(one, dict)]
    ids = [str(one.get("_id")) for one in evals if not target.eval or one.get("_id") == target.eval]
    ids = [each for each in ids if _STORAGE_ID.fullmatch(each)]
    (folder / DEBUG).mkdir(exist_ok=True)
    problems = []
    for each in ids:
        try:
            debug_info = transport.call("debug:getEvalDebugInfo", {"evalId": each})
            _write(folder / DEBUG / f"{each}.json", debug_info.raw)
        except FetchError as error:
            problems.append(f"{each}: {error.message}")
        on_items(1)
    total = answer.value.get("totalEvals")
    evals_in_all = total if isinstance(total, int) else len(evals)
    made = Fetched(folder, target.run, evals_in_all, len(evals), 0, 0, tuple(problems))
    _list(made, transport, when, "debugQueries:getFailedEvalsForRun")
    return made


def _list(made: Fetched, transport: Transport, when: str, by: str) -> None:
    """Record the query, the deployment and the time: the folder is evidence."""
    content = {
        "run": made.run,
        "deployment": transport.deployment,
        "asked": by,
        "at": when,
        "evals": made.evals,
        "failed": made.failed,
        "files": made.files,
        "problems": made.problems,
    }
    _write(made.folder / LISTED, msgspec.json.format(msgspec.json.encode(content), indent=1))


def _write(path: Path, content: bytes) -> None:
    new = path.with_name(f"{path.name}.part")
    new.write_bytes(content)
    new.replace(path)


def _not_there(target: Target, transport: Transport) -> NotFoundError:
    return NotFoundError(
        f"`{transport.deployment}` has no run `{target.run}`",
        hint="runs of local work are in another deployment: use `--deployment dev`, or its address",
    )


def _unknown(target: Target, transport: Transport, error: FunctionError) -> FetchError:
    if "ArgumentValidationError" in error.message:
        return _not_there_as_id(target, transport)
    if error.is_not_public:
        hint = "its public queries are closed; see `docs/fetching.md` for how to name a key for this host"
        return FetchError(error.message, hint=hint)
    return error


def _not_there_as_id(target: Target, transport: Transport) -> FetchError:
    return FetchError(
        f"`{transport.deployment}` rejects `{target.run}` as a run id",
        hint="a run's id is the part of its address after `/run/`",
    )
