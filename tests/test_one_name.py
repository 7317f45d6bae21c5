"""A name for a type is defined once."""

import ast
from collections import defaultdict
from pathlib import Path

import sat_retriever

PACKAGE = Path(sat_retriever.__file__).parent


def test_no_alias_of_a_type_is_defined_in_two_modules():
    """Aliases of array types may be: they only spell a type of numpy's shorter."""
    places = defaultdict(list)
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript):
                alias, meaning = ast.unparse(node.targets[0]), ast.unparse(node.value)
                if alias[0].isupper() and not meaning.startswith("NDArray["):
                    places[alias, meaning].append(file.relative_to(PACKAGE).as_posix())
    assert ("Progress", "Callable[[int, int], None]") in places
    assert {alias: files for alias, files in places.items() if len(files) > 1} == {}


def test_progress_is_one_shape():
    found = [
        file.relative_to(PACKAGE).as_posix()
        for file in sorted(PACKAGE.rglob("*.py"))
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if "Progress" in (getattr(node, "name", ""), ast.unparse(node).partition(" = ")[0])
    ]
    assert found == ["records/progress.py"]
