"""Regular expressions that are compiled when they are first used."""

from __future__ import annotations

import re
from typing import Any, cast


class _Pattern:
    """Stands for a compiled expression, and keeps each method of it that is asked for."""

    def __init__(self, text: str, flags: re.RegexFlag) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        # `re` keeps the last 512 expressions, so several methods compile one expression once.
        found = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, found)
        return found


def pattern(text: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    r"""Return a regular expression that is compiled at its first use.

    The long expressions of this package take a fifth of a second together, and most programs need
    few of them.

    >>> pattern(r"[a-z]+\d").findall("q1, q2")
    ['q1', 'q2']
    """
    return cast("re.Pattern[str]", _Pattern(text, flags))
