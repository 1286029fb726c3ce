"""Could the subject work at all? Agents that never ran or crashed, and tool calls that did not arrive."""

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from errata.model import Attempt, Case, Conduct, Sighting
from errata.model.conduct import ObstacleKind
from errata.model.obstacles import channel_state, only_writes_calls
from errata.model.words import Confidence, Owner
from errata.text.lazy_regex import lazy_regex
from errata.triage.observed import Observed, Rule, signal

CUT_OFF = ("length", "max_tokens", "model_length", "content_filter", "refusal")
_OBSTACLES: dict[ObstacleKind, tuple[str, Owner]] = {
    "not_installed": ("agent_not_installed", "harness"),
    "crashed": ("agent_crashed", "harness"),
    "not_set_up": ("setup_failed", "environment"),
}
_SOMETHING_MISSING = lazy_regex(r"ENOENT|No such file|ModuleNotFoundError|ImportError|ENOSPC|EACCES|not found")


def something_in_the_way(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """The agent's program was not installed or crashed, or the harness could not set the attempt up."""
    obstacle = attempt.conduct.obstacle if attempt.conduct is not None else None
    if obstacle is None:
        return
    name, owner = _OBSTACLES[obstacle.kind]
    also: tuple[Owner, ...] = ()
    if owner == "harness" and (obstacle.kind == "not_installed" or _SOMETHING_MISSING.search(obstacle.quote)):
        also = ("environment",)
    evidence = signal(name, "likely", obstacle.where, obstacle.quote, obstacle.ref)
    yield Observed(signal=evidence, owner=owner, also=also)


def tool_channel_broken(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """Calls that the subject wrote did not arrive as calls, or not as it wrote them."""
    conduct = attempt.conduct
    if conduct is None:
        return
    strength, seen = channel_state(conduct)
    if strength is not None and seen is not None:
        yield _broken_channel(attempt, conduct, strength, seen)


def call_written_as_text(attempt: Attempt) -> Iterator[Observed]:
    """The same where only other attempts of the run show that there were tools."""
    conduct = attempt.conduct
    if conduct is not None and conduct.calls_as_text is not None and only_writes_calls(conduct):
        yield _broken_channel(attempt, conduct, "likely", conduct.calls_as_text)


def call_arrived_mangled(attempt: Attempt) -> Iterator[Observed]:
    """In a run whose calls arrive mangled, a single mangled or empty call is not a slip of the subject."""
    conduct = attempt.conduct
    odd = (conduct.mangled_calls or conduct.empty_calls) if conduct is not None else None
    if conduct is not None and odd is not None and channel_state(conduct)[0] is None:
        yield _broken_channel(attempt, conduct, "likely", odd)


def _broken_channel(attempt: Attempt, conduct: Conduct, strength: Confidence, seen: Sighting) -> Observed:
    """Calls that only look mangled may have left the provider so; a call or its markup in a text shows the loss."""
    has_leaked = conduct.calls_as_text is not None or conduct.control_tokens is not None
    observation = _in_step("tool_channel_broken", "harness", strength, attempt, seen)
    return observation if has_leaked else msgspec.structs.replace(observation, also=("provider",))


def ended_with_an_empty_turn(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """Nothing came as the model's last answer, and that ended the session."""
    conduct = attempt.conduct
    if conduct is None or conduct.ended_empty is None or attempt.execution != "completed":
        return
    if conduct.ended_in_thought or attempt.lasting_error is not None:
        return
    if attempt.stop_reason in CUT_OFF or attempt.limit is not None or channel_state(conduct)[0] == "likely":
        return
    # a call that arrived mangled or empty came first, and may be why nothing more came
    is_odd = conduct.mangled_calls is not None or conduct.empty_calls is not None
    strength: Confidence = "likely" if conduct.calls and not is_odd else "weak"
    yield _in_step("empty_final_turn", "provider", strength, attempt, conduct.ended_empty)


# an error that names none of these may as well be the harness's or the environment's
_PROVIDER_TERMS = lazy_regex(
    r"\b(?:api|llm|models?|provider|completions?|endpoint|inference|generation|tokens?|context window|rate.?limit|quota"
    r"|credits?|billing|overloaded|capacity|openai|anthropic|azure|bedrock|vertex|gemini|mistral|cohere|groq|together"
    r"|fireworks|openrouter|litellm|deepseek|vllm|ollama|http\w{0,50}|status(?: code)? ?[45]\d\d|[45]\d\d|ssl"
    r"|connection|connect\w{0,50}|gateway|unauthorized|authentication|forbidden|server error|service unavailable"
    r"|timed? ?out|stream)\b|API\w{0,50}Error"
    r"|\w{0,50}(?:RateLimit|Connection|Authentication|Timeout|ServiceUnavailable|BadRequest)\w{0,50}",
    re.IGNORECASE,
)


@lru_cache(maxsize=20_000)
def speaks_of_a_provider(kind: str, message: str, code: str) -> bool:
    return bool(code) or _PROVIDER_TERMS.search(f"{kind.replace('_', ' ')}: {message.replace('_', ' ')}") is not None


def _in_step(name: str, owner: Owner, strength: Confidence, attempt: Attempt, seen: Sighting) -> Observed:
    ref = seen.ref or attempt.ref
    evidence = signal(name, strength, f"steps[{seen.step}]", seen.quote, ref, stated=seen.stated)
    return Observed(signal=evidence, owner=owner)


MEANS = {
    "agent_not_installed": "the agent program was not installed",
    "agent_crashed": "the agent program crashed",
    "setup_failed": "the environment could not be set up",
    "tool_channel_broken": "tool calls look mangled, or arrived as text",
    "empty_final_turn": "an empty answer ended the session",
}

RULES: tuple[Rule, ...] = (something_in_the_way, tool_channel_broken, ended_with_an_empty_turn)
