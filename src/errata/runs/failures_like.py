"""What `--like` names: a failure as RUN/CASE, or the text of an error."""

from errata.buckets.similarity import words_of
from errata.buckets.symptoms import symptom_of
from errata.errors import NotFoundError
from errata.memory.effects import FailureSign, sign_of_key
from errata.model import Attempt, BucketPlace, FailureKey, StoredRun
from errata.model.attribution import NO_KEY
from errata.model.record import Struct
from errata.model.run import case_name
from errata.model.words import Owner
from errata.runs.addresses import Located, locate, locate_known
from errata.runs.failures_to_group import failure_to_compare
from errata.runs.names import is_name_of_runs, is_path
from errata.runs.view import RunView
from errata.store.attempts import attempt_by_id, attempts_of
from errata.store.database import Store
from errata.text.mask import mask
from errata.triage.expected import expected_of
from errata.triage.keys import is_informative, lists_only_names
from errata.triage.reasons import explained, reason_of


class FailureSought(Struct):
    """The failure whose like is searched; with only a text, everything but `text` and `words` is empty."""

    text: str
    """The text that was given, or the reason of the failure."""
    words: tuple[str, ...] = ()
    stored: StoredRun | None = None
    attempt: Attempt | None = None
    owner: Owner | None = None
    key: FailureKey = NO_KEY
    bucket: BucketPlace | None = None

    @property
    def case(self) -> str:
        return self.attempt.case if self.attempt else ""

    @property
    def name(self) -> str:
        """As its harness names the case; empty where only a text was given."""
        return case_name(self.stored.run, self.case) if self.stored else ""

    @property
    def sign(self) -> FailureSign:
        return sign_of_key(self.key) if self.attempt else FailureSign()

    @property
    def texts(self) -> tuple[str, ...]:
        """What an attribution of the very same failure holds; empty where the key states only that a check failed."""
        if self.attempt is None:
            return tuple(dict.fromkeys((self.text, mask(self.text))))
        return (self.key.exact,) if is_informative(self.key) and not lists_only_names(self.key) else ()


def failure_sought(like: str, store: Store) -> FailureSought:
    """RUN/CASE wins over a text. A misspelled CASE behind the name of a run is not taken for a text."""
    located = _located(like, store)
    if located is None:
        if not words_of(like):
            raise NotFoundError(
                f"`{like}` contains no word to search for",
                hint="give RUN/CASE, or the part of an error that others may have too",
            )
        return FailureSought(text=like, words=words_of(like))
    return _described(located, store)


def _located(like: str, store: Store) -> Located | None:
    """A path is imported, as everywhere; but the paths that a message mentions are not looked into."""
    try:
        located = (locate_known if " " in like else locate)(like, store)
    except NotFoundError:
        parts = like.split("/")
        if any(is_name_of_runs("/".join(parts[:at]), store) for at in range(1, len(parts)) if parts[0]):
            raise
        return None
    if located.attempt is None and not is_path(like) and not is_name_of_runs(like, store):
        return None  # a word that happens to begin the id of a run
    return located


def _described(located: Located, store: Store) -> FailureSought:
    stored, attempt = located.stored, located.attempt
    if attempt is None:
        raise NotFoundError(
            f"`{stored.run.native_id}` is a run, not a failure",
            hint="name a case, `--like RUN/CASE`; `errata failures RUN` lists those that failed",
        )
    attempt = _failed(stored, attempt, store)
    view = RunView(stored, store)
    failure, attribution = failure_to_compare(view, attempt), view.attributions.get(attempt.id)
    expected = "" if explained(attempt, attribution) else expected_of(view.case_for(attempt))
    text = reason_of(attempt, attribution, expected).text or next(iter(failure.texts if failure else ()), "")
    verdict = failure.verdict if failure else None
    return FailureSought(
        text=text,
        words=symptom_of(failure).words if failure else (),
        stored=stored,
        attempt=attempt,
        owner=verdict.owner if verdict else attribution.owner if attribution else None,
        key=attribution.failure_key if attribution else NO_KEY,
        bucket=view.bucket_of(attempt.id),
    )


def _failed(stored: StoredRun, attempt: Attempt, store: Store) -> Attempt:
    """The attempt that was named; where another one at the case failed and it did not, that one."""
    if attempt.is_failure:
        return attempt
    other = next(iter(attempts_of(store, stored.pk, failures=True, case=attempt.case)), None)
    if other is not None:
        return attempt_by_id(store, other.id)
    raise NotFoundError(
        f"`{case_name(stored.run, attempt.case)}` did not fail in `{stored.run.native_id}`",
        hint="`errata failures RUN` lists those that failed",
    )
