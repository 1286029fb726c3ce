"""Configuration from flags, environment and files, as one frozen value."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Literal

from errata.model.record import Struct
from errata.model.store_address import StoreLocation, location_of
from errata.settings.files import Deployment, FromFile, project_file, project_settings, user_settings
from errata.settings.reviewers import ReviewerSettings
from errata.settings.store_location import found_store, home_of, new_store


class ProjectSettings(Struct):
    """What the project's file decides about results: every page that shows them names it."""

    file: Path
    rules: tuple[Path, ...] = ()
    taxonomies: tuple[Path, ...] = ()
    timeouts: Literal["count", "drop"] | None = None


class Settings(Struct):
    store: StoreLocation
    project: ProjectSettings | None = None
    """None if no project's file decides anything about results."""
    author: str = ""
    rule_files: tuple[Path, ...] = ()
    """Rules besides the built-in ones; a later rule replaces an earlier one of the same name."""
    taxonomy_files: tuple[Path, ...] = ()
    timeouts: Literal["count", "drop"] = "count"
    """How the `clean` and `reviewed` scores treat attempts that timed out."""
    reviewers: dict[str, ReviewerSettings] = {}
    deployments: dict[str, Deployment] = {}


def machine_user() -> str:
    """Who started this process, by its user id and not by the environment."""
    try:
        import pwd  # noqa: PLC0415 Windows has none

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        return os.environ.get("USERNAME", "") or "user"


_store_in_use: ContextVar[StoreLocation | None] = ContextVar("store", default=None)


def load_settings(*, store: str = "", environ: Mapping[str, str] = os.environ, cwd: Path | None = None) -> Settings:
    """Precedence: flag, environment, project file, user file. A named store brings its own project's file."""
    folder = cwd or Path.cwd()
    named = store or environ.get("ERRATA_STORE", "")
    own, project = user_settings(environ), project_settings(_project_folder(named, folder), environ)
    author = environ.get("ERRATA_AUTHOR") or environ.get("USER") or environ.get("LOGNAME") or ""
    return Settings(
        store=location_of(named) if named else project.store or found_store(folder) or own.store or new_store(folder),
        project=_deciding(project),
        author=author,
        rule_files=own.rules + project.rules,
        taxonomy_files=own.taxonomies + project.taxonomies,
        timeouts=project.timeouts or own.timeouts or "count",
        reviewers=own.reviewers | project.reviewers,
        deployments=own.deployments | project.deployments,
    )


def _deciding(project: FromFile) -> ProjectSettings | None:
    if project.file is None or not (project.rules or project.taxonomies or project.timeouts):
        return None
    return ProjectSettings(
        file=project.file, rules=project.rules, taxonomies=project.taxonomies, timeouts=project.timeouts
    )


@contextmanager
def using_store(store: StoreLocation) -> Iterator[None]:
    """Inside the context, settings come from the project of this store, whatever the working folder is."""
    token = _store_in_use.set(store)
    try:
        yield
    finally:
        _store_in_use.reset(token)


def _project_folder(named: str, folder: Path) -> Path:
    """Where the search for a project file begins: at a named store, if it lies in a project; else here."""
    store = location_of(named) if named else _store_in_use.get()
    home = home_of(folder / store) if isinstance(store, Path) else folder
    return home if project_file(home) is not None else folder


BRANCHES: Sequence[str] = (
    "ERRATA_BRANCH",
    "GITHUB_HEAD_REF",  # of a pull request; GITHUB_REF_NAME is `12/merge` there
    "GITHUB_REF_NAME",
    "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME",
    "CI_COMMIT_BRANCH",
    "BITBUCKET_BRANCH",
    "BUILDKITE_BRANCH",
    "CIRCLE_BRANCH",
    "BUILD_SOURCEBRANCHNAME",
    "BRANCH_NAME",
)
COMMITS: Sequence[str] = (
    "ERRATA_COMMIT",
    "GITHUB_SHA",
    "CI_COMMIT_SHA",
    "BITBUCKET_COMMIT",
    "BUILDKITE_COMMIT",
    "CIRCLE_SHA1",
    "BUILD_SOURCEVERSION",
    "GIT_COMMIT",
)


def branch_and_commit(environ: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """Empty where the environment does not state them. A commit alone is not enough: it may be of another project."""
    branch = _first(environ, BRANCHES)
    return branch, _first(environ, COMMITS) if branch else ""


def job_address(environ: Mapping[str, str] = os.environ) -> str:
    """The page of the CI job, which has the whole output; empty outside of CI."""
    if address := environ.get("CI_JOB_URL", ""):
        return address
    server, repository, run = (environ.get(f"GITHUB_{name}", "") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID"))
    return f"{server}/{repository}/actions/runs/{run}" if server and repository and run else ""


def _first(environ: Mapping[str, str], names: Sequence[str]) -> str:
    return next((value for name in names if (value := environ.get(name, "").strip())), "")
