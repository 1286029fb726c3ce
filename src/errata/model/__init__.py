"""The records: facts from harnesses, and opinions about them."""

from errata.model.action import Action, KnownGap
from errata.model.attempt import Attempt, Invalidation, Judgement, Limit, Output, Undelivered
from errata.model.attribution import Attribution, FailureKey, Signal
from errata.model.bucket import (
    Bucket,
    BucketChange,
    BucketCounts,
    BucketEvent,
    BucketMark,
    BucketPlace,
    BucketSum,
    BucketTable,
    BucketVersion,
    CauseSummary,
    Location,
    MemberMove,
    Placement,
    RunBuckets,
)
from errata.model.case import Artefact, Case
from errata.model.check import Check, CheckEdit, ErrorInfo, Part
from errata.model.conduct import Conduct, Obstacle, Sighting
from errata.model.counts import Counts, StoredRun
from errata.model.identity import attempt_id, case_key, split_attempt_id
from errata.model.packet import LabelChoice, LeftOut, Packet, PacketPlace, Question
from errata.model.prior_report import PriorFailure, PriorRecommendation, PriorReport
from errata.model.record import Evidence, Finding, Record, SourceRef, Unreadable, UnreadFile, UnreadFiles
from errata.model.review_batch import ReviewBatch
from errata.model.run import (
    CodeVersion,
    Exclusion,
    FileConflict,
    Harness,
    Reported,
    Run,
    Scorer,
    ScoreScale,
    Session,
    SourceInfo,
    Subject,
    case_name,
)
from errata.model.step import Actor, Observation, Step, ToolCall, ToolError, ToolResult
from errata.model.usage import ReviewCall, Usage, UsageByRole
from errata.model.verdict import Fix, Quote, Recommendation, Reviewer, Verdict

Item = Run | Case | Attempt | Unreadable
"""What a source yields."""

__all__ = [
    "Action",
    "Actor",
    "Artefact",
    "Attempt",
    "Attribution",
    "Bucket",
    "BucketChange",
    "BucketCounts",
    "BucketEvent",
    "BucketMark",
    "BucketPlace",
    "BucketSum",
    "BucketTable",
    "BucketVersion",
    "Case",
    "CauseSummary",
    "Check",
    "CheckEdit",
    "CodeVersion",
    "Conduct",
    "Counts",
    "ErrorInfo",
    "Evidence",
    "Exclusion",
    "FailureKey",
    "FileConflict",
    "Finding",
    "Fix",
    "Harness",
    "Invalidation",
    "Item",
    "Judgement",
    "KnownGap",
    "LabelChoice",
    "LeftOut",
    "Limit",
    "Location",
    "MemberMove",
    "Observation",
    "Obstacle",
    "Output",
    "Packet",
    "PacketPlace",
    "Part",
    "Placement",
    "PriorFailure",
    "PriorRecommendation",
    "PriorReport",
    "Question",
    "Quote",
    "Recommendation",
    "Record",
    "Reported",
    "ReviewBatch",
    "ReviewCall",
    "Reviewer",
    "Run",
    "RunBuckets",
    "ScoreScale",
    "Scorer",
    "Session",
    "Sighting",
    "Signal",
    "SourceInfo",
    "SourceRef",
    "Step",
    "StoredRun",
    "Subject",
    "ToolCall",
    "ToolError",
    "ToolResult",
    "Undelivered",
    "UnreadFile",
    "UnreadFiles",
    "Unreadable",
    "Usage",
    "UsageByRole",
    "Verdict",
    "attempt_id",
    "case_key",
    "case_name",
    "split_attempt_id",
]
