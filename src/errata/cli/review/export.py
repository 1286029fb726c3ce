"""`errata review export`."""

import sys
from collections.abc import Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click

from errata import pipeline
from errata.cli.choice import Word
from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put_json, say
from errata.cli.review.reviewers import packet_options
from errata.errors import SettingsError
from errata.model import StoredRun
from errata.model.words import OWNERS
from errata.pipeline.exporting import are_judged_turns
from errata.pipeline.failures import Filters
from errata.pipeline.packeting import Packing, question_for
from errata.review.redaction import redacted
from errata.review.tables import Exported, write_packets, write_rows, write_table
from errata.store.database import Store
