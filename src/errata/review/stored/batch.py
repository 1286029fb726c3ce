"""Batches in the store: submitted, found again after a kill, collected into the ledger, cancelled.

Every step at the provider is preceded by a commit that makes it safe to repeat or to find again:
calls and batch are intended → the file is uploaded → the batch is created with our id in its metadata → its id is
stored → its rows are stored in the ledger → its files are deleted → it is downloaded → its answers are judged → closed.
"""

from collections.abc import Sequence
from datetime import timedelta
from secrets import token_hex

import msgspec

from errata.llm.batch_spec import AsksInBatches, BatchRequest, BatchRow, RemoteBatch
from errata.llm.spec import AskError, GoneError, ModelAnswer, NoAccessError, RefusedError
from errata.model import ReviewBatch, ReviewCall
from errata.model.times import moment_of, to_text
from errata.model.verdict import BatchNews, word_for
from errata.review.batch import BatchAccount, QueuedRequest, missing_row
from errata.review.fan_out import owed
from errata.review.plan import ReviewRequest
from errata.review.run import Clock
from errata.store.database import Store
from errata.store.ledger import (
    OPEN,
    batches_of,
    calls_in,
    close_calls,
    intend_batch,
    is_being_submitted,
    is_intended,
    keep_batch,
)

LEASED = timedelta(hours=26)
"""A provider has a day, and some time to write its files."""
SETTLED = timedelta(minutes=2)
"""After this, a request that was on its way when its process died has arrived or never will."""
SUBMITTING = timedelta(minutes=15)
"""After this, a process on another machine that submits a batch is taken for dead."""
TOGETHER = 100
"""Rows in one transaction."""


def open_batches_of(runs: Sequence[str], store: Store, request: ReviewRequest) -> list[ReviewBatch]:
    return batches_of(store, runs, reviewer=word_for(request.chosen.identity), states=OPEN)


