"""Resolution of names of trained models on the command line."""

from __future__ import annotations

from pathlib import Path

ENCODER = "encoder"  # folder of a run


def encoder_source(named: str) -> str:
    """The folder or name that loads the Sheet Encoder of a run, a folder or a name."""
    inside = Path(named) / ENCODER
    return str(inside) if inside.is_dir() else named
