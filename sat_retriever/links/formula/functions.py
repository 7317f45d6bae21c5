"""Uses that worksheet functions make of their arguments: totals, lookups, plain values.

Only functions that determine a use are listed. Any other function (IF, IFERROR, ROUND, TRANSPOSE,
…) passes its arguments on, so that the enclosing function determines the use:
`SUM(IF(Q1!A1:A9>0,Q1!B1:B9))` totals both ranges.
"""

from __future__ import annotations

from collections.abc import Callable

from sat_retriever.records.structure import Use

_PREFIXES = ("_XLFN.", "_XLWS.", "_XLUDF.", "COM.MICROSOFT.")


def _every(_argument: int) -> bool:
    return True


def _first(argument: int) -> bool:
    return argument == 0


def _after_first(argument: int) -> bool:
    return argument > 0


def _after_second(argument: int) -> bool:
    return argument > 1


def _not_second(argument: int) -> bool:  # SUMIF(range, criterion, sum_range)
    return argument != 1


def _not_criteria(argument: int) -> bool:  # SUMIFS(sum_range, range, criterion, range, …)
    return argument == 0 or argument % 2 == 1


def _even(argument: int) -> bool:  # COUNTIFS(range, criterion, range, criterion, …)
    return argument % 2 == 0


def _third(argument: int) -> bool:  # GROUPBY(row_fields, values, …) has values second
    return argument == 2


def _second(argument: int) -> bool:
    return argument == 1


def _names(text: str, taken: Callable[[int], bool]) -> dict[str, Callable[[int], bool]]:
    return dict.fromkeys(text.split(), taken)


# Totals, counts, averages, extremes, spread and quantiles: many cells become one number.
# Deliberately left out: fits and cash flows (TREND, NPV, …), which model rather than total, and
# AND, OR, CONCAT, TEXTJOIN, which gather no numbers. Criteria and ranks are plain values.
_AGGREGATES = {
    **_names("SUM SUMSQ SUMPRODUCT SUMX2MY2 SUMX2PY2 SUMXMY2 PRODUCT", _every),
    **_names("AVERAGE AVERAGEA AVEDEV DEVSQ GEOMEAN HARMEAN MEDIAN MODE", _every),
    **_names("MODE.SNGL MODE.MULT COUNT COUNTA COUNTBLANK MAX MAXA MIN MINA", _every),
    **_names("STDEV STDEVA STDEVP STDEVPA STDEV.S STDEV.P SKEW SKEW.P KURT", _every),
    **_names("VAR VARA VARP VARPA VAR.S VAR.P", _every),
    **_names("SUMIF AVERAGEIF COUNTIF", _not_second),
    **_names("SUMIFS AVERAGEIFS MAXIFS MINIFS", _not_criteria),
    **_names("COUNTIFS", _even),
    **_names("SUBTOTAL", _after_first),
    **_names("AGGREGATE", _after_second),
    **_names("LARGE SMALL TRIMMEAN FREQUENCY", _first),
    **_names("PERCENTILE PERCENTILE.INC PERCENTILE.EXC", _first),
    **_names("QUARTILE QUARTILE.INC QUARTILE.EXC", _first),
    **_names("DSUM DAVERAGE DCOUNT DCOUNTA DMAX DMIN DPRODUCT", _first),
    **_names("DSTDEV DSTDEVP DVAR DVARP", _first),
    **_names("GROUPBY", _second),
    **_names("PIVOTBY", _third),
}

# Arrays that are searched or returned from; the search key is a plain value.
_LOOKUPS = {
    "VLOOKUP": (1,),
    "HLOOKUP": (1,),
    "LOOKUP": (1, 2),
    "XLOOKUP": (1, 2),
    "MATCH": (1,),
    "XMATCH": (1,),
    "FILTER": (0, 1),
    "DGET": (0,),
}

# Functions of the position or size of a range, not of its values.
_POSITIONS = frozenset("ROW ROWS COLUMN COLUMNS SHEET SHEETS AREAS CELL ISREF INDIRECT".split())

PICKERS = frozenset({"INDEX", "OFFSET"})
MATCHERS = frozenset({"MATCH", "XMATCH"})
WIDENERS = frozenset({"OFFSET", "ANCHORARRAY"})
# Functions that pass values on unchanged, or guard against errors.
CARRIERS = frozenset(
    "IF IFERROR IFNA ISBLANK ISERROR ISNUMBER ROUND N T SINGLE ANCHORARRAY TRANSPOSE "
    "VSTACK HSTACK SORT UNIQUE INDIRECT".split()
)


def function_name(text: str) -> str:
    """Name of a function in capitals, without the prefixes that newer functions have in files.

    >>> function_name("_xlfn._xlws.FILTER"), function_name("sum")
    ('FILTER', 'SUM')
    """
    name = text.strip().upper()
    while name.startswith(_PREFIXES):
        name = name.partition("MICROSOFT." if name.startswith("COM.") else ".")[2]
    return name


def argument_use(function: str, argument: int, *, matched: bool) -> Use | None:
    """Use of an argument by a function; None if the enclosing function decides.

    INDEX and OFFSET are lookups if a MATCH gives them the position. Without one they only
    select part of a range, and the enclosing function decides.

    Args:
        function: Name as `function_name` gives it.
        argument: Position of the argument, from 0.
        matched: True if a MATCH gives this call its position.

    >>> argument_use("SUMIFS", 0, matched=False), argument_use("SUMIFS", 2, matched=False)
    (<Use.AGGREGATE: 'aggregate'>, <Use.VALUE: 'value'>)
    """
    taken = _AGGREGATES.get(function)
    if taken is not None:
        return Use.AGGREGATE if taken(argument) else Use.VALUE
    arrays = _LOOKUPS.get(function)
    if arrays is not None:
        return Use.LOOKUP if argument in arrays else Use.VALUE
    if function in PICKERS:
        if argument > 0:
            return Use.VALUE
        return Use.LOOKUP if matched else None
    if function in _POSITIONS or (function == "CHOOSE" and argument == 0):
        return Use.VALUE
    return None
