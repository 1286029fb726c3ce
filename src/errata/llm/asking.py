"""One request to a model: its answer or why it failed. No retries: the caller decides; each is in the ledger."""

import os
import ssl
import sys
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import cache
from typing import Any

import httpx2
from pydantic_ai import direct
from pydantic_ai import exceptions as errors
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers import Provider, infer_provider_class
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from errata.llm.spec import (
    AskError,
    ModelAnswer,
    ModelSpec,
    NoAccessError,
    NotNowError,
    RefusedError,
    Tool,
    cost_of,
    used,
)
from errata.model import Usage
from errata.model.usage import NO_USAGE, total_of
from errata.text.outgoing import line_for_user

MOST_BYTES = 8 * 1024 * 1024
"""A verdict has a few thousand bytes, long reasoning before it some hundred thousand."""
PLAIN = {"accept-encoding": "identity"}
"""Sent with every request: a small compressed response could expand to any size."""
_SENT = frozenset(("host", "content-length", "content-type", "accept", "accept-encoding", "connection", "user-agent"))


@cache
def tls() -> ssl.SSLContext:
    """Read once: the list of authorities takes a tenth of a second."""
    return httpx2.create_ssl_context()


class RedirectedError(Exception):
    """Following it would send the prompt, and perhaps the key, to a host that nobody configured."""


class UnusableError(Exception):
    """Too long, or compressed although that was not requested."""


def only_this_key(key: str | None) -> Callable[[httpx2.Request], Awaitable[None]]:
    """For the user's own server: libraries would add keys and headers meant for their provider."""

    async def cleared(request: httpx2.Request) -> None:
        for name in [name for name in request.headers if name.lower() not in _SENT]:
            del request.headers[name]
        if key:
            request.headers["authorization"] = f"Bearer {key}"

    return cleared


async def checked(response: httpx2.Response, most: int = MOST_BYTES) -> None:
    """Called with the head of each response, before its body is read; `most` bytes are read."""
    if response.has_redirect_location:
        there = httpx2.URL(response.headers["location"])
        raise RedirectedError(f"it redirects to `{there.scheme}://{there.netloc.decode('ascii', 'replace')}`")
    packed = response.headers.get("content-encoding", "identity").lower()
    if packed != "identity":
        raise UnusableError(f"the answer is compressed with `{packed}`, which was not requested")
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _Limited(response.stream, most)


