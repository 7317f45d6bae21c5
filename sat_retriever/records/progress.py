"""How long work reports how far it is: the shapes of the functions that it calls."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called with what is done, and what there is in all."""

PathProgress = Callable[[int, int, str], None]
"""Called with files done, files in all, and the path of the last one."""
