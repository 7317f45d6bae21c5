"""A name for a type is defined once."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import sat_retriever

PACKAGE = Path(sat_retriever.__file__).parent


def statements() -> Iterator[tuple[str, ast.stmt]]:
    """Statements of all modules, each with the path of its own."""
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            yield file.relative_to(PACKAGE).as_posix(), node


def test_no_alias_of_a_type_is_defined_in_two_modules():
    """Aliases of array types may be: they only spell a type of numpy's shorter."""
    places = defaultdict(list)
    for file, node in statements():
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript):
            alias, meaning = ast.unparse(node.targets[0]), ast.unparse(node.value)
            if alias[0].isupper() and not meaning.startswith("NDArray["):
                places[alias, meaning].append(file)
    assert ("Progress", "Callable[[int, int], None]") in places
    assert {alias: files for alias, files in places.items() if len(files) > 1} == {}


def test_progress_is_one_shape():
    assert [file for file, node in statements() if "Progress" in names(node)] == [
        "records/progress.py"
    ]


def names(node: ast.stmt) -> list[str]:
    """What a statement of a module defines."""
    if isinstance(node, ast.Assign):
        return [ast.unparse(target) for target in node.targets]
    return [getattr(node, "name", "")]
