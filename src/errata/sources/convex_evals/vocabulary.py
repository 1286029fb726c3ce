"""The words of convex-evals: its pipeline, its prefixes, and the rule by which a step failed for want of machinery."""

import re

NAME = "convex-evals"
SUITE = "convex-evals"
PIPELINE = ("filesystem", "install", "deploy", "tsc", "eslint", "tests")
STATIC_PIPELINE = ("filesystem", "tests")
"""Selection evals: nothing is installed, deployed or linted."""

NOT_COUNTED = ("[rate_limit]", "[infrastructure]")
"""Evals whose reason starts so are dropped from the harness's own score."""

RAW_RESPONSE = "raw_model_response.md"
RAW_RESPONSE_CAP = 16_000
"""Characters at which the harness cuts an answer that it could not parse."""
RUN_LOG = "run.log"

# Deliberately without a bare "rate limit": that may be the name of an eval, or what its code does.
_MACHINERY = re.compile(
    r"timed out after|econnrefused|econnreset|etimedout|enotfound|eai_again"
    r"|too many requests|status code 429|http 429",
    re.IGNORECASE,
)
_MACHINERY_DEPLOY = re.compile(rf"{_MACHINERY.pattern}|convex dev timed out", re.IGNORECASE)
_BY_STEP = {"install": _MACHINERY, "deploy": _MACHINERY_DEPLOY, "tsc": _MACHINERY}


def machinery_word(step: str, reason: str) -> str:
    """The word by which a failed step is the infrastructure's; empty where it is not, always for eslint and tests."""
    rule = _BY_STEP.get(step)
    match = rule.search(reason) if rule else None
    return match[0] if match else ""


def not_counted(reason: str) -> bool:
    return reason.startswith(NOT_COUNTED)
