"""Typed facts: classes, codes and statuses as the providers' own clients define them, in logs that no sample has.

The names are those of the released clients: openai 3.51, anthropic 2.10, groq 1.7, together 3.1, cohere 7.3, mistralai
3.7, google-genai 3.3, google-api-core 2.44, litellm 1.109, botocore 1.44 (bedrock-runtime), huggingface_hub 2.4, httpx
0.28, requests 2.34, urllib3 2.8, aiohttp 3.14, docker 7.2, modal 1.6, e2b 2.63, ray 2.60, billiard 4.3, kubelet.
"""

import pytest

from errata.model import Check, ErrorInfo, Usage, UsageByRole
from errata.testing import a_run, an_attempt
from errata.triage import attribute, built_in, observe

# what was generated already leaves only the error itself to decide
CRASHED = {
    "execution": "error", "measurement": "not_run", "outcome": "none", "usage": UsageByRole(subject=Usage(total=9)),
}  # fmt: skip

PROVIDER = """
    openai.RateLimitError openai.AuthenticationError openai.PermissionDeniedError openai.NotFoundError
    openai.InternalServerError openai.APIConnectionError openai.APITimeoutError openai.APIError openai.OAuthError
    openai.ContentFilterFinishReasonError openai.APIResponseValidationError
    anthropic.OverloadedError anthropic.PaymentRequiredError anthropic.ServiceUnavailableError
    anthropic.GatewayTimeoutError anthropic.RequestTimeoutError anthropic.CredentialsError
    cohere.TooManyRequestsError cohere.UnauthorizedError cohere.ForbiddenError cohere.InvalidTokenError
    mistralai.NoResponseError mistralai.ResponseValidationError google.genai.errors.ServerError
    google.genai.errors.UnknownApiResponseError google.api_core.exceptions.ResourceExhausted
    google.api_core.exceptions.TooManyRequests google.api_core.exceptions.Unauthenticated
    google.api_core.exceptions.PermissionDenied google.api_core.exceptions.BadGateway
    google.api_core.exceptions.DeadlineExceeded google.api_core.exceptions.GatewayTimeout
    litellm.exceptions.BadGatewayError litellm.exceptions.ContentPolicyViolationError litellm.Timeout
    litellm.exceptions.MidStreamFallbackError litellm.exceptions.GuardrailRaisedException
    ThrottlingException AccessDeniedException ModelErrorException ModelTimeoutException ModelNotReadyException
    ModelStreamErrorException ServiceUnavailableException InternalServerException ResourceNotFoundException
    ServiceQuotaExceededException botocore.exceptions.NoCredentialsError botocore.exceptions.EndpointConnectionError
    botocore.exceptions.PartialCredentialsError botocore.exceptions.ConnectionClosedError
    huggingface_hub.errors.OverloadedError huggingface_hub.errors.InferenceTimeoutError
    huggingface_hub.errors.GatedRepoError huggingface_hub.errors.IncompleteGenerationError
    httpx.ConnectError httpx.ReadTimeout httpx.PoolTimeout httpx.RemoteProtocolError httpx.ReadError
    requests.exceptions.ConnectionError requests.exceptions.ChunkedEncodingError requests.exceptions.SSLError
    urllib3.exceptions.MaxRetryError urllib3.exceptions.NewConnectionError urllib3.exceptions.ReadTimeoutError
    aiohttp.ClientConnectorError aiohttp.ServerDisconnectedError aiohttp.ClientPayloadError aiohttp.SocketTimeoutError
    rate_limit_error authentication_error permission_error not_found_error billing_error overloaded_error api_error
    timeout_error rate_limit_exceeded insufficient_quota invalid_api_key server_error
    RESOURCE_EXHAUSTED UNAUTHENTICATED PERMISSION_DENIED DEADLINE_EXCEEDED UNAVAILABLE
""".split()  # noqa: SIM905 a block of names
OTHERS = {
    "budget": ["litellm.exceptions.ContextWindowExceededError", "openai.LengthFinishReasonError", "request_too_large",
               "anthropic.ContentTooLargeError", "litellm.BudgetExceededError", "context_length_exceeded"],
    "environment": ["docker.errors.ImageNotFound", "docker.errors.DockerException", "ImagePullBackOff", "OOMKilled",
                    "ErrImagePull", "CrashLoopBackOff", "CreateContainerConfigError", "MemoryError", "ENOSPC", "EMFILE",
                    "modal.exception.SandboxTerminatedError", "e2b.exceptions.SandboxNotFoundException",
                    "e2b.exceptions.NotEnoughSpaceException", "httpx.ProxyError", "ray.exceptions.OutOfMemoryError"],
    "harness": ["concurrent.futures.process.BrokenProcessPool", "ray.exceptions.WorkerCrashedError", "SIGTERM",
                "billiard.exceptions.WorkerLostError", "jinja2.exceptions.UndefinedError",
                "omegaconf.errors.MissingMandatoryValue", "litellm.exceptions.UnsupportedParamsError"],
}  # fmt: skip
STATUSES = {
    "provider": (401, 402, 403, 404, 408, 429, 500, 502, 503, 504, 529),
    "budget": (413,),
    "harness": (400, 422),
}
NAMES = [("provider", name) for name in PROVIDER] + [(owner, name) for owner in OTHERS for name in OTHERS[owner]]


