"""Lookups of each kind, and what in them is no lookup."""

from __future__ import annotations

from tests.links.formula.workbooks.case import DATA, Case, report

_F, _FA, _FJ = (
    "formula_reference",
    "formula_reference aggregation",
    "formula_reference join_key",
)
_TWO = {"Data": DATA, "Keys": DATA}


def _one(name: str, formula: str, kinds: str = _FJ) -> Case:
    """A case of one formula that takes from Data alone."""
    return Case(name, report(formula), (("Report", "Data", kinds, f"Report!B1 {formula}"),))


LOOKUP_CASES = [
    _one("VLOOKUP", "=VLOOKUP(A1,Data!A:C,2,FALSE)"),
    _one("HLOOKUP", "=HLOOKUP(A1,Data!$1:$4,2,FALSE)"),
    _one("LOOKUP", "=LOOKUP(A1,Data!A2:A4,Data!B2:B4)"),
    _one("XLOOKUP", "=_xlfn.XLOOKUP(A1,Data!A2:A4,Data!B2:B4)"),
    _one("INDEX and MATCH", "=INDEX(Data!B:B,MATCH(A1,Data!A:A,0))"),
    _one("MATCH alone", "=MATCH(A1,Data!A:A,0)"),
    _one("XMATCH in OFFSET", "=OFFSET(Data!B1,_xlfn.XMATCH(A1,Data!A:A)-1,0)"),
    _one("INDEX by number", "=INDEX(Data!B:B,3)*2", _F),
    _one("a total of INDEX by number", "=SUM(INDEX(Data!B:C,0,2))", _FA),
    _one("a total of lookups", "=SUM(VLOOKUP(A1,Data!A:C,{2,3},0))"),
    _one("a guarded lookup", '=IFERROR(VLOOKUP(A1,Data!A:C,2,0),"")'),
    Case(
        "a lookup of another sheet's value",
        report("=VLOOKUP(Keys!A2,Data!A:C,2,FALSE)", **_TWO),
        (
            ("Report", "Data", _FJ, "Report!B1 =VLOOKUP(Keys!A2,"),
            ("Report", "Keys", _F, "Report!B1 =VLOOKUP(Keys!A2,"),
        ),
    ),
    Case(
        "INDEX of one sheet by MATCH in another",
        report("=INDEX(Data!B:B,MATCH(A1,Keys!A:A,0))", **_TWO),
        (
            ("Report", "Data", _FJ, "Report!B1 =INDEX("),
            ("Report", "Keys", _FJ, "Report!B1 =INDEX("),
        ),
    ),
    Case(
        "FILTER by a value of another sheet",
        report("=_xlfn._xlws.FILTER(Data!A2:C4,Data!A2:A4=Keys!A2)", **_TWO),
        (
            ("Report", "Data", _FJ, "Report!B1 =_xlfn._xlws.FILTER("),
            ("Report", "Keys", _F, "Report!B1 =_xlfn._xlws.FILTER("),
        ),
    ),
    _one("an array that is totalled by condition", "=SUM(IF(Data!B2:B4>3,Data!C2:C4))", _FA),
    _one("SUMPRODUCT", "=SUMPRODUCT((Data!A2:A4=A1)*Data!B2:B4)", _FA),
    _one("SUBTOTAL", "=SUBTOTAL(9,Data!B2:B4)", _FA),
    _one("AGGREGATE", "=AGGREGATE(14,6,Data!B2:B4,1)", _FA),
    _one("a quantile", "=PERCENTILE(Data!B2:B4,0.9)", _FA),
    Case(
        "criteria from another sheet",
        report("=SUMIFS(Data!B:B,Data!A:A,Keys!A2)", "=COUNTIF(Data!A:A,Keys!A3)", **_TWO),
        (
            ("Report", "Data", _FA, "Report!B1 =SUMIFS(Data!B:B,"),
            ("Report", "Keys", _F, "Report!B1 =SUMIFS(Data!B:B,"),
        ),
    ),
    Case(
        "a total and a lookup of one sheet",
        report("=SUM(Data!B:B)", "=VLOOKUP(A1,Data!A:C,2,0)"),
        (
            ("Report", "Data", _FA, "Report!B1 =SUM(Data!B:B)"),
            ("Report", "Data", "join_key", "Report!B2 =VLOOKUP("),
        ),
    ),
]
