"""Targets and uses in one formula, parsed with openpyxl's Tokenizer."""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from dataclasses import dataclass, field

from openpyxl.formula.tokenizer import Token, Tokenizer, TokenizerError

from sat_retriever.links.formula.operands import (
    MAX_FORMULA,
    SPACES,
    Taken,
    Target,
    opening,
    targets,
)
from sat_retriever.records.structure import Use

_PREFIXES = ("_XLFN.", "_XLWS.", "_XLUDF.", "COM.MICROSOFT.")


# Totals, counts, averages, extremes, spread and quantiles: many cells become one number.
# Deliberately left out: fits and cash flows (TREND, NPV, …), which model rather than total, and
# AND, OR, CONCAT, TEXTJOIN, which gather no numbers. Criteria and ranks are plain values.
_TOTALLED: tuple[tuple[str, Callable[[int], bool]], ...] = (
    ("SUM SUMSQ SUMPRODUCT SUMX2MY2 SUMX2PY2 SUMXMY2 PRODUCT", lambda n: True),
    ("AVERAGE AVERAGEA AVEDEV DEVSQ GEOMEAN HARMEAN MEDIAN MODE", lambda n: True),
    ("MODE.SNGL MODE.MULT COUNT COUNTA COUNTBLANK MAX MAXA MIN MINA", lambda n: True),
    ("STDEV STDEVA STDEVP STDEVPA STDEV.S STDEV.P SKEW SKEW.P KURT", lambda n: True),
    ("VAR VARA VARP VARPA VAR.S VAR.P", lambda n: True),
    ("SUMIF AVERAGEIF COUNTIF", lambda n: n != 1),  # range, criterion, sum_range
    # sum_range, range, criterion, range, …
    ("SUMIFS AVERAGEIFS MAXIFS MINIFS", lambda n: n == 0 or n % 2 == 1),
    ("COUNTIFS", lambda n: n % 2 == 0),  # range, criterion, range, criterion, …
    ("SUBTOTAL", lambda n: n > 0),
    ("AGGREGATE", lambda n: n > 1),
    ("LARGE SMALL TRIMMEAN FREQUENCY", lambda n: n == 0),
    ("PERCENTILE PERCENTILE.INC PERCENTILE.EXC", lambda n: n == 0),
    ("QUARTILE QUARTILE.INC QUARTILE.EXC", lambda n: n == 0),
    ("DSUM DAVERAGE DCOUNT DCOUNTA DMAX DMIN DPRODUCT", lambda n: n == 0),
    ("DSTDEV DSTDEVP DVAR DVARP", lambda n: n == 0),
    ("GROUPBY", lambda n: n == 1),  # row_fields, values, …
    ("PIVOTBY", lambda n: n == 2),
)
_AGGREGATES = {name: taken for names, taken in _TOTALLED for name in names.split()}

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
    """Use of an argument, from 0, by a function; None if the enclosing function decides.

    INDEX and OFFSET are lookups if a MATCH gives them the position. Without one they only
    select part of a range, and the enclosing function decides.

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


_MAX_BRACKETS = 512  # the Tokenizer's time grows with the square of their number
_MAX_TARGETS = 256  # distinct targets of a formula
# Kept unchanged: strings, quoted sheet names, brackets with their escapes.
_KEPT = r"""("[^"]*"|'[^']*'|\[(?:'.|[^\[\]']|\[(?:'.|[^\[\]'])*\])*\])"""
_ERROR = re.compile(_KEPT + r"|(:?)(#[A-Z][A-Z0-9/_]*[!?]?)|#|@", re.DOTALL)
_STRAY = re.compile(r"(?!\$?\d+:\$?\d+$)[\d.“”„«»][^!\[]*")  # 4711_x is not a name
_ESCAPED = re.compile(r"'.", re.DOTALL)
_FAILURES = (TokenizerError, IndexError, AssertionError)
_CARRYING = frozenset("+ - = > < >= <= <>".split())
_OPERANDS = (Token.RANGE, Token.NUMBER, Token.LOGICAL)


class UnreadableFormulaError(Exception):
    """A formula is too long, or is not valid."""


def taken(text: str, names: Container[str] = ()) -> list[Taken]:
    """Uses of other sheets, names, tables and workbooks by a formula without "=", in its order.

    Casefolded names and tables in `names` are targets even without a sheet.

    Raises:
        UnreadableFormulaError: If it is too long or cannot be parsed.

    >>> [(each.use.value, each.target.first) for each in taken("SUM(Q1!A1:A9)*Rates!B2")]
    [('aggregate', 'Q1'), ('value', 'Rates')]
    """
    if len(text) > MAX_FORMULA or text.count("[") > _MAX_BRACKETS:
        raise UnreadableFormulaError(f"formula of {len(text):,} characters")
    walk = _Walk(names)
    try:
        for token in Tokenizer("=" + _repaired(text)).items:
            walk.visit(token)
    except _FAILURES as error:
        raise UnreadableFormulaError("formula cannot be parsed") from error
    return walk.result()


def without_literals(text: str) -> str:
    """The formula with every text, number and logical value replaced by "…".

    >>> without_literals('IF(A!B1="Miller",SUM(A!B2:B9)*4711,0)')
    'IF(A!B1=…,SUM(A!B2:B9)*…,…)'
    """
    try:
        tokens = Tokenizer("=" + _repaired(text)).items
    except _FAILURES:
        return "…"
    return "".join("…" if _is_literal(token) else token.value for token in tokens)


