"""What the environment of a CI job states: branch, commit and the page of the job."""

import os
from collections.abc import Mapping, Sequence

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
