"""What makes an answer a verdict: every claim in it that can be looked up is looked up; else the reasons why not.

The same answer to the same packet always makes the same verdict, so that one that was stored is judged again for free.
"""

from typing import Any, NamedTuple, TypeVar, get_args

import msgspec

from errata.model import Fix, Packet, Quote, Recommendation, Reviewer, Usage, Verdict
from errata.model.identity import fingerprint
from errata.model.words import Confidence, Owner, RecommendationGroup
from errata.review.answers import NO_LABEL, Given, read_answer
from errata.review.claims import Claims
from errata.review.evidence import Shelf, checked
from errata.review.hashing import packet_hash
from errata.review.instructions import speaks_to_reviewer
from errata.review.redaction import redacted
