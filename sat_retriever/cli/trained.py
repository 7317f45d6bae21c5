"""What trained models are called on the command line."""

from __future__ import annotations

from pathlib import Path

ENCODER = "encoder"  # folder of a run


def encoder_source(named: str) -> str:
    """What loads the Sheet Encoder that a run, a folder or a name stands for."""
    inside = Path(named) / ENCODER
    return str(inside) if inside.is_dir() else named
