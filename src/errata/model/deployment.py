"""Deployments: stores that are kept apart, such as `dev` and `prod`."""

PRODUCTION = frozenset(("prod", "production"))
"""Deployments that are written only on purpose, and whose schema only a release changes."""
HEADER = "Errata-Deployment"
"""Names the deployment that a report is for."""
