"""How much the rules of triage say about a cause: some say all of it, some say only whose fault it is."""

BROAD = frozenset(
    (
        "crash_before_generation",
        "environment_stated",
        "grader_stated",
        "harness_crash",
        "harness_frame",
        "harness_stated",
        "judge_contradicts",
        "judge_named",
        "judges_disagree",
        "measurement_failed",
        "no_generation",
        "no_verdict",
        "program_crashed",
        "provider_retries",
        "provider_stated",
        "simulator_failed",
        "simulator_in_the_stack",
        "simulator_stated",
        "unavailable_run",
        "zero_cost_failure",
        "zero_tokens",
    )
)
"""They say who has to act and not what happened: texts decide."""

WHOLE = frozenset(
    (
        "agent_timeout",
        "cancelled_sibling",
        "cascade",
        "clock_wrong",
        "connection_reset",
        "cost_limit",
        "criteria_scores_null",
        "disk_full",
        "dns_failure",
        "interrupted",
        "judge_not_served",
        "judge_unparseable",
        "limit_reached",
        "out_of_memory",
        "provider_auth",
        "provider_connection",
        "provider_content_filter",
        "provider_empty_response",
        "provider_endpoint_missing",
        "provider_model_loading",
        "provider_model_missing",
        "provider_overloaded",
        "provider_quota",
        "provider_rate_limit",
        "provider_refused",
        "provider_server_error",
        "provider_timeout",
        "provider_tls",
        "time_stated",
        "token_limit",
        "turn_limit",
        "verifier_timeout",
        "wrong_port",
    )
)
"""They say what happened, however the message is worded: one bucket for each."""