def owner_of(**error):
    attempt = an_attempt(errors=(ErrorInfo(phase="subject", **({"type": "Error", "message": ""} | error)),), **CRASHED)
    return attribute(attempt, observe(a_run(), attempt, None, None, built_in())).owner


@pytest.mark.parametrize(("owner", "name"), NAMES)
def test_a_class_or_code_of_a_client_names_the_owner_in_a_typed_field_and_in_the_message(owner, name):
    assert owner_of(type=name) == owner
    assert owner_of(code=name) == owner
    assert owner_of(message=f"{name}: it went wrong") == owner


@pytest.mark.parametrize(("owner", "status"), [(owner, one) for owner in STATUSES for one in STATUSES[owner]])
@pytest.mark.parametrize("text", ["Error code: {} - {{'error': {{}}}}", "{} Client Error", "status_code: {} Refused"])
def test_a_status_names_the_owner_where_a_text_calls_it_so(owner, status, text):
    assert owner_of(message=text.format(status)) == owner
    assert owner == "harness" or owner_of(code=str(status)) == owner


@pytest.mark.parametrize(
    ("text", "phase", "owner"),
    [
        ("agent exited with code 137", "subject", "environment"),
        ("setup.sh: exit code 127", "setup", "environment"),
        ("node: exit status 139", "setup", "environment"),
        ("received SIGKILL", "environment", "environment"),
        ("runner: return code -15, exit code 143", "aggregation", "harness"),
        ("exit code: 130", "subject", "collateral"),
    ],
)
def test_exit_codes_and_signals_name_the_owner(text, phase, owner):
    attempt = an_attempt(errors=(ErrorInfo(type="Error", message=text, phase=phase),), **CRASHED)

    assert attribute(attempt, observe(a_run(), attempt, None, None, built_in())).owner == owner


@pytest.mark.parametrize(
    "message",
    [
        "429 items were left",
        "401 tests in all",
        "it took 503 seconds",
        "the rate of unavailable limits",
        "a pooltimeout",
    ],
)
def test_bare_numbers_and_words_in_another_spelling_are_no_facts(message):
    assert owner_of(message=message) == "unknown"


def test_the_same_names_in_what_a_test_says_of_the_subjects_work_stay_the_subjects():
    failed = tuple(Check(name=name, kind="tests", status="fail", explanation=f"{name} was raised") for name in PROVIDER)
    attempt = an_attempt(checks=failed)

    assert attribute(attempt, observe(a_run(), attempt, None, None, built_in())).owner == "model"


@pytest.mark.parametrize(
    "message",
    [
        "Error: K8sError: INSTALLATION FAILED: context deadline exceeded",
        "rpc error: code = DeadlineExceeded desc = context deadline exceeded",
        "/bin/sh: 1: node: not found",
        "browserType.launch: Executable doesn't exist at /root/.cache/ms-playwright/chromium",
        "libc.so.6: version `GLIBC_2.34' not found (required by node)",
        "ImportError: libGL.so.1: cannot open shared object file: No such file or directory",
        "RuntimeError: No CUDA GPUs are available",
        "OSError: [Errno 98] Address already in use",
        "fatal: repository 'https://example.org/x/y.git/' not found",
    ],
)
def test_what_the_machine_lacks_is_the_environments(message):
    error = ErrorInfo(phase="environment", type="Error", message=message)
    attempt = an_attempt(execution="error", measurement="not_run", outcome="none", errors=(error,))

    assert {one.owner for one in observe(a_run(), attempt, None, None, built_in())} == {"environment"}
