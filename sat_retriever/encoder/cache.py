"""Cache exported encoders: a source is exported once, for all processes."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from sat_retriever.encoder.folder import ModelFolder, read_model_folder, write_model_folder
from sat_retriever.encoder.source import find_checkpoint, is_hub_name
from sat_retriever.encoder.spec import EncoderSpec, Precision
from sat_retriever.errors import EncoderError

_LOCK_SECONDS = 1800.0


def cached_model(name: str, precision: Precision, cache: Path) -> ModelFolder:
    """Return the exported encoder of a name, from the cache or exported into it once.

    A hub name is resolved on the hub only the first time. Later loads of that name use the export,
    offline. Delete the cache folder to fetch the model again.
    """
    from sat_retriever.encoder.export import compact_model, export_model, quantize_model

    pointer = cache / "names" / f"{name.replace('/', '--')}.json"
    if is_hub_name(name) and (spec := _read_pointer(pointer)):
        found = _valid(cache / spec.with_precision(precision).fingerprint)
        if found:
            return found
    checkpoint = find_checkpoint(name)
    full = checkpoint.spec

    def export(target: Path) -> None:
        export_model(checkpoint, target)

    def shrink(target: Path) -> None:
        source = _build_once(cache, full, checkpoint.tokenizer, export)
        (quantize_model if precision == "int8" else compact_model)(source.model, target)

    write = export if precision == "fp32" else shrink
    folder = _build_once(cache, full.with_precision(precision), checkpoint.tokenizer, write)
    if is_hub_name(name):
        _write_pointer(pointer, full)
    return folder


def _build_once(
    cache: Path, spec: EncoderSpec, tokenizer: Path, write_model: Callable[[Path], None]
) -> ModelFolder:
    """Return the cached folder of a spec; one process builds it while others wait."""
    from filelock import FileLock, Timeout

    target = cache / spec.fingerprint
    if found := _valid(target):
        return found
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(cache / f"{spec.fingerprint}.lock", timeout=_LOCK_SECONDS):
            if found := _valid(target):
                return found
            for leftover in cache.glob(f".{target.name}.*"):  # left by a killed process
                shutil.rmtree(leftover, ignore_errors=True)
            if target.exists():  # damaged
                shutil.rmtree(target)
            return write_model_folder(target, spec, tokenizer, write_model)
    except Timeout as error:
        raise EncoderError(
            f"another process has been exporting to {target} for {_LOCK_SECONDS / 60:.0f} "
            "minutes; end it, or choose another folder (cache_dir)"
        ) from error
    except OSError as error:
        raise EncoderError(
            f"the cache folder {cache} cannot be written ({error}); choose another (cache_dir)"
        ) from error


def _valid(folder: Path) -> ModelFolder | None:
    if not folder.is_dir():
        return None
    try:
        return read_model_folder(folder)
    except EncoderError:
        return None


def _read_pointer(pointer: Path) -> EncoderSpec | None:
    try:
        return EncoderSpec(**json.loads(pointer.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, EncoderError):
        return None


def _write_pointer(pointer: Path, spec: EncoderSpec) -> None:
    draft = pointer.with_name(f".{pointer.name}.{os.getpid()}")
    try:
        pointer.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(spec.to_dict()), encoding="utf-8")
        draft.replace(pointer)
    except OSError as error:
        raise EncoderError(f"{pointer} cannot be written ({error})") from error
