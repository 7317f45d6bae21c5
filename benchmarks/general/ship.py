"""Put trained models into the package."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

MOST_BYTES = 40_000_000


def ship(made: Path, target: Path) -> None:
    """Copy models and their cards to where `SheetEncoder.load("general")` finds them.

    What the target has under other names stays.

    Args:
        made: Folder of a trained model and its card.
        target: Folder of the general model in the package.

    Raises:
        SystemExit: If they are too large for the repository.
    """
    size = sum(file.stat().st_size for file in made.rglob("*") if file.is_file())
    if size > MOST_BYTES:
        sys.exit(f"{made} holds {size / 1e6:.2f} MB, the most is {MOST_BYTES / 1e6:.0f} MB")
    draft = target.with_name(f".{target.name}.partial")
    shutil.rmtree(draft, ignore_errors=True)
    if target.exists():
        shutil.copytree(target, draft)
    for each in made.iterdir():
        if each.is_dir():
            shutil.rmtree(draft / each.name, ignore_errors=True)
    shutil.copytree(made, draft, dirs_exist_ok=True)
    shutil.rmtree(target, ignore_errors=True)
    draft.rename(target)