class ReviewBatches:
    """What one command does with the batches of one reviewer."""

    def __init__(
        self, service: AsksInBatches, store: Store, request: ReviewRequest, account: BatchAccount, now: Clock
    ) -> None:
        self._service, self._store, self._request = service, store, request
        self._account, self._now = account, now

    async def collect(self, batch: ReviewBatch) -> BatchNews:
        if batch.state == "intended":
            submitted = await self._resume(batch)
            if isinstance(submitted, BatchNews):
                return submitted
            batch = submitted
        try:
            remote = await self._service.get(batch.remote)
        except GoneError as error:
            return self._vanished(batch, error)
        batch = msgspec.structs.replace(batch, status=remote.word, done=remote.done, why=remote.why)
        if remote.status == "waiting":
            keep_batch(self._store, batch)
            return BatchNews(batch=batch)
        return await self._download(batch, remote)

    async def _resume(self, batch: ReviewBatch) -> ReviewBatch | BatchNews:
        """A submission that was interrupted: found by its mark, or not there and given up."""
        created, now = moment_of(batch.created_at), moment_of(self._now())
        if now < created + SUBMITTING and is_being_submitted(self._store, batch):
            return BatchNews(batch=batch, notes=("another process is submitting it now",))
        remote = await self._service.find(batch.id, since=(created - timedelta(days=1)).timestamp())
        if remote is not None:
            batch = msgspec.structs.replace(batch, state="submitted", remote=remote.id, status=remote.word)
            keep_batch(self._store, batch)
            return batch
        until = created + SETTLED
        if now < until:
            note = "its submission was interrupted and the provider does not list it"
            return BatchNews(batch=batch, notes=(f"{note}; it is given up after {to_text(until)}",))
        await self._service.discard_named(_file_name(batch))
        why = "its submission was interrupted before the provider had it; nothing was billed"
        failed = self._never_sent(batch, why)
        return BatchNews(batch=self._close_batch(batch, why), failed=len(failed), notes=(why,))

    def _vanished(self, batch: ReviewBatch, error: GoneError) -> BatchNews:
        why = f"the provider does not know the batch any more ({error})"
        calls = [self._lose(call, why) for call in self._open_calls(batch)]
        self._close_calls(calls)
        batch = msgspec.structs.replace(batch, state="lost", why=why, ended_at=self._now())
        keep_batch(self._store, batch)
        return BatchNews(batch=batch, lost=len(calls), notes=(f"{why}; its requests may have been billed",))

    async def _download(self, batch: ReviewBatch, remote: RemoteBatch) -> BatchNews:
        rows = _DownloadedRows(self._open_calls(batch), {call.id for call in calls_in(self._store, batch)})
        notes = [] if is_alike(batch, self._request) else [_OTHER_OPTIONS]
        if rows.open:
            try:
                async for row in self._service.rows(remote):
                    call = rows.take(row)
                    if call is not None:
                        rows.ended.append(self._end(call, row))
                    if len(rows.ended) == TOGETHER:
                        self._keep(rows)
            except GoneError as error:
                notes.append(f"a file of the batch is gone: {error}")
            except AskError as error:
                self._keep(rows)
                note = f"the download broke off and can be repeated: {error}"
                return BatchNews(batch=batch, **rows.counts(), notes=(note, *rows.notes()))
            for call in rows.open.values():
                why = missing_row(remote.status)
                detail = f"{why}: {remote.why}" if why and remote.why else why
                rows.ended.append(self._fail(call, detail) if why else self._lose(call, _NO_ROW))
            self._keep(rows)
        await self._service.discard((remote.input_file, *remote.files))
        batch = msgspec.structs.replace(batch, state="downloaded", ended_at=self._now())
        keep_batch(self._store, batch)
        return BatchNews(batch=batch, **rows.counts(), notes=(*notes, *_about(remote, rows), *rows.notes()))

    async def cancel(self, batch: ReviewBatch) -> BatchNews:
        """What is answered by then can be collected, and is billed."""
        if batch.state == "intended":
            submitted = await self._resume(batch)
            if isinstance(submitted, BatchNews):
                return submitted
            batch = submitted
        try:
            remote = await self._service.cancel(batch.remote)
        except GoneError as error:
            return self._vanished(batch, error)
        batch = msgspec.structs.replace(batch, status=remote.word, done=remote.done)
        keep_batch(self._store, batch)
        note = "cancelled; the same command without `--cancel` collects the answers that arrived before"
        return BatchNews(batch=batch, notes=(note,))

    async def submit(self, run: str, requests: Sequence[QueuedRequest]) -> None:
        """Raises nothing: why nothing more can be submitted is in the account."""
        batch = ReviewBatch(
            id=token_hex(16),
            run=run,
            reviewer=word_for(self._request.chosen.identity),
            taxonomy=self._request.taxonomy,
            blind=self._request.blind,
            requests=len(requests),
            created_at=self._now(),
        )
        try:
            made = [BatchRequest(one.call.id, one.prompt.text, one.prompt.schema) for one in requests]
            lines = {one.id: await self._service.line_for(one) for one in made}
        except AskError as error:
            self._account.stopped = str(error)
            self._release([one.call for one in requests])
            return
        until = to_text(moment_of(batch.created_at) + LEASED)
        kept = intend_batch(self._store, batch, [one.call for one in requests], until=until)
        ids = {call.id for call in kept}
        self._release([one.call for one in requests if one.call.id not in ids])
        if kept:
            batch = msgspec.structs.replace(batch, requests=len(kept))
            await self._send(batch, [lines[call.id] for call in kept])

    async def _send(self, batch: ReviewBatch, lines: Sequence[bytes]) -> None:
        file = ""
        try:
            file = await self._service.upload(_file_name(batch), lines)
            if not is_intended(self._store, batch):
                raise RefusedError("another command abandoned it in the meantime, because the upload took too long")
            remote = await self._service.create(file, batch.id)
        except AskError as error:
            if file and error.in_doubt:  # the batch may be there: the next command looks for it
                self._account.stopped = f"{error}; the same command finds out whether the batch was created"
                self._account.submitted.append(batch)
                return
            await self._service.discard((file,))
            self._account.stopped = _why_not(error)
            self._never_sent(batch, self._account.stopped)
            self._close_batch(batch, self._account.stopped)
            return
        batch = msgspec.structs.replace(batch, state="submitted", remote=remote.id, status=remote.word)
        keep_batch(self._store, batch)
        self._account.submitted.append(batch)

    def _open_calls(self, batch: ReviewBatch) -> list[ReviewCall]:
        return [call for call in calls_in(self._store, batch) if call.state == "intended"]

    def _release(self, calls: Sequence[ReviewCall]) -> None:
        for call in calls:
            self._account.release(call)

    def _never_sent(self, batch: ReviewBatch, why: str) -> list[ReviewCall]:
        """Nothing is owed, and the next command, or this one, may ask."""
        calls = [self._fail(call, why) for call in self._open_calls(batch)]
        close_calls(self._store, calls)
        self._release(calls)
        return calls

    def _close_batch(self, batch: ReviewBatch, why: str) -> ReviewBatch:
        batch = msgspec.structs.replace(batch, state="closed", why=why, ended_at=self._now())
        keep_batch(self._store, batch)
        return batch

    def _keep(self, rows: "_DownloadedRows") -> None:
        self._close_calls(rows.ended)
        rows.count()

    def _close_calls(self, ended: Sequence[ReviewCall]) -> None:
        close_calls(self._store, ended)
        for call in ended:
            self._account.end(call, owed(call))

    def _end(self, call: ReviewCall, row: BatchRow) -> ReviewCall:
        if isinstance(row.answer, ModelAnswer):
            answer = {"state": "answered", "answer": row.answer.text, "usage": row.answer.usage}
            return msgspec.structs.replace(call, ended_at=self._now(), **answer)
        return msgspec.structs.replace(self._fail(call, str(row.answer)), usage=row.answer.usage)

    def _fail(self, call: ReviewCall, why: str) -> ReviewCall:
        return msgspec.structs.replace(call, state="failed", why=why, ended_at=self._now())

    def _lose(self, call: ReviewCall, why: str) -> ReviewCall:
        return msgspec.structs.replace(call, state="lost", why=why, ended_at=self._now())


