"""The digest over the cases and blocks of a run."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from errata.model.codec import pack
from errata.store.blocks import decompress

CHUNK = 64 * 1024
"""Bytes of case records that are hashed at once."""
DIGEST_SIZE = 20
OLDER_SIZE = 16
"""Of the digests of earlier versions of errata, which covered blocks in the order of reading."""


class ContentDigest:
    """Takes the records of cases in the order of the log, and blocks in any order."""

    def __init__(self) -> None:
        self._blocks: dict[int, bytes] = {}
        """By number, the hash of each block."""
        self._chunks = bytearray()
        """The hashes of full chunks of case records, one after the other."""
        self._open = bytearray()
        """Records of the chunk that is not full yet."""

    def add_cases(self, records: Iterable[bytes]) -> None:
        for record in records:
            self._open += record
            if len(self._open) >= CHUNK:
                # every byte goes through it, and processors have instructions for this one
                self._chunks += sha256(self._open).digest()
                self._open.clear()

    def add_block(self, number: int, data: bytes) -> None:
        self._blocks[number] = sha256(data).digest()

    def hexdigest(self) -> str:
        cases = sha256(bytes(self._chunks) + sha256(self._open).digest()).digest()
        return sha256(pack((cases, sorted(self._blocks.items())))).hexdigest()


class OlderContent:
    """The digest of the content as earlier versions of errata took it: batch by batch, cases before blocks."""

    def __init__(self) -> None:
        self._content = sha256()

    def add(self, cases: Iterable[tuple[Any, ...]], blocks: Iterable[tuple[int, bytes]]) -> None:
        """What a batch holds of the run; its blocks are compressed."""
        for case in cases:
            self._content.update(case[-1])
        for _, data in blocks:
            self._content.update(decompress(data))

    def hexdigest(self) -> str:
        return self._content.hexdigest()


def is_older(digest: str) -> bool:
    """Whether an earlier version of errata computed it, in another way."""
    return len(digest) == 2 * OLDER_SIZE
