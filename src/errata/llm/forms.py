"""How the form of an answer is requested: by a schema that the provider enforces, or by the prompt alone."""

import sys
from collections.abc import Callable
from typing import Any

from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

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
