"""Signatures of the callbacks by which long work reports its progress."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called with the number of items done and the total."""

PathProgress = Callable[[int, int, str], None]
"""Called with the number of files done, the total, and the path of the last file, "" for none."""

PartProgress = Callable[[str, float], None]
"""Called with the path of a file that is being read, and the share of it that was read, up to 1."""

OnListed = Callable[[str, int], None]
"""Called with a folder or URL that is being listed, and the number of files found so far."""
