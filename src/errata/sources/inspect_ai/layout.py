"""What the files and members of an Inspect log are called."""

from errata.sources.shared.archives import Caps

NAME = "inspect-ai"

HEADER = "header.json"
START = "_journal/start.json"
JOURNAL_SUMMARIES = "_journal/summaries/"
JOURNAL_UPDATES = "_journal/config_updates/"
SUMMARIES = "summaries.json"
SAMPLES = "samples/"
SHELL = "/sample.json"
"""The member that holds what is not cut into chunks, where a large sample has a folder of its own."""

CAPS = Caps(member=256 * 2**20, total=64 * 2**30, members=400_000, ratio=float("inf"))
"""Members are read one by one. Old logs repeat the whole conversation in every call and pack a thousandfold."""
