"""Zstandard: in the standard library from Python 3.14, from its backport before."""

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import compress as _compress
    from compression.zstd import decompress
else:
    from backports.zstd import compress as _compress
    from backports.zstd import decompress

# level 1 packs log text 4 to 8 times smaller at the speed of the disk; higher ones cost more than they save
LEVEL = 1


def compress(data: bytes | bytearray) -> bytes:
    return bytes(_compress(data, LEVEL))


__all__ = ["compress", "decompress"]
