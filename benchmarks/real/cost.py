"""What a rung costs: processor time of a question beside the default's, and lines of code."""

from __future__ import annotations

import ast
import io
import time
import tokenize
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

from benchmarks.results import ROOT

Asking = Callable[[int], Sequence[str]]
"""The place of a question in, ids of sheets out, best first."""
_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Timed:
    """Rankings of questions, and the milliseconds of processor time of each.

    Attributes:
        rankings: Of each question, best first.
        ms: Of each question.
        default_ms: The same of the default.
    """

    rankings: Sequence[Sequence[str]]
    ms: Sequence[float]
    default_ms: Sequence[float]

    def metrics(self, places: Iterable[int]) -> dict[str, float]:
        """Return the median time of some questions, and the median of what it saves on each.

        Who is asked second finds a question's words in the caches of the process, so the medians of
        both orders are taken apart; their mean is free of it.

        >>> Timed([], ms=[1, 3, 9], default_ms=[2.5, 2.5, 10.5]).metrics([0, 1, 2])
        {'ms': 3, 'ms_saved': 0.5}
        """
        at = list(places)
        orders = [[place for place in at if place % 2 == odd] for odd in (False, True)]
        saved = [
            median(self.default_ms[place] - self.ms[place] for place in order)
            for order in orders
            if order
        ]
        return {
            "ms": round(median(self.ms[place] for place in at), 3),
            "ms_saved": round(mean(saved), 3),
        }


def beside(
    default: Asking, other: Asking, questions: int, clock: Callable[[], float] = time.process_time
) -> Timed:
    """Ask the default and another ranking each question in turn, and return the other's rankings.

    The default is asked first for questions at even places, second for others. Both must have an
    index of their own: the second would else find what the first has looked up.

    Args:
        default: Asks the default.
        other: Asks the other ranking.
        questions: Number of questions.
        clock: Seconds of processor time.
    """
    rankings: list[Sequence[str]] = []
    spent: dict[bool, list[float]] = {True: [], False: []}
    for place in range(questions):
        for is_other in (False, True) if place % 2 == 0 else (True, False):
            ask = other if is_other else default
            start = clock()
            found = ask(place)
            spent[is_other].append((clock() - start) * 1000)
            if is_other:
                rankings.append(found)
    return Timed(rankings, spent[True], spent[False])


def code_lines(parts: Sequence[str], root: Path = ROOT) -> int:
    """Return the lines of code of some parts, without docstrings, comments and blank lines.

    A line in two of the parts counts once.

    Args:
        parts: Packages and modules by their dotted names; after a colon a class, function or
            constant of a module, also of a class: "package.module:Class.method".
        root: The folder that names begin in.

    Raises:
        LookupError: If a part is not there.
    """
    return len(set().union(*(_lines(part, root) for part in parts)))


def _lines(part: str, root: Path) -> set[tuple[Path, int]]:
    module, _, name = part.partition(":")
    path = root.joinpath(*module.split("."))
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
    if not files or not files[0].is_file():
        raise LookupError(f"{part} is not there; say where the code of its rung is now")
    found = set()
    for file in files:
        source = file.read_text(encoding="utf-8")
        code = _code(source)
        if name:
            code &= _span(ast.parse(source).body, name, part)
        found |= {(file, line) for line in code}
    return found


def _code(source: str) -> set[int]:
    """Numbers of the lines with code; a text that stands alone is a docstring."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    found: set[int] = set()
    for token in tokens:
        if token.type not in _NO_CODE:
            found.update(range(token.start[0], token.end[0] + 1))
    alone = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Expr))
    for node in alone:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            found.difference_update(_rows(node))
    return found


def _span(body: Sequence[ast.stmt], name: str, part: str) -> set[int]:
    """Numbers of the lines of a class, function or constant.

    Raises:
        LookupError: If it is not there.
    """
    first, _, rest = name.partition(".")
    for node in body:
        if first in _names(node):
            if rest and isinstance(node, ast.ClassDef):
                return _span(node.body, rest, part)
            if not rest:
                return set(_rows(node))
    raise LookupError(f"{part} is not there; say where the code of its rung is now")


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
    return [each.id for each in targets if isinstance(each, ast.Name)]


def _rows(node: ast.stmt) -> range:
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
    return range(first, (node.end_lineno or first) + 1)
