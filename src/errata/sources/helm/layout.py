"""The files of a HELM run folder."""

NAME = "helm"

SPEC = "run_spec.json"
SCENARIO = "scenario.json"
STATE = "scenario_state.json"
INSTANCES = "per_instance_stats.json"
STATS = "stats.json"
