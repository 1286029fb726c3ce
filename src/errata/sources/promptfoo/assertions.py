"""Assertions: what each is called, and who grades it."""

from typing import Any

from errata.model import Scorer
from errata.model.words import ScorerKind
from errata.sources.promptfoo.providers import provider_id
from errata.sources.shared.values import mapping, number, text

_JUDGED = frozenset(
    (
        "agent-rubric",
        "answer-relevance",
        "classifier",
        "context-faithfulness",
        "context-recall",
        "context-relevance",
        "conversation-relevance",
        "factuality",
        "g-eval",
        "llm-rubric",
        "model-graded-closedqa",
        "model-graded-factuality",
        "moderation",
        "pi",
        "search-rubric",
        "select-best",
        "trajectory:goal-success",
    )
)
_RED_TEAM = "promptfoo:redteam:"


class Graders:
    """The model that grades: an assertion's own, else the test's, else the one of all tests."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._default = _of_test(mapping(config.get("defaultTest")))

    def model_of(self, assertion: dict[str, Any], test: dict[str, Any]) -> str:
        if kind_of(text(assertion.get("type"))) != "judge":
            return ""
        return provider_id(assertion.get("provider")) or _of_test(test) or self._default


def kind_of(assertion_type: str) -> ScorerKind:
    bare = assertion_type.removeprefix("not-")
    if bare == "human":
        return "human"
    return "judge" if bare in _JUDGED or bare.startswith(_RED_TEAM) else "code"


def name_of(assertion: dict[str, Any]) -> str:
    return text(assertion.get("metric")) or text(assertion.get("type")) or "assertion"


def scorer_of(assertion: dict[str, Any], test: dict[str, Any], graders: Graders) -> Scorer | None:
    kind = text(assertion.get("type"))
    if not kind:
        return None
    return Scorer(
        name=kind,
        kind=kind_of(kind),
        model=graders.model_of(assertion, test),
        threshold=number(assertion.get("threshold")),
    )


def _of_test(test: dict[str, Any]) -> str:
    return provider_id(mapping(test.get("options")).get("provider"))