def is_alike(batch: ReviewBatch, request: ReviewRequest) -> bool:
    """Whether its packets are those that this request would make."""
    return (batch.taxonomy, batch.blind) == (request.taxonomy, request.blind)


_OTHER_OPTIONS = "submitted with another `--taxonomy` or `--blind`: its answers are judged by a command with the same"
_NO_ROW = "the batch ended without a row for it; it may have been billed"


class _DownloadedRows:
    """The rows of one download: each request is answered once, by its first row."""

    def __init__(self, open_calls: Sequence[ReviewCall], all_ids: set[str]) -> None:
        self.open = {call.id: call for call in open_calls}
        self._unseen = set(all_ids)
        self.ended: list[ReviewCall] = []
        self._counted = {"answered": 0, "failed": 0, "lost": 0}
        self._ignored = 0

    def take(self, row: BatchRow) -> ReviewCall | None:
        if row.id not in self._unseen:
            self._ignored += 1
            return None
        self._unseen.remove(row.id)
        return self.open.pop(row.id, None)

    def count(self) -> None:
        """Those that ended are stored."""
        for call in self.ended:
            self._counted[call.state] += 1
        self.ended.clear()

    def counts(self) -> dict[str, int]:
        return self._counted

    def notes(self) -> list[str]:
        if not self._ignored:
            return []
        rows = "1 row is" if self._ignored == 1 else f"{self._ignored:,} rows are"
        return [f"{rows} ignored: unreadable, not a request of this batch, or a second row of one"]


def _about(remote: RemoteBatch, rows: _DownloadedRows) -> list[str]:
    counts = rows.counts()
    notes = []
    if remote.status in ("expired", "cancelled"):
        notes.append(f"{remote.status} by the provider; requests without an answer are not billed")
    elif remote.status == "failed":
        notes.append(f"refused by the provider: {remote.why or 'no reason given'}")
    if counts["lost"]:
        notes.append(f"{counts['lost']:,} without a row: perhaps billed")
    return notes


def _file_name(batch: ReviewBatch) -> str:
    return f"errata-{batch.id}"


def _why_not(error: AskError) -> str:
    if isinstance(error, GoneError):
        return f"this server has no batch endpoint ({error}); leave out `--batch`"
    return str(error) if isinstance(error, NoAccessError) else f"the batch was not submitted: {error}"
