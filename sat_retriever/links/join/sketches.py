"""Comparison of columns by bottom-k sketches of their values: containment and LSH bands."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

SMALL = 20_000  # another value has the hash of one of these with a chance of 1 in 200,000
# Of all ways to cut 16 numbers into bands, this one has the fewest false negatives above and the
# fewest false positives below a Jaccard similarity of .3. Columns of similarity .5 share a band in
# 90 % of cases, columns of .1 in 8 %.
BANDS, ROWS = 8, 2
PERMUTATIONS = BANDS * ROWS
_DIGEST_CHARS = 8
_SEED = 1  # another seed makes other bands, so that every index is stale

Hashes: TypeAlias = NDArray[np.uint32]


def containment(own: Sequence[int], other: Sequence[int], other_distinct: int) -> tuple[float, int]:
    """Share of a column's values that another column has, and the number of values compared.

    A sketch has the smallest hashes of a column, ascending.

    Source: bottom-k (KMV) sketches, Beyer et al. 2007. Both sketches hold all hashes of their
    columns up to the smaller of their largest hashes, so that the count up to there is exact. If
    both are complete, the count over all values is exact.

    >>> containment([1, 5, 9], [1, 2, 5, 7], 4)
    (0.6666666666666666, 3)
    >>> containment([1, 5, 9], [1, 5], 100)  # the other is known up to 5
    (1.0, 2)
    """
    if not own or not other:
        return 0.0, 0
    border = other[-1] if other_distinct > len(other) else own[-1]
    known = [value for value in own if value <= border]
    held = set(other)
    return (sum(value in held for value in known) / len(known) if known else 0.0), len(known)


def value_hash(text: str) -> int:
    """The 32-bit hash of a value; sketches in column profiles consist of these."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=4).digest())


def small_numbers(sketch: Sequence[int]) -> bool:
    """True if nearly all values are whole numbers below 20,000: counts, years, row numbers.

    Unrelated columns share such values.

    >>> small_numbers(sorted(map(value_hash, ("1", "2", "3"))))
    True
    >>> small_numbers(sorted(map(value_hash, ("north", "south", "3"))))
    False
    """
    small = _small_hashes()
    return sum(value in small for value in sketch) >= 0.9 * len(sketch)


@cache
def _small_hashes() -> frozenset[int]:
    return frozenset(value_hash(str(number)) for number in range(SMALL))


def pack(sketch: Sequence[int], size: int) -> str:
    """The first hashes of a sketch as text, four bytes each.

    >>> unpack(pack([1, 2, 4_294_967_295], 2))
    (1, 2)
    """
    kept = np.asarray(sketch[:size], dtype="<u4").tobytes()
    return base64.b64encode(kept).decode("ascii")


def unpack(text: str) -> tuple[int, ...]:
    """The hashes of a packed sketch; none if it is damaged."""
    try:
        kept = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return ()
    return tuple(np.frombuffer(kept[: len(kept) // 4 * 4], dtype="<u4").tolist())


def bands(sketch: Sequence[int]) -> tuple[str, ...]:
    """Short digests of the bands of a MinHash signature; similar columns share one or more.

    Source: locality-sensitive hashing by bands, Indyk and Motwani 1998. Columns of Jaccard
    similarity s share at least one of b bands of r numbers with probability 1 - (1 - s^r)^b.
    """
    if not sketch:
        return ()
    rows = signature(sketch).reshape(BANDS, ROWS).astype("<u8")
    made = (hashlib.blake2b(row.tobytes(), digest_size=6).digest() for row in rows)
    digests = (base64.urlsafe_b64encode(each).decode("ascii")[:_DIGEST_CHARS] for each in made)
    return tuple(f"{band}{digest}" for band, digest in enumerate(digests))


def signature(sketch: Sequence[int]) -> Hashes:
    """A MinHash signature, (16,) uint32: the smallest value under each permutation.

    The share of positions at which two signatures agree estimates the Jaccard similarity of
    their sets.

    Source: min-wise hashing, Broder 1997, with the permutations x -> a x + b mod 2^32. Departs:
    these are not provably min-wise independent; the hashes are mixed first, so that hashes
    near each other do not stay near.
    """
    factors, shifts = _permutations()
    mixed = _mixed(np.asarray(sketch, dtype=np.uint32))
    smallest: Hashes = (mixed[:, None] * factors + shifts).min(axis=0)  # (n, 16) to (16,)
    return smallest


def _mixed(hashes: Hashes) -> Hashes:
    """Mix hashes so that every output bit depends on every input bit; a bijection.

    Source: finalizer of MurmurHash3, 32 bits (Appleby).
    """
    hashes = (hashes ^ (hashes >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    hashes = (hashes ^ (hashes >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return hashes ^ (hashes >> np.uint32(16))


@cache
def _permutations() -> tuple[Hashes, Hashes]:
    """Factor and shift of each permutation, (16,) each; an odd factor makes it a bijection."""
    drawn = np.random.RandomState(_SEED)  # NumPy guarantees that its stream never changes
    halves = drawn.randint(0, 1 << 31, PERMUTATIONS, dtype=np.uint32)
    shifts: Hashes = drawn.randint(0, 1 << 32, PERMUTATIONS, dtype=np.uint32)
    return halves * np.uint32(2) + np.uint32(1), shifts
