"""What can be known before money is spent: is everything there that a model's definition needs?"""

import os
from collections.abc import Mapping
from typing import Literal

import msgspec

from errata.runner.models import ModelDefinition

KEY_VARIABLES = {
    "anthropic": "ANTHROPIC_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "fireworks": "FIREWORKS_API_KEY",
    "google": "GOOGLE_API_KEY",
    "groq": "GROQ_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "openai": "OPENAI_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "perplexity": "PERPLEXITY_API_KEY",
    "together": "TOGETHER_API_KEY",
}
"""Where Inspect looks for the key of a provider. Of others it is not known before the run."""

ProblemName = Literal["key_missing"]


class Preflight(msgspec.Struct, frozen=True, kw_only=True):
    """The result for one model."""

    model: ModelDefinition
    key_variable: str
    """The variable that must hold a key; empty where none is needed or it is not known."""
    problem: ProblemName | None = None

    @property
    def ok(self) -> bool:
        return self.problem is None


def preflight(model: ModelDefinition, environ: Mapping[str, str] = os.environ) -> Preflight:
    """Sends nothing."""
    variable = model.key_name if model.base_url else KEY_VARIABLES.get(model.provider, "")
    missing = bool(variable) and not environ.get(variable, "").strip()
    return Preflight(model=model, key_variable=variable, problem="key_missing" if missing else None)