class _Limited(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most: int) -> None:
        self._stream, self._most = stream, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > self._most:
                raise UnusableError(f"the answer has more than {self._most:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


WIDTH = 300
_READ = 4 * WIDTH
"""Characters of a provider's message that are read."""
_FOR_GOOD = (errors.ModelAuthenticationError, errors.ModelNotFoundError, errors.ModelQuotaExceededError)
_PERHAPS_DONE = (408, 504, 524)
"""A timeout on the way: the model may have finished the work."""
_NEVER_SENT = ("pool", "connect")


def ask_error(error: Exception) -> AskError:
    if redirected := _among_causes(error, RedirectedError):
        return NoAccessError(f"{redirected}; if that is intended, configure the new address")
    if unusable := _among_causes(error, UnusableError):
        return NotNowError(str(unusable), in_doubt=True)
    if isinstance(error, _FOR_GOOD):
        return NoAccessError(_provider_message(error))
    if isinstance(error, errors.UserError):
        return NoAccessError(short(str(error)))
    if isinstance(error, errors.ModelRequestRejectedError):
        return RefusedError(_provider_message(error))
    if isinstance(error, errors.ModelHTTPError):
        return NotNowError(_provider_message(error), error.retry_after, in_doubt=error.status_code in _PERHAPS_DONE)
    sent = not (isinstance(error, errors.ModelConnectionError) and error.phase in _NEVER_SENT)
    if isinstance(error, errors.ModelConnectionError | httpx2.HTTPError | OSError):
        return NotNowError(short(_deepest(error)), in_doubt=sent)
    # a truncated or malformed answer: the same request may succeed next time
    return NotNowError(short(f"the answer can't be read: {error}"), in_doubt=True)


def _provider_message(error: errors.ModelAPIError) -> str:
    """The provider's message without the library's wrapping."""
    body = error.body
    message = body.get("message") if isinstance(body, dict) else body
    status = f"HTTP {error.status_code}: " if isinstance(error, errors.ModelHTTPError) else ""
    return short(f"{status}{message or error.message}")


def short(text: str) -> str:
    """One line that is safe to store and show: a provider may repeat the key that it rejects."""
    if len(text) > _READ:  # half a word may be half a key
        text = text[:_READ].rpartition(" ")[0]
    return line_for_user(text, WIDTH)


def _deepest(error: Exception) -> str:
    """The innermost cause: libraries wrap errors in one another and report `Connection error.`"""
    *_, cause = (one for one in _causes(error) if isinstance(one, Exception))
    return f"{type(cause).__name__}: {cause}".removesuffix(": ")


def _among_causes(error: BaseException, kind: type[Exception]) -> BaseException | None:
    return next((one for one in _causes(error) if isinstance(one, kind)), None)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


CONNECT_SECONDS = 10.0
MOST_ROUNDS = 12
"""How many requests a model may spend on tools before it must answer."""
MOST_TOKENS = 2**40
# implausible token counts are recorded as unknown; the library's warning would add nothing
warnings.simplefilter("ignore", errors.UsageExtractionFailedWarning)


class Asking:
    """An open connection to a model."""

    def __init__(
        self, spec: ModelSpec, *, timeout: float, parallel: int, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        """`transport` takes the place of the network."""
        self._spec = spec
        key = _key(spec)
        self._http = httpx2.AsyncClient(
            transport=transport,
            follow_redirects=False,
            verify=tls(),
            headers=PLAIN,
            event_hooks={"request": [only_this_key(key)] if spec.base_url else [], "response": [checked]},
            timeout=httpx2.Timeout(timeout, connect=CONNECT_SECONDS),
            limits=httpx2.Limits(max_connections=parallel, max_keepalive_connections=parallel),
        )
        self._model = _open(spec, key, self._http)
        self._form = form_for(self._model)
        settings = ModelSettings(max_tokens=spec.max_output_tokens)
        if spec.temperature is not None:
            settings["temperature"] = spec.temperature
        self._settings = settings

    async def ask(self, text: str, schema: dict[str, Any], tools: tuple[Tool, ...] = ()) -> ModelAnswer:
        history: list[ModelMessage] = [ModelRequest.user_text_prompt(text)]
        parameters, settings = self._form(schema, _definitions(tools))
        spent: list[Usage] = []
        try:
            for _ in range(MOST_ROUNDS):
                response = await self._request(history, parameters, settings | self._settings)
                spent.append(self._usage(response))
                wanted = [part for part in response.parts if isinstance(part, ToolCallPart)]
                if not wanted:
                    return ModelAnswer(_text(response), _sum(spent))
                history += [response, ModelRequest(parts=_results(wanted, tools))]
            raise RefusedError(f"the model used its tools {MOST_ROUNDS} times and gave no answer")
        except AskError as error:
            error.usage = _sum(spent)
            raise

    async def close(self) -> None:
        await self._http.aclose()

    async def _request(
        self, history: list[ModelMessage], parameters: ModelRequestParameters, settings: ModelSettings
    ) -> ModelResponse:
        try:
            return await direct.model_request(
                self._model, history, model_settings=settings, model_request_parameters=parameters
            )
        except Exception as error:  # any library error on a hostile response means: no answer
            raise ask_error(error) from error

    def _usage(self, response: ModelResponse) -> Usage:
        given = response.usage
        tokens_in, tokens_out = _plausible(given.input_tokens), _plausible(given.output_tokens)
        known = tokens_in is not None and tokens_out is not None
        cost = cost_of(self._spec, tokens_in or 0, tokens_out or 0) if known else None
        return Usage(
            input=tokens_in,
            output=tokens_out,
            cache_read=_plausible(given.cache_read_tokens),
            cache_write=_plausible(given.cache_write_tokens),
            requests=1,
            cost=cost,
            cost_source="unknown" if cost is None else "estimated",
        )


def _plausible(tokens: int) -> int | None:
    """None for 0, the library's value for a missing count, and for absurd counts from a provider."""
    return tokens if 0 < tokens < MOST_TOKENS else None


def _key(spec: ModelSpec) -> str | None:
    key = os.environ.get(spec.key_name) if spec.key_name else None
    if spec.key_name and not key:
        raise NoAccessError(f"the environment variable `{spec.key_name}` is not set")
    return key


def _open(spec: ModelSpec, key: str | None, http: httpx2.AsyncClient) -> Model:
    def provider(name: str) -> Provider[Any]:
        given: dict[str, Any] = {"http_client": http}
        if spec.base_url:
            given["base_url"] = spec.base_url
        if key:
            given["api_key"] = key
        made = infer_provider_class(name)(**given)
        if hasattr(made.client, "max_retries"):
            made.client.max_retries = 0  # an unrecorded retry would be an unrecorded cost
        return made

    name = spec.name if ":" in spec.name and not spec.base_url else f"openai-chat:{spec.name}"
    try:
        return infer_model(name, provider_factory=provider)
    except (errors.UserError, ImportError, TypeError, ValueError) as error:
        raise NoAccessError(str(error).partition(". ")[0]) from error


def _definitions(tools: tuple[Tool, ...]) -> list[ToolDefinition]:
    return [
        ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=tool.schema)
        for tool in tools
    ]


def _results(wanted: list[ToolCallPart], tools: tuple[Tool, ...]) -> list[ToolReturnPart]:
    contents = used([(part.tool_name, part.args) for part in wanted], tools)
    return [
        ToolReturnPart(tool_name=part.tool_name, content=content, tool_call_id=part.tool_call_id)
        for part, content in zip(wanted, contents, strict=True)
    ]


def _text(response: ModelResponse) -> str:
    if response.finish_reason == "content_filter":
        raise RefusedError("the provider's filter stopped the answer")
    return (response.text or "").encode("utf-8", "replace").decode("utf-8")  # lone surrogates can't be stored


def _sum(spent: list[Usage]) -> Usage:
    if len(spent) < 2:
        return spent[0] if spent else NO_USAGE
    costs = [one.cost for one in spent]
    cost = None if None in costs else total_of(costs)
    return Usage(
        input=total_of(one.input for one in spent),
        output=total_of(one.output for one in spent),
        requests=len(spent),
        cost=cost,
        cost_source="unknown" if cost is None else "estimated",
    )


# --- how the form of an answer is requested: by a schema that the provider enforces, or by the prompt alone


NAME = "verdict"
Schema = dict[str, Any]
Form = Callable[[Schema, list[ToolDefinition]], tuple[ModelRequestParameters, ModelSettings]]


def form_for(model: Model) -> Form:
    if not model.profile.get("supports_json_schema_output", False):
        return in_words
    return as_openai_has_it if _speaks_openai(model) else as_the_library_has_it


def in_words(_schema: Schema, tools: list[ToolDefinition]) -> tuple[ModelRequestParameters, ModelSettings]:
    """The answer is validated in any case."""
    return ModelRequestParameters(output_mode="text", function_tools=tools), ModelSettings()


def as_the_library_has_it(schema: Schema, tools: list[ToolDefinition]) -> tuple[ModelRequestParameters, ModelSettings]:
    form = OutputObjectDefinition(json_schema=schema, name=NAME, strict=True)
    return ModelRequestParameters(output_mode="native", output_object=form, function_tools=tools), ModelSettings()


def as_openai_has_it(schema: Schema, tools: list[ToolDefinition]) -> tuple[ModelRequestParameters, ModelSettings]:
    """Sends the schema unchanged. Two libraries would transform it again for every call, a third of its time."""
    parameters, settings = in_words(schema, tools)
    form = {"type": "json_schema", "json_schema": {"name": NAME, "schema": schema, "strict": True}}
    settings["extra_body"] = {"response_format": form}
    return parameters, settings


def _speaks_openai(model: Model) -> bool:
    module = sys.modules.get("pydantic_ai.models.openai")  # if it is not loaded, no model is of this kind
    return module is not None and isinstance(model, module.OpenAIChatModel)
