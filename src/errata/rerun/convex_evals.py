"""convex-evals: the runner takes models and a filter from its environment."""

from errata.model import Run
from errata.rerun.batches import repeated
from errata.rerun.fit import MODEL, exactly, fit, shaped
from errata.rerun.plan import Command, Plan, Request

NOTE = (
    "to be run in a checkout of convex-evals: keys come from its `.env`, and where `CONVEX_EVAL_URL` is set it makes "
    "a new run that plans these evals alone"
)
DEFAULT = "default"
NO_MODEL = "unknown-model"


def plan(request: Request) -> Plan:
    fixed = _environment(request.run)

    def build(names: list[str], _often: int) -> Command:
        return Command(argv=("bun", "run", "local:run"), env={**fixed, "TEST_FILTER": exactly(names)})

    return repeated(request.wanted, lambda case: shaped(case, "name of the eval"), build, [NOTE])


def _environment(run: Run) -> dict[str, str]:
    named = "" if run.subject.model == NO_MODEL else run.subject.model
    fixed = {"MODELS": fit(named, "model", MODEL)}
    experiment = run.variant.get("experiment", DEFAULT)
    return fixed if experiment == DEFAULT else {"EVALS_EXPERIMENT": fit(experiment, "experiment"), **fixed}
