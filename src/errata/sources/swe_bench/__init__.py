"""SWE-bench: reports and logs, joined by instance with what SWE-agent, mini-swe-agent or OpenHands did about it."""

from errata.sources.swe_bench.layout import NAME
from errata.sources.swe_bench.reading import read
from errata.sources.swe_bench.recognition import explain, recognise

__all__ = ["NAME", "TITLE", "explain", "read", "recognise"]

TITLE = "SWE-bench: reports, logs, SWE-bench Pro verdicts; trajectories of SWE-agent, mini-swe-agent, OpenHands"
