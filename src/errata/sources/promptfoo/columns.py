"""The columns of an evaluation: each is a prompt with a provider, becomes one run, and has its graders."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from errata.model import Scorer, Subject
from errata.model.words import ScorerKind
from errata.sources.base import Row
from errata.sources.promptfoo.evaluation import PromptfooEvaluation
from errata.sources.promptfoo.values import PromptfooNaming, without_secrets
from errata.sources.shared.values import mapping, number, sequence, text
from errata.text.clean import one_line

Key = int | tuple[str, str]
LONGEST_PROMPT = 80
# API names between the provider and its model
_WAYS = frozenset(
    (
        "agents",
        "assistant",
        "chat",
        "completion",
        "converse",
        "embedding",
        "embeddings",
        "image",
        "messages",
        "moderation",
        "realtime",
        "responses",
        "text-generation",
        "transcription",
        "video",
    )
)
_PROGRAMS = frozenset(
    (
        "browser",
        "exec",
        "file",
        "golang",
        "http",
        "https",
        "mcp",
        "package",
        "promptfoo",
        "python",
        "ruby",
        "webhook",
        "ws",
        "wss",
    )
)
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


@dataclass
class PromptfooColumn:
    key: Key
    entry: dict[str, Any]
    """The file's entry for the column, apart from the rows."""
    at: int | None = None
    provider: Any = None
    prompt: dict[str, Any] = field(default_factory=dict)
    prompt_id: str = ""
    rows: int = 0
    scorers: dict[tuple[str, str], Scorer] = field(default_factory=dict)
    variant: dict[str, str] = field(default_factory=dict)
    subject: Subject = field(default_factory=Subject)

    @property
    def provider_id(self) -> str:
        return provider_id(self.provider) or text(self.entry.get("provider"))

    @property
    def provider_label(self) -> str:
        name = text(self.entry.get("provider"))
        return label_of(self.provider) or (name if name != self.provider_id else "")

    @property
    def prompt_label(self) -> str:
        return _label(self.entry) or _label(self.prompt)


class PromptfooColumns:
    def __init__(self, evaluation: PromptfooEvaluation, rows: Iterable[Row]) -> None:
        self._prompts = evaluation.prompts
        self._graders = Graders(evaluation.config)
        self._only_provider = _only_provider(evaluation.config)
        self.naming = PromptfooNaming()
        self.by_key: dict[Key, PromptfooColumn] = {
            at: PromptfooColumn(key=at, entry=prompt, at=at) for at, prompt in enumerate(evaluation.prompts)
        }
        for row in rows:
            self._note(row.data)
        self._name(evaluation.config)

    def key_of(self, row: dict[str, Any]) -> Key:
        at = row.get("promptIdx")
        if isinstance(at, int) and not isinstance(at, bool):
            return at
        provider, prompt = self.provider_of(row), mapping(row.get("prompt"))
        names = (provider_id(provider), label_of(provider))
        label = _label(prompt)
        for at, entry in enumerate(self._prompts):
            named_provider = text(entry.get("provider"))
            if _label(entry) == label and (not named_provider or named_provider in names):
                return at
        return (names[1] or names[0], label)

    def provider_of(self, row: dict[str, Any]) -> Any:
        return row.get("provider") or self._only_provider

    def _note(self, row: dict[str, Any]) -> None:
        key = self.key_of(row)
        column = self.by_key.setdefault(key, PromptfooColumn(key=key, entry={}))
        if not column.rows:
            column.provider = self.provider_of(row)
            column.prompt = mapping(row.get("prompt"))
            column.prompt_id = text(row.get("promptId"))
        column.rows += 1
        self.naming.note(row)
        test, grading = mapping(row.get("testCase")), mapping(row.get("gradingResult"))
        asserted = [*sequence(test.get("assert")), *(mapping(part).get("assertion") for part in _parts(grading))]
        for assertion in asserted:
            scorer = scorer_of(mapping(assertion), test, self._graders)
            if scorer is not None:
                known = column.scorers.setdefault((scorer.name, scorer.model), scorer)
                if known.threshold != scorer.threshold:
                    column.scorers[scorer.name, scorer.model] = Scorer(
                        name=scorer.name, kind=scorer.kind, model=scorer.model
                    )

    def _name(self, config: dict[str, Any]) -> None:
        """Set the variant of each column: its prompt if there are several, and more if two would be alike."""
        columns = list(self.by_key.values())
        prompts = _prompt_names(columns)
        for column, prompt in zip(columns, prompts, strict=True):
            options = configuration_of(config, column.provider_id, column.provider_label)
            options_used = {**mapping(options), **mapping(column.provider)}
            column.subject = subject_of(column.provider_id, options_used)
            column.variant = {"prompt": prompt} if len(set(prompts)) > 1 else {}
        for column in _alike(columns):
            if column.provider_label:
                column.variant["provider"] = column.provider_label
        for column in _alike(columns):
            column.variant["column"] = str(column.key)


