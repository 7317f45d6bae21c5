"""Check without the package `onnx` that an ONNX file holds all of its weights.

A tensor may name another file, anywhere on the machine, which onnxruntime then reads. Models of
this package never do so, and the hashes of their folders would not cover such a file.
"""

from __future__ import annotations

import mmap
from pathlib import Path

from sat_retriever.errors import EncoderError

# For each message of onnx.proto: the fields that lead to its tensors.
_FIELDS: dict[str, dict[int, str]] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "function": {7: "node", 11: "attribute"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {},
}
_EXTERNAL_DATA, _DATA_LOCATION = 13, 14  # of a tensor
_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5
_VARINT_BYTES, _TAG_BITS = 10, 32


class _NotOnnxError(Exception):
    """The bytes are not a protobuf message."""


def refuse_external_data(file: Path) -> None:
    """Refuse a model that keeps weights in another file; weights themselves are skipped."""
    try:
        with (
            file.open("rb") as stream,
            mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            external = _has_external_data(data)
    except OSError as error:
        raise EncoderError(
            f"cannot open {file}, it cannot be read ({error}); put it back or export again"
        ) from error
    except (ValueError, _NotOnnxError) as error:  # mmap raises ValueError for an empty file
        raise EncoderError(
            f"cannot open {file}, it is no ONNX file ({error}); export the model again"
        ) from error
    if external:
        raise EncoderError(
            f"{file} keeps weights in another file, which is not checked; save the model as "
            "one file, with its weights inside (onnx.save with save_as_external_data=False)"
        )


def _has_external_data(data: mmap.mmap) -> bool:
    waiting = [("model", 0, len(data))]
    while waiting:
        message, at, end = waiting.pop()
        known = _FIELDS[message]
        while at < end:
            tag, after = _varint(data, at, end)
            number, wire = tag >> 3, tag & 7
            if not number or tag >> _TAG_BITS:  # readers would drop the higher bits
                raise _NotOnnxError(f"no field at byte {at:,}")
            at = after
            if message == "tensor" and number in (_EXTERNAL_DATA, _DATA_LOCATION):
                value, _ = _varint(data, at, end)
                if number == _EXTERNAL_DATA or value:
                    return True
            size = 0
            if wire == _BYTES:
                size, at = _varint(data, at, end)
                if number in known:
                    waiting.append((known[number], at, at + size))
            elif wire == _VARINT:
                _, at = _varint(data, at, end)
            elif wire in (_FIXED_64, _FIXED_32):
                size = 8 if wire == _FIXED_64 else 4
            else:
                raise _NotOnnxError(f"field of kind {wire} at byte {at:,}")
            at += size
            if at > end:
                raise _NotOnnxError(f"it ends at byte {end:,} within a field")
    return False


def _varint(data: mmap.mmap, at: int, end: int) -> tuple[int, int]:
    value = 0
    for place in range(at, min(at + _VARINT_BYTES, end)):
        byte = data[place]
        value |= (byte & 0x7F) << 7 * (place - at)
        if byte < 0x80:
            return value, place + 1
    raise _NotOnnxError(f"no number at byte {at:,}")
