"""convex-evals: the runner takes models and a filter from its environment."""

from errata.model import Run
from errata.rerun.plan import MODEL, Command, PlanNote, RerunPlan, RerunRequest, batch_commands, exactly, fit, shaped

NOTES = (PlanNote("run_in_checkout", ("convex-evals",)), PlanNote("keys_from_env_file"))
DEFAULT = "default"
NO_MODEL = "unknown-model"


def plan(request: RerunRequest) -> RerunPlan:
    fixed = _environment(request.run)

    def build(names: list[str], _often: int) -> Command:
        return Command(argv=("bun", "run", "local:run"), env={**fixed, "TEST_FILTER": exactly(names)})

    return batch_commands(request.attempts, lambda case: shaped(case, "eval name"), build, NOTES)


def _environment(run: Run) -> dict[str, str]:
    model = "" if run.subject.model == NO_MODEL else run.subject.model
    fixed = {"MODELS": fit(model, "model", MODEL)}
    experiment = run.variant.get("experiment", DEFAULT)
    return fixed if experiment == DEFAULT else {"EVALS_EXPERIMENT": fit(experiment, "experiment"), **fixed}
