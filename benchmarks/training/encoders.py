"""Encoders that the paper's recipe starts from: their names in results, and where they are."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from benchmarks import fetch
from sat_retriever.encoder.source import MINILM

ENCODERS: Mapping[str, str] = MappingProxyType(
    {
        MINILM: "MiniLM",
        "arctic": "arctic-embed-xs",
        "general": "the general encoder",
        "mpnet": "all-mpnet-base-v2",
    }
)


def source_of(name: str, data: Path) -> str:
    """Return what a training and `SheetEncoder.load` take for an encoder's name.

    Args:
        name: One of `ENCODERS`, or anything else that they take.
        data: Folder of the corpora; development models are beside it.

    Raises:
        SystemExit: If its folder is not there.
    """
    folders = {
        "arctic": (data.parent / "models" / ENCODERS["arctic"], "put its folder there"),
        "mpnet": (fetch.MPNET.folder, "run: python -m benchmarks fetch mpnet"),
    }
    if name not in folders:
        return name
    folder, way = folders[name]
    if not (folder / "modules.json").is_file():
        sys.exit(f"not run: there is no {ENCODERS[name]} in {folder}; {way}")
    return str(folder)
