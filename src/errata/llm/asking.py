"""One request to a model and its answer. No retries here: the caller decides, and every request is in the ledger."""

import os
import sys
import warnings
from collections.abc import Callable
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

from errata.llm.failing import ask_error
from errata.llm.gate import PLAIN, checked, only_this_key, tls
from errata.llm.spec import AskError, ModelAnswer, ModelSpec, NoAccessError, RefusedError, Tool, cost_of, used
from errata.model import Usage
from errata.model.usage import NO_USAGE, total_of

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
