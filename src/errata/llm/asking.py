"""One request to a model and its answer. No retries here: who asks decides, and every request is in a ledger."""

import os
from typing import Any

import httpx2
import msgspec
from pydantic_ai import direct
from pydantic_ai import exceptions as errors
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers import Provider, infer_provider_class
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from errata.llm.prices import cost_of
from errata.llm.spec import ModelSpec, NoAccessError, NotNowError, RefusedError
from errata.llm.tools import Tool
from errata.model import Usage
from errata.model.usage import total_of

CONNECT_SECONDS = 10.0
MOST_ROUNDS = 12
"""Requests in which a model may use its tools before it has to answer."""


class Said(msgspec.Struct, frozen=True):
    text: str
    usage: Usage


class Asking:
    """An open connection to a model."""

    def __init__(self, spec: ModelSpec, *, timeout: float, parallel: int) -> None:
        self._spec = spec
        # a redirect would carry the key to a host that nobody named
        self._http = httpx2.AsyncClient(
            follow_redirects=False,
            timeout=httpx2.Timeout(timeout, connect=CONNECT_SECONDS),
            limits=httpx2.Limits(max_connections=parallel, max_keepalive_connections=parallel),
        )
        self._model = _open(spec, self._http)
        settings = ModelSettings(max_tokens=spec.max_output_tokens)
        if spec.temperature is not None:
            settings["temperature"] = spec.temperature
        self._settings = settings

    async def ask(self, text: str, schema: dict[str, Any], tools: tuple[Tool, ...] = ()) -> Said:
        """Raises `NotNowError`, `RefusedError` or `NoAccessError`, nothing else."""
        history: list[ModelMessage] = [ModelRequest.user_text_prompt(text)]
        spent: list[Usage] = []
        for _ in range(MOST_ROUNDS):
            response = await self._request(history, _parameters(schema, tools))
            spent.append(self._usage(response))
            wanted = [part for part in response.parts if isinstance(part, ToolCallPart)]
            if not wanted:
                return Said(_text(response), _sum(spent))
            history += [response, ModelRequest(parts=[_result(part, tools) for part in wanted])]
        raise RefusedError(f"the model used its tools {MOST_ROUNDS} times and gave no answer")

    async def close(self) -> None:
        await self._http.aclose()

    async def _request(self, history: list[ModelMessage], parameters: ModelRequestParameters) -> ModelResponse:
        try:
            return await direct.model_request(
                self._model, history, model_settings=self._settings, model_request_parameters=parameters
            )
        except (errors.ModelAuthenticationError, errors.ModelNotFoundError, errors.ModelQuotaExceededError) as error:
            raise NoAccessError(_told(error)) from error
        except errors.ModelRequestRejectedError as error:
            raise RefusedError(_told(error)) from error
        except errors.ModelAPIError as error:
            raise NotNowError(_told(error), error.retry_after) from error
        except (httpx2.HTTPError, OSError) as error:
            raise NotNowError(f"{type(error).__name__}: {error}") from error
        except errors.UserError as error:
            raise NoAccessError(str(error)) from error
        except (errors.AgentRunError, ValueError) as error:
            # half an answer, or one that is no JSON at all: the same request may well go through
            raise NotNowError(f"the answer can't be read: {error}"[:300]) from error

    def _usage(self, response: ModelResponse) -> Usage:
        given = response.usage
        cost = cost_of(self._spec, given.input_tokens, given.output_tokens)
        return Usage(
            input=given.input_tokens,
            output=given.output_tokens,
            cache_read=given.cache_read_tokens or None,
            cache_write=given.cache_write_tokens or None,
            requests=1,
            cost=cost,
            cost_source="unknown" if cost is None else "estimated",
        )


def _open(spec: ModelSpec, http: httpx2.AsyncClient) -> Model:
    key = os.environ.get(spec.key_name) if spec.key_name else None
    if spec.key_name and not key:
        raise NoAccessError(f"the environment variable `{spec.key_name}` is not set")

    def provider(name: str) -> Provider[Any]:
        given: dict[str, Any] = {"http_client": http}
        if spec.base_url:
            given["base_url"] = spec.base_url
        if key:
            given["api_key"] = key
        made = infer_provider_class(name)(**given)
        if hasattr(made.client, "max_retries"):
            made.client.max_retries = 0  # a retry that nobody wrote down is money that nobody sees
        return made

    name = spec.name if ":" in spec.name and not spec.base_url else f"openai-chat:{spec.name}"
    try:
        return infer_model(name, provider_factory=provider)
    except (errors.UserError, ImportError, TypeError) as error:
        raise NoAccessError(str(error)) from error


def _parameters(schema: dict[str, Any], tools: tuple[Tool, ...]) -> ModelRequestParameters:
    return ModelRequestParameters(
        output_mode="native",
        output_object=OutputObjectDefinition(json_schema=schema, name="verdict", strict=True),
        function_tools=[
            ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=tool.schema)
            for tool in tools
        ],
    )


def _result(part: ToolCallPart, tools: tuple[Tool, ...]) -> ToolReturnPart:
    tool = next((one for one in tools if one.name == part.tool_name), None)
    content = tool.use(part.args) if tool else f"There is no tool `{part.tool_name}`"
    return ToolReturnPart(tool_name=part.tool_name, content=content, tool_call_id=part.tool_call_id)


def _text(response: ModelResponse) -> str:
    text = response.text or ""
    if response.finish_reason == "content_filter":
        raise RefusedError("the provider's filter stopped the answer")
    return text


def _sum(spent: list[Usage]) -> Usage:
    if len(spent) == 1:
        return spent[0]
    costs = [one.cost for one in spent]
    cost = None if None in costs else total_of(costs)
    return Usage(
        input=total_of(one.input for one in spent),
        output=total_of(one.output for one in spent),
        requests=len(spent),
        cost=cost,
        cost_source="unknown" if cost is None else "estimated",
    )


def _told(error: errors.ModelAPIError) -> str:
    status = f"HTTP {error.status_code}: " if isinstance(error, errors.ModelHTTPError) else ""
    return f"{status}{error.message}"[:300]
