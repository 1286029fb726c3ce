"""What a column or a field holds, by the names that people give to it."""

from errata.memory.spelling import folded

_FAILURE = {
    "case": (
        "eval evals case cases test-case test-cases task tasks scenario sample problem question turn turns item name "
        "eval-name case-name eval-path task-name task-id test-id case-id eval-id failed-eval failed-evals failing-eval "
        "failing-evals failed-case failed-cases failure failures test tests id"
    ),
    "label": (
        "classification label verdict class classified-as classified fault diagnosis assessment judgement judgment "
        "category kind type final-label final-classification our-call call attribution"
    ),
    "step": (
        "failed-step step failed-check check failing-step failing-check stage phase failed-at fails-at failed-in "
        "step-first-failed first-failed-step failed-steps failed-checks failed-dimension failed-dimensions dimension "
        "dimensions where broke-at"
    ),
    "reasoning": (
        "reasoning reason why note notes explanation comment comments details detail what-happened root-cause cause "
        "analysis summary description finding rationale justification because remarks remark"
    ),
    "status": "status result outcome pass-fail passed state",
}
_RUN = {
    "run": "run run-id run-ids runs runid id-of-run run-identifier",
    "model": "model model-name model-slug slug subject model-under-test",
    "provider": "provider api routed-via via",
    "experiment": "experiment variant setup",
    "date": "date run-date day analysis-date analysed analyzed analysed-on analyzed-on when report-date created",
    "rate": "pass-rate pass-rates recorded-pass-rate recorded-pass-rates score result results overall",
    "passed": "passed",
    "failed": "failed",
    "total": "total total-evals evals cases tests",
}


def _by_name(roles: dict[str, str]) -> dict[str, str]:
    return {name: role for role, names in roles.items() for name in names.split()}


FAILURE, RUN = _by_name(_FAILURE), _by_name(_RUN)


def role_of(name: str, roles: dict[str, str]) -> str:
    """The role of a column or field; empty where its name is none of the known ones."""
    bare = name.partition("(")[0].partition(":")[0]
    return roles.get(folded(bare), "")


def columns_of(header: tuple[str, ...], roles: dict[str, str]) -> dict[str, int]:
    """Role → column. Of two with the same role, the one whose name stands earlier in the list of names is meant."""
    order = {name: place for place, name in enumerate(roles)}
    found: dict[str, tuple[int, int]] = {}
    for at, name in enumerate(header):
        role = role_of(name, roles)
        if role:
            rank = order[folded(name.partition("(")[0].partition(":")[0])]
            found[role] = min(found.get(role, (rank, at)), (rank, at))
    return {role: at for role, (_, at) in found.items()}