def _parts(grading: dict[str, Any]) -> list[Any]:
    return sequence(grading.get("componentResults"))


def _label(prompt: dict[str, Any]) -> str:
    return text(prompt.get("label")) or text(prompt.get("display")) or text(prompt.get("raw"))


def _prompt_names(columns: list[PromptfooColumn]) -> list[str]:
    """Labels are often the whole prompt: shortened, and distinguished by the prompt's id if needed."""
    labels = [one_line(column.prompt_label, LONGEST_PROMPT) for column in columns]
    full: dict[str, set[str]] = {}
    for name, column in zip(labels, columns, strict=True):
        full.setdefault(name, set()).add(_prompt_key(column))
    return [
        f"{name} [{_prompt_key(column)[:8]}]" if len(full[name]) > 1 else name
        for name, column in zip(labels, columns, strict=True)
    ]


def _prompt_key(column: PromptfooColumn) -> str:
    return text(column.entry.get("id")) or column.prompt_id or column.prompt_label


def _alike(columns: list[PromptfooColumn]) -> list[PromptfooColumn]:
    def identity(column: PromptfooColumn) -> tuple[str, ...]:
        return (column.subject.model, column.subject.provider, *sorted(column.variant.values()))

    counts = Counter(map(identity, columns))
    return [column for column in columns if counts[identity(column)] > 1]


def _only_provider(config: dict[str, Any]) -> Any:
    """Rows of old exports don't name the provider; the configuration does, if there is only one."""
    listed = config.get("providers") or config.get("targets")
    if isinstance(listed, list):
        return listed[0] if len(listed) == 1 else None
    return listed


def provider_id(provider: Any) -> str:
    """The id of a provider given as an id, as an object, or by purpose."""
    if isinstance(provider, str):
        return provider
    fields = mapping(provider)
    if isinstance(fields.get("id"), str):
        return text(fields["id"])
    if "text" in fields:
        return provider_id(fields["text"])
    return next(iter(fields), "") if len(fields) == 1 and isinstance(next(iter(fields.values())), dict) else ""


def label_of(provider: Any) -> str:
    return text(mapping(provider).get("label"))


def subject_of(ident: str, provider: Any) -> Subject:
    scheme, colon, model = ident.partition(":")
    options = {
        key: without_secrets(value, key)
        for key, value in mapping(provider).items()
        if key not in ("id", "label") and value
    }
    if not colon or not model or scheme.lower() in _PROGRAMS:
        return Subject(model=ident, params=options)
    way, colon, rest = model.partition(":")
    if colon and rest and way in _WAYS:
        return Subject(model=rest, provider=scheme, params={"api": way} | options)
    return Subject(model=model, provider=scheme, params=options)


def configuration_of(config: dict[str, Any], ident: str, label: str) -> Any:
    """The configuration of a provider, by label if it has one."""
    listed = config.get("providers") or config.get("targets")
    entries = listed if isinstance(listed, list) else [listed]
    for entry in entries:
        if label and label_of(entry) == label:
            return entry
    for entry in entries:
        if isinstance(entry, dict) and provider_id(entry) == ident:
            inner = entry.get(ident)
            return inner if isinstance(inner, dict) else entry
    return None


class Graders:
    """The grading model: the assertion's own, otherwise the test's, otherwise the default of all tests."""

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
