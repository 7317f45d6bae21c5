"""Write the docs' table of training settings from their dataclasses.

python .ci/settings_table.py            write it between its markers
python .ci/settings_table.py --check    fail if it is stale
"""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path

from page_block import write_or_check

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from sat_retriever.cli.train.fields import field_help, option_name, shown  # noqa: E402
from sat_retriever.train.settings import (  # noqa: E402
    CrossEncoderTraining,
    EncoderTraining,
    FeatureTraining,
    RerankerTraining,
)

KINDS = {
    "encoder": EncoderTraining,
    "features": FeatureTraining,
    "graph": RerankerTraining,
    "cross-encoder": CrossEncoderTraining,
}


def settings_table() -> str:
    """Return one row per option and meaning; trainings with the same meaning share a row."""
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


if __name__ == "__main__":
    write_or_check("reference/settings.md", "settings", settings_table())
