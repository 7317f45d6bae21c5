"""Proportions and counts of the published IndustryTab-1K questions.

Source: counted over the 1,797 entries of the released `query.json`. They are the defaults of
the generator.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# Questions by type and dependency type.
QUESTIONS: Mapping[tuple[str, str], int] = MappingProxyType(
    {
        ("semantic_lookup", "none"): 478,
        ("semantic_lookup", "temporal_alignment"): 132,
        ("semantic_lookup", "schema_alignment"): 21,
        ("comparison", "temporal_alignment"): 315,
        ("comparison", "schema_alignment"): 42,
        ("aggregation", "aggregation"): 339,
        ("join_key_reasoning", "join_key"): 257,
        ("formula_tracing", "formula_reference"): 140,
        ("summary_source", "summary_source"): 73,
    }
)

HARD_TYPES = (
    "same_schema_wrong_entity",
    "same_schema_wrong_year",
    "same_workbook_wrong_sheet",
    "same_key_column_unrelated",
    "same_formula_family",
    "same_summary_type",
)

# Hard negatives by question type, in the order of HARD_TYPES.
_HARD = {
    "semantic_lookup": (2848, 891, 93, 1580, 0, 0),
    "join_key_reasoning": (481, 507, 373, 2309, 0, 0),
    "aggregation": (1345, 926, 22, 934, 65, 30),
    "comparison": (836, 657, 2, 617, 0, 0),
    "formula_tracing": (502, 289, 30, 55, 0, 0),
    "summary_source": (307, 64, 0, 80, 0, 145),
}
HARD_NEGATIVES: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        name: MappingProxyType(dict(zip(HARD_TYPES, counts, strict=True)))
        for name, counts in _HARD.items()
    }
)

MOST_HARD = 56  # most hard negatives of a question
