"""How specific a triage rule is: most name the cause, some only the owner or the kind of error."""

BROAD = frozenset(
    (
        "crash_before_generation",
        "environment_stated",
        "grader_stated",
        "harness_crash",
        "harness_frame",
        "judge_contradicts",
        "judges_disagree",
        "measurement_failed",
        "no_generation",
        "no_verdict",
        "program_crashed",
        "provider_stated",
        "simulator_failed",
        "simulator_in_the_stack",
        "simulator_stated",
        "unavailable_run",
        "unknown_status",
        "zero_tokens",
    )
)
"""They say who has to act and not what happened: only texts tell."""

OPEN = frozenset(
    (
        "all_fail",
        "answer_equals_reference",
        "bad_request",
        "expected_contradicts_data",
        "format_reject",
        "known_gap",
        "library_error",
        "lint_only",
        "missing_tool",
        "package_missing",
        "prompt_contradicts_expected",
        "record_validation",
        "reference_fails",
        "sandbox_failed",
        "strict_match",
        "verifier_never_ran",
    )
)
"""They say what kind of thing happened; which thing it was (a program, a lint rule, a field) only texts tell."""

OF_ONE_CASE = frozenset(
    (
        "all_fail",
        "expected_contradicts_data",
        "known_gap",
        "prompt_contradicts_expected",
        "reference_fails",
    )
)
"""Of these, what is wrong in one case is not what is wrong in another."""

LIMITS = {
    "token_limit": "tokens",
    "turn_limit": "turns",
    "agent_timeout": "time",
    "time_stated": "time",
    "cost_limit": "cost",
}
"""Rules that say which limit ended an attempt."""
_KINDS = {
    "tokens": ("token", "context", "length"),
    "turns": ("turn", "message", "step", "iteration"),
    "time": ("time", "working", "duration", "deadline", "wall"),
    "cost": ("cost", "usd", "dollar", "price", "spend"),
}


def limit_of(signal: str, limit: str) -> str:
    """tokens, turns, time or cost, else the harness's own word; nothing where no limit is meant."""
    if signal != "limit_reached":
        return LIMITS.get(signal, "")
    word = limit.lower()
    return next((kind for kind, parts in _KINDS.items() if any(part in word for part in parts)), word or "unnamed")


def says_all(signal: str) -> bool:
    """However its messages are worded, they are one cause."""
    return bool(signal) and signal not in BROAD and signal not in OPEN


def says_something(signal: str) -> bool:
    return bool(signal) and signal not in BROAD
