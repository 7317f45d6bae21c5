"""Turn an encoder folder back into trainable weights: a sentence-transformers folder."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from sat_retriever._extras import require
from sat_retriever.encoder.checkpoint import descriptions
from sat_retriever.encoder.folder import ModelFolder
from sat_retriever.encoder.onnx.weights import onnx_weights
from sat_retriever.errors import EncoderError

_EXTRA = "train"  # installs onnx and safetensors
_MODULE = "model"  # name of the transformer in the exported module


def expanded(folder: ModelFolder, cache: Path | None = None) -> Path:
    """Return a sentence-transformers folder of an encoder, written once into a cache folder.

    Args:
        folder: The encoder, with the config of its transformer.
        cache: The cache folder; None takes the user's.

    Raises:
        EncoderError: If the encoder does not name the transformer it was exported from, its
            model is not an ONNX file, or the folder cannot be written.
        MissingExtraError: If onnx or safetensors is not installed.
    """
    if cache is None:
        from platformdirs import user_cache_path

        cache = user_cache_path("sat-retriever") / "checkpoints"
    target = cache / folder.spec.fingerprint
    if target.is_dir():
        return target
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=cache) as draft:
            made = Path(draft) / target.name
            expand_folder(folder, made)
            try:
                made.rename(target)
            except OSError:  # another process was first
                if not target.is_dir():
                    raise
    except OSError as error:
        raise EncoderError(f"the cache folder {cache} cannot be written ({error})") from error
    return target


def expand_folder(folder: ModelFolder, target: Path) -> None:
    """Write an encoder as a sentence-transformers folder, in single precision.

    Weights that were stored in bytes or half precision keep that precision.

    Args:
        folder: The encoder, with the config of its transformer.
        target: A folder that does not exist yet.

    Raises:
        EncoderError: If the encoder does not name the transformer it was exported from, or its
            model is not an ONNX file.
        MissingExtraError: If onnx or safetensors is not installed.
        OSError: If the folder cannot be written.
    """
    if folder.transformer is None:
        raise EncoderError(
            f"{folder.path} does not say what transformer it was exported from, so its weights "
            "cannot learn; start from the sentence-transformers folder it was made of"
        )
    save_file = require("safetensors.numpy", _EXTRA).save_file
    weights = onnx_weights(folder.model, _MODULE, _EXTRA)
    target.mkdir(parents=True)
    save_file(weights, target / "model.safetensors", metadata={"format": "pt"})
    (target / "model.safetensors").chmod(0o644)  # safetensors makes it private
    shutil.copyfile(folder.tokenizer, target / "tokenizer.json")
    texts = {"config.json": dict(folder.transformer), **descriptions(folder.spec)}
    for name, value in texts.items():
        (target / name).parent.mkdir(exist_ok=True)
        text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
        (target / name).write_text(text, encoding="utf-8")
