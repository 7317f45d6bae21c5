"""The README's list of files, made from the first line of each module's docstring.

python .ci/file_map.py            write it between the README's markers
python .ci/file_map.py --check    fail if it is stale
"""

from __future__ import annotations

import ast
from pathlib import Path

from readme_block import write_or_check

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("sat_retriever", "integrations", "benchmarks", "examples")


def file_map(root: Path = ROOT) -> str:
    """One line a module, below one line a folder."""
    lines = []
    for folder in FOLDERS:
        files = sorted((root / folder).rglob("*.py"), key=lambda file: (file.parent, file.name))
        for parent in dict.fromkeys(file.parent for file in files):
            lines.append(f"\n**`{parent.relative_to(root).as_posix()}/`**\n\n")
            lines += [
                f"- `{file.name}`: {first_line(file)}\n" for file in files if file.parent == parent
            ]
    lines.append("\n**`tests/`** mirrors this tree. **`.ci/run`** is what CI runs.\n\n")
    return "".join(lines)


def first_line(file: Path) -> str:
    """First line of a module's docstring, without its full stop."""
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0].removesuffix(".")


if __name__ == "__main__":
    write_or_check("files", file_map(), "list of files")
