"""What the README and the docs say of the code is so."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
import tomllib

import pytest

import sat_retriever
from sat_retriever import Limits, LinkType, SheetTools
from sat_retriever.evaluation.maintable import COLUMNS
from sat_retriever.index.search.fusion import DENSE_WEIGHT
from sat_retriever.records.formats import FORMAT_NAMES
from sat_retriever.records.sheets import SkipReason
from tests.docs.pages import DOCS, PAGES, README, ROOT, blocks
from tests.places import DISTRIBUTIONS

GENERATORS = ("settings_table.py", "command_reference.py", "skip_codes.py", "metrics_table.py")
WRITTEN = [page for page in PAGES if page.parent.name != "results"]


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def codes(text: str) -> list[str]:
    """What stands in the first column of tables, as code."""
    return re.findall(r"^\| `\[?([\w-]+)\]?` \|", text, re.MULTILINE)


def test_the_readme_is_short():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 170


def test_links_from_the_readme_lead_somewhere():
    targets = re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8"))
    assert targets
    for target in targets:
        assert (ROOT / target).is_file(), target


@pytest.mark.parametrize("generator", GENERATORS)
def test_what_is_made_from_the_code_is_not_stale(generator):
    subprocess.run([sys.executable, ROOT / ".ci" / generator, "--check"], check=True)


def test_every_reason_for_skipping_is_explained_and_no_other():
    table = page("reference/formats.md").partition("## What is skipped")[2]
    assert codes(table) == [reason.value for reason in SkipReason]
    assert re.findall(r"^\| `\w+` \| *\|", table, re.MULTILINE) == []


def test_every_format_has_its_row():
    table = page("reference/formats.md").partition("## What is skipped")[0]
    rows = re.findall(r"^\| ([\w, ]+) \|", table, re.MULTILINE)[1:]
    assert sorted(", ".join(rows).split(", ")) == sorted(FORMAT_NAMES)


def test_the_caps_are_the_ones_of_the_code():
    text, limits = page("reference/formats.md"), Limits()
    assert f"Processor time, {limits.seconds:.0f} s" in text
    assert f"The clock ({limits.wall_seconds / 60:.0f} minutes)" in text
    assert f"The memory cap is {limits.memory_mb // 1024} GiB" in text


def test_the_scores_are_added_as_the_code_does():
    rule = f"score = {DENSE_WEIGHT} · cosine + {1 - DENSE_WEIGHT} · BM25"
    assert rule in page("how-it-works.md")


def test_every_type_of_link_is_explained_and_every_tool():
    stored = [kind.value for kind in LinkType if kind is not LinkType.SAME_WORKBOOK]
    assert sorted(codes(page("guides/links.md"))) == sorted(stored)
    tools = re.findall(r"^\| `(\w+)\([^)]*\)` \|", page("guides/mcp.md"), re.MULTILINE)
    assert tools == [name for name in vars(SheetTools) if name in tools]
    assert len(tools) == 7


def test_the_bench_table_has_the_columns_of_the_command():
    text = page("guides/measuring.md")
    assert all(column.title in text for column in COLUMNS)


def test_every_public_name_is_in_the_reference():
    shown = [
        name
        for file in (DOCS / "reference" / "api").glob("*.md")
        for name in re.findall(r"^::: sat_retriever\.(\w+)$", file.read_text(), re.MULTILINE)
    ]
    assert sorted([*shown, "__version__"]) == sorted(sat_retriever.__all__)


def test_every_dependency_is_named_with_its_reason():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text, _, _ = page("about/dependencies.md").partition("## Adapters")
    base, _, extras = text.partition("## Extras")
    assert set(codes(base)) == {_name(line) for line in project["dependencies"]}
    rows = dict(zip(codes(extras), re.findall(r"^\| `.+$", extras, re.MULTILINE), strict=True))
    assert set(rows) == set(project["optional-dependencies"])
    for extra, requirements in project["optional-dependencies"].items():
        for requirement in requirements:
            assert f"`{_name(requirement)}`" in rows[extra] or "sat-retriever[" in requirement


def test_every_adapter_is_named_with_its_dependencies():
    _, _, adapters = page("about/dependencies.md").partition("## Adapters")
    rows = dict(zip(codes(adapters), re.findall(r"^\| `.+$", adapters, re.MULTILINE), strict=True))
    assert set(rows) == {folder.name for folder in DISTRIBUTIONS}
    for folder in DISTRIBUTIONS:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for name in map(_name, project["dependencies"]):
            assert name == "sat-retriever" or f"`{name}`" in rows[folder.name]


def _name(requirement: str) -> str:
    return re.match(r"[\w-]+", requirement)[0]


def test_modules_and_names_that_pages_name_exist():
    for file in WRITTEN:
        for dotted in re.findall(r"`(sat_retriever(?:\.\w+)+)", file.read_text(encoding="utf-8")):
            assert _found(dotted), f"{file}: {dotted}"


def _found(dotted: str) -> bool:
    """Whether a dotted name is a module, or an attribute of one."""
    try:
        importlib.import_module(dotted)
    except ModuleNotFoundError:
        module, _, name = dotted.rpartition(".")
        return hasattr(importlib.import_module(module), name)
    return True


def test_python_that_is_not_run_imports_what_exists():
    for file in PAGES:
        for block in blocks(file):
            if (
                block.runs
                or block.language != "python"
                or block.marks["not run"].startswith(
                    "another library"  # see `test_coming_from.py`
                )
            ):
                continue
            for node in ast.walk(ast.parse(block.text)):
                if isinstance(node, ast.ImportFrom):
                    module = importlib.import_module(str(node.module))
                    assert all(hasattr(module, name.name) for name in node.names), block


def test_files_that_pages_name_exist():
    named = re.compile(r"`((?:examples|benchmarks|integrations|sat_retriever)/[\w./-]+)`")
    for file in WRITTEN:
        for path in named.findall(file.read_text(encoding="utf-8")):
            assert (ROOT / path).exists() or (file.parent / path).exists(), f"{file}: {path}"


def test_the_make_targets_that_pages_name_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for file in (*WRITTEN, ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"[`$] ?make ([a-z]+)", file.read_text(encoding="utf-8")):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_no_text_installs_the_package_from_an_index():
    files = [*PAGES, *ROOT.glob("*.md"), *ROOT.glob("sat_retriever/**/*.py")]
    files += [*ROOT.glob("integrations/**/*.py"), *ROOT.glob("examples/*.py")]
    for file in files:
        assert not re.search(r"pip install [^`\n]*\bsat-retriever", file.read_text("utf-8")), file
