"""Workbooks made by code, one for each construct, with the links a person expects of them.

A case is a function that writes a file, and the complete list of what its formulas and
declarations say: `("Summary", "Q1", "formula_reference aggregation", "Summary!B4 =SUM(")` is
a link of each of the two types with evidence that begins so. Joins by headers or values,
periods and `same_workbook` are no part of the expectations.
"""

from __future__ import annotations

from tests.links.formula.workbooks.case import Case, Expected, ExpectedExternal
from tests.links.formula.workbooks.declared import DECLARED_CASES
from tests.links.formula.workbooks.listed import LISTED_CASES
from tests.links.formula.workbooks.other_files import OTHER_FILE_CASES
from tests.links.formula.workbooks.sheets import SHEET_CASES

CASES: list[Case] = [*LISTED_CASES, *SHEET_CASES, *DECLARED_CASES, *OTHER_FILE_CASES]

OWN_TYPES = frozenset({"formula_reference", "aggregation", "summary_source", "join_key"})

__all__ = ["CASES", "OWN_TYPES", "Case", "Expected", "ExpectedExternal"]
