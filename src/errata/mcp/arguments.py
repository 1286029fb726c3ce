"""What each tool takes: a record a tool, from which its input schema is made. A field that is not listed is refused."""

from typing import Annotated, Any

from msgspec import Meta

from errata.model.record import Struct
from errata.model.words import Owner

RUN = "A path to logs (imported first), a run's name or id (or its first characters), a model, or `latest`."

Run = Annotated[str, Meta(min_length=1, description=RUN)]
Runs = Annotated[tuple[str, ...], Meta(description=f"Runs. Each: {RUN}")]
Thing = Annotated[str, Meta(min_length=1, description="RUN, RUN/CASE, or the id of an attempt.")]
AttemptId = Annotated[str, Meta(min_length=1, description="`attempt_id` of a failure, or RUN/CASE.")]
CaseFilter = Annotated[str, Meta(description="Only cases whose name contains this text.")]
BucketFilter = Annotated[str, Meta(description="Only failures in this bucket, by its slug.")]
NextPage = Annotated[str, Meta(description="`cursor` of the last answer, for its next page.")]


class Arguments(Struct, forbid_unknown_fields=True):
    """Every tool can be asked for the next page."""

    cursor: NextPage = ""


class RunsArguments(Arguments, frozen=True, kw_only=True):
    model: Annotated[str, Meta(description="Only runs whose model contains this text.")] = ""


class RunArguments(Arguments, frozen=True, kw_only=True):
    run: Run


class FailuresArguments(RunArguments, frozen=True, kw_only=True):
    case: CaseFilter = ""
    category: Annotated[str, Meta(description="Only cases of this category.")] = ""
    failed_check: Annotated[str, Meta(description="Only attempts that failed this check.")] = ""
    owner: Annotated[Owner | None, Meta(description="Only failures with this owner.")] = None
    bucket: BucketFilter = ""


class ShowArguments(Arguments, frozen=True, kw_only=True):
    thing: Thing


class AttemptArguments(Arguments, frozen=True, kw_only=True):
    attempt: AttemptId


class ReviewerArguments(Struct, forbid_unknown_fields=True):
    reviewer: Annotated[str, Meta(description="The name of your verdicts. Agents of one name share the work.")] = ""
    model: Annotated[
        str,
        Meta(
            description="You, as MODEL@VERSION, such as `claude-opus-4-1@20250805`. A second opinion needs another "
            "model; behind a server another token."
        ),
    ] = ""


class NextArguments(ReviewerArguments, frozen=True, kw_only=True):
    cursor: NextPage = ""
    thing: Annotated[str, Meta(min_length=1, description="RUN, RUN/CASE, an attempt's id, a folder or a bucket.")]
    another: Annotated[bool, Meta(description="One more, beside those leased to this name: for parallel work.")] = False
    second: Annotated[bool, Meta(description="Review failures that others have reviewed, without their verdicts.")] = (
        False
    )
    adjudicate: Annotated[bool, Meta(description="Decide between verdicts that disagree.")] = False
    tasks: Annotated[bool, Meta(description="Suspect tasks instead of failures.")] = False
    case: CaseFilter = ""
    owner: Annotated[Owner | None, Meta(description="Only failures with this owner by triage.")] = None
    bucket: BucketFilter = ""
    taxonomy: Annotated[str, Meta(description="Taxonomy of the labels; default: the source's own.")] = ""
    blind: Annotated[bool, Meta(description="Hide the names of model and provider.")] = False


class SubmitArguments(ReviewerArguments, frozen=True, kw_only=True):
    verdict: Annotated[dict[str, Any], Meta(description="`answer` of the packet, filled in.")]


class ReleaseArguments(ReviewerArguments, frozen=True, kw_only=True):
    thing: Thing


class CompareArguments(Arguments, frozen=True, kw_only=True):
    runs: Runs
    common: Annotated[bool, Meta(description="Only cases measured in every run, even if suites differ.")] = False
    by_model: Annotated[bool, Meta(description="One column per model.")] = False
    category: Annotated[str, Meta(description="Only cases of this category or tag.")] = ""


class BucketsArguments(Arguments, frozen=True, kw_only=True):
    runs: Runs = ()
    bucket: Annotated[str, Meta(description="Slug or id: this bucket with its members and history.")] = ""
    alone: Annotated[bool, Meta(description="Also failures that match no other.")] = False


class RerunArguments(RunArguments, frozen=True, kw_only=True):
    cases: Annotated[tuple[str, ...], Meta(description="Only these cases, with any owner.")] = ()
    owners: Annotated[
        tuple[Owner, ...], Meta(description="Only failures with these owners; default: infrastructure and knock-on.")
    ] = ()


class ReportArguments(Arguments, frozen=True, kw_only=True):
    runs: Runs
    profile: Annotated[str, Meta(description="Default: what fits.", pattern="^(run|comparison|batch)?$")] = ""
    output: Annotated[str, Meta(description="Folder, or file of a single report. Default: as `errata report`.")] = ""


class ActionArguments(Struct, forbid_unknown_fields=True):
    what: Annotated[str, Meta(min_length=1, description="What was changed, in a sentence.")]
    path: Annotated[str, Meta(min_length=1, description="File that was changed.")]
    cases: Annotated[
        tuple[str, ...], Meta(min_length=1, description="Failures that it addresses: case names or buckets.")
    ]
    run: Annotated[str, Meta(description="Run it refers to; default: the newest with this failure.")] = ""
    date: Annotated[str, Meta(description="Date of the change; default: today.")] = ""
    expected: Annotated[str, Meta(description="What should change in the next run.")] = ""
    dry_run: Annotated[bool, Meta(description="Only show what would be written, and where.")] = False
