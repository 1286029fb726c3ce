"""Who scores: the scorers of an eval, the models that judge, and the roles that models play."""

from collections.abc import Iterator
from typing import Any

from errata.model import Scorer
from errata.sources.inspect_ai.usage import SIMULATOR_ROLES, Judges
from errata.sources.inspect_ai.values import words
from errata.sources.shared.values import mapping, rest, sequence

JUDGE_ROLES = frozenset(("grader", "judge", "scorer"))
_JUDGING = "model_graded"
"""How the names of Inspect's own scorers that ask a model begin."""


def model_name(value: Any) -> str:
    """A model is named by a text, by its configuration, or, where a role has several, by a list of these."""
    if type(value) is list:
        return ", ".join(filter(None, map(model_name, value)))
    return words(mapping(value).get("model")) if type(value) is dict else words(value)


def roles_of(header: dict[str, Any]) -> dict[str, str]:
    spec = mapping(header.get("eval"))
    roles = {}
    for role, config in mapping(spec.get("model_roles")).items():
        known = "judge" if role in JUDGE_ROLES else "simulator" if role in SIMULATOR_ROLES else role
        roles[known if known not in roles else role] = model_name(config)
    judging = [scorer for scorer in scorers_of(header).values() if scorer.model]
    if judging:
        roles.setdefault("judge", judging[0].model)
    return {role: model for role, model in roles.items() if model}


def judges_of(header: dict[str, Any]) -> Judges:
    spec = mapping(header.get("eval"))
    named = {
        model_name(one) for value in _judging_models(header) for one in (value if type(value) is list else [value])
    }
    asked = {words(_options(scorer).get("model_role")) for scorer in _declared(header)}
    roles = {role for role in mapping(spec.get("model_roles")) if role in JUDGE_ROLES} | asked | JUDGE_ROLES
    subject = model_name(spec.get("model"))
    return Judges(frozenset(named - {"", subject}), frozenset(roles - {""}))


def scorers_of(header: dict[str, Any]) -> dict[str, Scorer]:
    """By name. Early logs do not list them, but their results name them."""
    found: dict[str, Scorer] = {}
    for declared in _declared(header):
        name = words(declared.get("name"))
        # the second of one name has a number behind it, as its scores have
        unique = name if name not in found else f"{name}{len([one for one in found if one.startswith(name)])}"
        model = model_name(_judge(declared, header))
        found[unique] = Scorer(
            name=unique,
            kind="judge" if model or _is_judging(name) else "code",
            model=model,
            extra=rest(declared, frozenset(("name",))),
        )
    return found


def _declared(header: dict[str, Any]) -> list[dict[str, Any]]:
    spec, results = mapping(header.get("eval")), mapping(header.get("results"))
    declared = [mapping(scorer) for scorer in sequence(spec.get("scorers"))]
    if declared:
        return declared
    scores = [mapping(score) for score in sequence(results.get("scores"))] or [mapping(results.get("scorer"))]
    by_name = {
        name: {"name": name, "options": score.get("params")}
        for score in scores
        if (name := words(score.get("scorer")) or words(score.get("name")))
    }
    return list(by_name.values())


def _judging_models(header: dict[str, Any]) -> Iterator[Any]:
    for role, config in mapping(mapping(header.get("eval")).get("model_roles")).items():
        if role in JUDGE_ROLES:
            yield config
    for declared in _declared(header):
        yield _judge(declared, header)


def _judge(declared: dict[str, Any], header: dict[str, Any]) -> Any:
    """The model that a scorer asks: given to it, or bound to its role, or, for want of both, the subject itself."""
    spec, options = mapping(header.get("eval")), _options(declared)
    roles = mapping(spec.get("model_roles"))
    given = [value for name, value in options.items() if _is_model(name, value)]
    if given:
        return given[0]
    role = words(options.get("model_role"))
    if role in roles:
        return roles[role]
    if not _is_judging(words(declared.get("name"))):
        return None
    return next((roles[role] for role in sorted(JUDGE_ROLES) if role in roles), spec.get("model"))


def _is_model(name: str, value: Any) -> bool:
    """Scorers call it `model`, `grader_model`, `judge`; a model's configuration is known by its own fields."""
    first = value[0] if type(value) is list and value else value
    if type(first) is dict:
        return type(first.get("model")) is str and "config" in first
    return type(first) is str and bool(first) and name.endswith("model")


def _options(declared: dict[str, Any]) -> dict[str, Any]:
    return mapping(declared.get("options")) or mapping(declared.get("params"))


def _is_judging(name: str) -> bool:
    return name.rpartition("/")[2].startswith(_JUDGING)