def _is_literal(token: Token) -> bool:
    if token.type != Token.OPERAND:
        return False
    return bool(token.subtype != Token.RANGE or _STRAY.fullmatch(token.value.strip()))


def carries(text: str) -> bool:
    """True if a formula only shows, adds up or guards the cells that it refers to.

    >>> carries("North!B2+South!B2"), carries("B2*Rates!$B$1")
    (True, False)
    """
    try:
        tokens = Tokenizer("=" + _repaired(text)).items
    except _FAILURES:
        return False
    for token in tokens:
        if token.type == Token.FUNC and token.subtype == Token.OPEN:
            if function_name(token.value[:-1]) not in CARRIERS:
                return False
        elif token.type in (Token.OP_IN, Token.OP_POST) and token.value not in _CARRYING:
            return False
    return True


def _repaired(text: str) -> str:
    """The text as the Tokenizer can read it: no "@", "A1#", newer error values, or line breaks."""
    text = text.strip().translate(SPACES)
    if "#" in text or "@" in text or "'" in text:
        text = _ERROR.sub(_repair, text)
    return text


def _repair(match: re.Match[str]) -> str:
    kept, colon, error = match[1], match[2], match[3]
    if kept is not None:
        return _ESCAPED.sub("__", kept) if kept.startswith("[") else kept
    if error is None:
        return "+" if match[0] == "@" else ""
    if colon:
        return ""  # A1:#REF!
    return error if error in Tokenizer.ERROR_CODES else "#N/A"


@dataclass(slots=True, eq=False)
class _Call:
    """An open parenthesis: its function, the enclosing call, and its position there."""

    function: str
    outer: _Call | None = None
    place: int = 0
    argument: int = 0
    matched: bool = False
    named: _Call | None = None  # the nearest call that is not a plain parenthesis
    constant: list[str] = field(default_factory=list)  # text of INDIRECT, as far as known
    dynamic: bool = False


@dataclass(slots=True)
class _Operand:
    text: str
    call: _Call
    place: int
    kind: str = "range"  # or "start" of a range, "indirect", "indirect_start"


class _Walk:
    def __init__(self, names: Container[str]) -> None:
        self.names = names
        self.call = _Call("")
        self.operands: list[_Operand] = []

    def visit(self, token: Token) -> None:
        self._indirect(token)
        if token.subtype == Token.OPEN:
            self._open(token)
        elif token.subtype == Token.CLOSE:
            self._close()
        elif token.type == Token.SEP:
            self.call.argument += 1
        elif token.type == Token.OPERAND and token.subtype in _OPERANDS:
            self.operands.append(_Operand(token.value, self.call, self.call.argument))

    def _open(self, token: Token) -> None:
        function = "(" if token.type != Token.FUNC else token.value[:-1]
        if ":" in function:  # Q1!A1:INDEX( is one token
            start, _, function = function.rpartition(":")
            self.operands.append(_Operand(start, self.call, self.call.argument, "start"))
        named = (self.call.named or self.call) if function == "(" else None
        self.call = _Call(function_name(function), self.call, self.call.argument, named=named)
        if self.call.function in MATCHERS:
            self._mark_pickers()

    def _mark_pickers(self) -> None:
        inner = self.call
        while inner.outer is not None:
            if inner.outer.function in PICKERS and inner.place > 0:
                inner.outer.matched = True
            inner = inner.outer

    def _close(self) -> None:
        closed = self.call
        if closed.outer is None:
            return
        self.call = closed.outer
        if closed.function == "INDIRECT" and closed.constant:
            kind = "indirect_start" if closed.dynamic else "indirect"
            text = "".join(closed.constant)
            self.operands.append(_Operand(text, closed.outer, closed.place, kind))

    def _indirect(self, token: Token) -> None:
        """Collect the text argument of an INDIRECT, up to the first computed part."""
        call = self.call.named or self.call
        if call.function != "INDIRECT" or call.argument > 0 or call.dynamic:
            return
        if token.type == Token.OPERAND and token.subtype == Token.TEXT:
            call.constant.append(token.value[1:-1].replace('""', '"'))
        elif token.type == Token.OPERAND and token.subtype == Token.NUMBER:
            call.constant.append(token.value)
        elif token.type not in (Token.WSPACE, Token.PAREN, Token.SEP):
            call.dynamic = token.value != "&" and token.subtype != Token.CLOSE

    def result(self) -> list[Taken]:
        found: dict[Taken, None] = {}
        for operand in self.operands:
            for target in self._targets(operand):
                found.setdefault(Taken(self._use(operand, target), target))
            if len(found) > _MAX_TARGETS:
                break
        return list(found)

    def _targets(self, operand: _Operand) -> list[Target]:
        if operand.kind == "indirect_start":
            start = opening(operand.text)
            return [start] if start else []
        if operand.kind == "indirect":
            return targets(operand.text.lstrip("=+"), self.names, r1c1=True)
        return targets(operand.text, self.names)

    def _use(self, operand: _Operand, target: Target) -> Use:
        """The use by the innermost function that determines one.

        A single cell inside the array of a lookup is the value that a column is compared with.
        """
        call: _Call | None = operand.call
        place = operand.place
        single = operand.kind == "range" and not target.name and ":" not in target.area
        while call is not None:
            single = single and call.function not in WIDENERS
            use = argument_use(call.function, place, matched=call.matched)
            if use is not None:
                return Use.VALUE if use is Use.LOOKUP and single else use
            place, call = call.place, call.outer
        return Use.VALUE
