"""The README's table of training settings, made from the dataclasses that hold them.

python .ci/settings_table.py            write it between the README's markers
python .ci/settings_table.py --check    fail if it is stale
"""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from sat_retriever.cli.train.fields import field_help, option_name, shown  # noqa: E402
from sat_retriever.training.settings import (  # noqa: E402
    CrossEncoderTraining,
    EncoderTraining,
    RerankerTraining,
)

START, END = "<!-- settings:start -->\n", "<!-- settings:end -->"
KINDS = {
    "encoder": EncoderTraining,
    "reranker": RerankerTraining,
    "cross-encoder": CrossEncoderTraining,
}


def settings_table() -> str:
    """One row an option and meaning; trainings that share both share the row."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for name, kind in KINDS.items():
        for field in fields(kind):
            meaning = field_help(kind, field.name).replace(r"\[", "[")
            key = (option_name(field.name), shown(field.default), meaning)
            rows.setdefault(key, []).append(name)
    lines = [
        f"| `{option}` | `{default}` | {', '.join(names)} | {meaning} |"
        for (option, default, meaning), names in rows.items()
    ]
    return "\n".join(["| option | default | training | meaning |", "|---|---|---|---|", *lines, ""])


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
    new = filled(text, settings_table())
    if "--check" not in sys.argv[1:]:
        readme.write_text(new, encoding="utf-8")
    elif new != text:
        sys.exit("README.md's table of settings is stale; run: make tables")


if __name__ == "__main__":
    main()
