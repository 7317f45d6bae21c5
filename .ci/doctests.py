"""Extend griffe: doctests below a docstring's text become its section of examples."""

from __future__ import annotations

from typing import Any

import griffe


class Doctests(griffe.Extension):
    """An extension that puts `Examples:` above the first doctest of a docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite an object's docstring if it has doctests outside a section."""
        if obj.docstring is None:
            return
        text, mark, tests = obj.docstring.value.partition("\n\n>>> ")
        if mark:
            lines = f">>> {tests}".replace("\n", "\n    ")
            obj.docstring.value = f"{text}\n\nExamples:\n    {lines}"
