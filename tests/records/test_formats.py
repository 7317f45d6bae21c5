import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import sat_retriever
from sat_retriever import SheetRecord
from sat_retriever.records.formats import (
    EXTENSIONS,
    FORMAT_NAMES,
    FORMATS,
    extension_of,
    format_named,
    without_extension,
)

PACKAGE = Path(sat_retriever.__file__).parent
FOLDER = ("workbook", "formats")
MANY = 4  # names of formats in one place: that is a list of them


def test_a_name_and_an_extension_belong_to_one_format():
    counts = Counter(name for each in FORMATS for name in (*each.names, *each.extensions))
    assert set(counts.values()) == {1}


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_a_format_is_found_by_its_name(name):
    assert name in format_named(name).names


@pytest.mark.parametrize("extension", sorted(EXTENSIONS))
def test_every_extension_is_left_out_of_a_workbooks_name(extension):
    file_name = f"v1.2 Sales.{extension.upper()}"
    assert extension_of(file_name) == extension
    assert SheetRecord("a#b", "b", workbook=file_name).workbook_name == "v1.2 Sales"


@pytest.mark.parametrize("name", ["", ".csv", "Sales", "v1.2 Sales", "sales.pdf", "xlsx"])
def test_any_other_name_stays_whole(name):
    assert (extension_of(name), without_extension(name)) == ("", name)


def test_formats_are_listed_in_the_registry_alone():
    texts = {
        path.relative_to(PACKAGE): path.read_text(encoding="utf-8")
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[:2] not in (("records", "formats.py"), FOLDER)
    }
    found = [
        f"{path}:{node.lineno}"
        for path, text in texts.items()
        if sum(name in text.lower() for name in FORMAT_NAMES) >= MANY
        for node in _lists(ast.parse(text))
    ]
    assert found == []


def _lists(tree):
    """Collections and texts that name many formats; docstrings may."""
    documents = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            texts = [each.value for each in node.elts if isinstance(each, ast.Constant)]
        elif isinstance(node, ast.Constant) and id(node) not in documents:
            texts = [node.value]
        else:
            continue
        words = re.findall("[a-z]+", " ".join(filter(_is_text, texts)).lower())
        if len(set(words) & set(FORMAT_NAMES)) >= MANY:
            yield node


def _is_text(value):
    return isinstance(value, str)
