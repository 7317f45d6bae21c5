"""The README's list of files, made from the first line of each module's docstring.

python .ci/file_map.py            write it between the README's markers
python .ci/file_map.py --check    fail if it is stale
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
START, END = "<!-- files:start -->\n", "<!-- files:end -->"
FOLDERS = ("sat_retriever", "benchmarks", "examples")


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


def filled(readme: str, block: str) -> str:
    """The README with the block between the markers."""
    before, _, rest = readme.partition(START)
    _, end, after = rest.partition(END)
    if not end:
        raise SystemExit(f"README.md has no {START.strip()} … {END}")
    return f"{before}{START}{block}{end}{after}"


def main() -> None:
    """Write or check."""
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    new = filled(text, file_map())
    if "--check" not in sys.argv[1:]:
        readme.write_text(new, encoding="utf-8")
    elif new != text:
        sys.exit("README.md's list of files is stale; run: make tables")


if __name__ == "__main__":
    main()
