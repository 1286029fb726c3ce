"""Zstandard: in the standard library from Python 3.14, from its backport before."""

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import CompressionParameter, ZstdCompressor, ZstdError, decompress
else:
    from backports.zstd import CompressionParameter, ZstdCompressor, ZstdError, decompress

# level 1 packs log text 4 to 10 times smaller at hundreds of megabytes a second; higher ones cost more than they save
# with a checksum, so that damage is noticed
_compressor = ZstdCompressor(options={CompressionParameter.compression_level: 1, CompressionParameter.checksum_flag: 1})


def compress(data: bytes) -> bytes:
    """One frame. The compressor keeps its memory from one to the next; it is not for several threads at once."""
    return bytes(_compressor.compress(data, mode=_compressor.FLUSH_FRAME))


__all__ = ["ZstdError", "compress", "decompress"]
