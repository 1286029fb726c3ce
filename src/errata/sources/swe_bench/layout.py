"""Names and sizes that the readers of SWE-bench share."""

NAME = "swe-bench"
SUITE = "SWE-bench"
PRO = "SWE-bench Pro"
TRAJECTORY_CAP = 128 * 1024 * 1024
REPORT = "report.json"
INSTANCE_LOG = "run_instance.log"
