"""Name and load the trained models that are part of this package.

Each is a folder beside this file with the subfolders `encoder` and `reranker`, which are written
and checked like any model folder. Its README.md describes the training data and the quality.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeVar

from sat_retriever.errors import EncoderError

GENERAL = "general"
PACKAGED = (GENERAL,)
FOLDER = Path(__file__).parent
Part = Literal["encoder", "reranker"]
_INSTEAD: Mapping[Part, str] = {"encoder": "minilm", "reranker": "links"}

Model = TypeVar("Model")


def is_packaged(name: str | Path) -> bool:
    """True if a name means a model of this package; a folder of that name is "./general".

    >>> is_packaged("general"), is_packaged("./general"), is_packaged("minilm")
    (True, False, False)
    """
    return isinstance(name, str) and name in PACKAGED


def packaged_model(name: str, part: Part, read: Callable[[Path], Model]) -> Model:
    """Return one part of a model of this package, read and checked.

    Args:
        name: One of `PACKAGED`.
        part: "encoder" for its Sheet Encoder, "reranker" for the reranker of its tokens.
        read: Reads and checks the model in a folder.

    Raises:
        EncoderError: If this version does not have it, or its files were changed.
    """
    folder = FOLDER / name / part
    if not folder.is_dir():
        raise EncoderError(
            f"this installation has no {part} {name!r}; choose {_INSTEAD[part]!r} or a folder of "
            "your own, or install a version of sat-retriever that brings it"
        )
    try:
        return read(folder)
    except EncoderError as error:
        raise EncoderError(
            f"the {part} {name!r} of this installation cannot be used ({error}); install "
            "sat-retriever again from where it came, with pip's option --force-reinstall"
        ) from error
