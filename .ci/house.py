"""Count rooms, arrows and lines of the checkout: a report, not a limit.

A *room* is what lies right below `sat_retriever/`: a package, or a module of its own. An *arrow* is
a pair of rooms of which one imports the other, at any place of its code. A room's *floor* is one
above the highest room that it imports; rooms that import each other share a floor. Lines of code
are lines that hold a token other than a comment or a docstring.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import networkx

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "sat_retriever"
PARTS = {"library": (PACKAGE,), "benchmarks": ("benchmarks",), "tests": ("tests", "integrations")}
_LAYOUT = {
    tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}  # fmt: skip
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Lines:
    """Modules of a part of the checkout, and their lines.

    Attributes:
        files: Number of modules.
        code: Lines with code.
        docstrings: Lines of docstrings.
        comments: Lines with a comment.
        median: Median lines of code of a module that has any.
    """

    files: int
    code: int
    docstrings: int
    comments: int
    median: float


@dataclass(frozen=True, slots=True)
class House:
    """The structure of the library.

    Attributes:
        rooms: Number of rooms.
        arrows: Number of pairs of rooms of which one imports the other.
        floors: Number of floors.
        circles: Rooms that import each other, a list for each circle.
    """

    rooms: int
    arrows: int
    floors: int
    circles: list[list[str]]


def listed(root: Path, folders: Iterable[str]) -> list[Path]:
    """The files of some folders that git tracks or would add.

    Args:
        root: The checkout.
        folders: Relative to it.
    """
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]
    found = subprocess.run([*command, *folders], cwd=root, capture_output=True, check=True).stdout
    names = filter(None, sorted(set(found.decode().split("\0"))))
    return [path for path in (root / name for name in names) if path.is_file()]


def modules(root: Path, folders: Iterable[str]) -> list[Path]:
    """The Python files among them."""
    return [path for path in listed(root, folders) if path.suffix == ".py"]


def counted(source: str) -> tuple[int, int, int]:
    r"""Lines of code, of docstrings and with a comment in a module.

    >>> counted("'What it does.'\n\nx = 1  # why\n")
    (1, 1, 1)
    """
    documented: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            text = node.body[0]
            documented.update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    code: set[int] = set()
    comments: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in _LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - documented), len(documented), len(comments)


def lines(root: Path, folders: Iterable[str]) -> Lines:
    """Count the lines of some folders."""
    counts = [counted(path.read_text("utf-8")) for path in modules(root, folders)]
    code = [each[0] for each in counts]
    return Lines(
        files=len(counts),
        code=sum(code),
        docstrings=sum(each[1] for each in counts),
        comments=sum(each[2] for each in counts),
        median=median([each for each in code if each] or [0]),
    )


def imports(root: Path) -> networkx.DiGraph:
    """The rooms of the library, with an arrow from each to those that it imports."""
    rooms = networkx.DiGraph()
    for path in modules(root, (PACKAGE,)):
        parts = path.relative_to(root / PACKAGE).with_suffix("").parts
        if parts == ("__init__",):
            continue  # the face of the package only hands names on
        room = parts[0]
        rooms.add_node(room)
        for name in imported(ast.parse(path.read_text("utf-8"))):
            place = root / PACKAGE / name
            if place.is_dir() or place.with_suffix(".py").is_file():
                rooms.add_edge(room, name)
    rooms.remove_edges_from(list(networkx.selfloop_edges(rooms)))
    return rooms


def imported(tree: ast.Module) -> Iterator[str]:
    """Yield what a module imports right below the package, at its top or within a function."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            package, _, rest = name.partition(".")
            if package == PACKAGE and rest:
                yield rest.partition(".")[0]


def house(root: Path) -> House:
    """Measure the structure of the library."""
    rooms = imports(root)
    circles = [sorted(each) for each in networkx.strongly_connected_components(rooms)]
    floors = networkx.dag_longest_path_length(networkx.condensation(rooms)) + 1
    return House(
        rooms=rooms.number_of_nodes(),
        arrows=rooms.number_of_edges(),
        floors=floors,
        circles=sorted(each for each in circles if len(each) > 1),
    )


def report(root: Path) -> str:
    """The counts as a table."""
    plan = house(root)
    results = len(listed(root, ("benchmarks/results",)))
    rows = [
        f"rooms {plan.rooms}, arrows {plan.arrows}, floors {plan.floors}, result files {results:,}",
        *(f"circle: {', '.join(circle)}" for circle in plan.circles),
        f"{'':12}{'files':>8}{'code':>9}{'docstrings':>12}{'comments':>10}{'median':>8}",
    ]
    for name, folders in PARTS.items():
        part = lines(root, folders)
        rows.append(
            f"{name:12}{part.files:8,}{part.code:9,}{part.docstrings:12,}{part.comments:10,}"
            f"{part.median:8.0f}"
        )
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.stdout.write(report(ROOT))
