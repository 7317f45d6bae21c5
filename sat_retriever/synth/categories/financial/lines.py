"""Define the lines of the three statements: their names, figures and sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

STATEMENTS = ("income_statement", "balance_sheet", "cash_flow")
"""Kinds of sheets whose lines sum up other lines."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a statement.

    Attributes:
        id: Name used by other lines and sheets.
        names: Its names, one per wording of a house.
        figures: Figures of the ledger that it adds, with "-" before those it subtracts.
        sums: Lines above it in the same statement that it sums, "-" as before. A line with neither
            is the heading of a group.
    """

    id: str
    names: tuple[str, ...]
    figures: tuple[str, ...] = ()
    sums: tuple[str, ...] = ()

    @property
    def heading(self) -> bool:
        """True if it has no numbers."""
        return not (self.figures or self.sums)


def _lines(text: str) -> tuple[Line, ...]:
    """Parse lines from rows of "id | names / … | figures | sums"."""
    found = []
    for row in text.strip().splitlines():
        name, names, figures, sums = (part.strip() for part in row.split("|"))
        wordings = tuple(wording.strip() for wording in names.split("/"))
        found.append(Line(name, wordings, tuple(figures.split()), tuple(sums.split())))
    return tuple(found)


INCOME_SHORT = _lines("""
revenue | Revenue / Turnover / Net sales | revenue |
cost | Cost of sales / Cost of goods sold / Production cost | materials wages other_production |
gross | Gross profit / Gross result / Gross margin | | revenue -cost
other_income | Other operating income / Sundry income / Other income | other_income |
distribution | Distribution costs / Selling expenses / Selling and distribution | distribution |
administration | Administrative expenses / General and administrative / Overheads | administration |
research | Research and development / Development expenses / R&D | research |
depreciation | Depreciation and amortisation / Write-downs / D&A | depreciation |
operating | Operating profit / Operating result / EBIT \
    | | gross other_income -distribution -administration -research -depreciation
interest | Finance costs / Interest expense / Interest paid | interest |
pretax | Profit before tax / Result before taxes / EBT | | operating -interest
tax | Income tax / Taxes on income / Corporation tax | tax |
net | Net profit for the year / Result for the year / Net income | | pretax -tax
""")

_PRODUCTION = _lines("""
sales_head | Sales / Income from sales / Top line | |
goods | Sale of goods / Goods sold / Product sales | goods |
services | Services rendered / Service income / Service sales | services |
revenue | Revenue / Turnover / Net sales | | goods services
cost_head | Production / Cost of production / Direct cost | |
materials | Materials used / Raw materials and supplies / Materials | materials |
wages | Production wages / Direct labour / Factory payroll | wages |
other_production | Other production cost / Energy and other / Factory overheads | other_production |
cost | Cost of sales / Cost of goods sold / Production cost | | materials wages other_production
""")
_OVERHEADS = _lines("overhead_head | Other items / Operating expenses / Below gross | |")
INCOME_LONG = (*_PRODUCTION, INCOME_SHORT[2], *_OVERHEADS, *INCOME_SHORT[3:])

BALANCE_SHORT = _lines("""
ppe | Property, plant and equipment / Tangible assets / Fixed assets | ppe |
intangible | Intangible assets / Intangibles / Software and licences | intangible |
investments | Financial assets / Investments / Securities held | investments |
fixed | Total non-current assets / Long-term assets / Sum of fixed assets \
    | | ppe intangible investments
inventory | Inventories / Stocks / Goods on stock | raw_materials finished_goods |
receivables | Trade receivables / Receivables from customers / Debtors | receivables |
other_current | Other current assets / Sundry assets / Other receivables \
    | prepayments other_receivables |
cash | Cash and cash equivalents / Cash at bank and in hand / Liquid funds | cash |
current | Total current assets / Short-term assets / Sum of current assets \
    | | inventory receivables other_current cash
assets | Total assets / Balance total / Sum of assets | | fixed current
capital | Share capital / Issued capital / Paid-in capital | capital |
reserves | Reserves / Capital reserve / Statutory reserve | reserves |
retained | Retained earnings / Profit carried forward / Accumulated profit | retained |
equity | Total equity / Own funds / Shareholders' funds | | capital reserves retained
long_debt | Long-term borrowings / Bank loans over one year / Non-current loans | long_debt |
provisions | Provisions / Accrued obligations / Provisions for liabilities | provisions |
short_debt | Short-term borrowings / Bank loans within one year / Overdrafts | short_debt |
payables | Trade payables / Payables to suppliers / Creditors | payables |
other_short | Other liabilities / Sundry liabilities / Accruals and taxes | accrued tax_payable |
liabilities | Total liabilities / Borrowed funds / Sum of liabilities \
    | | long_debt provisions short_debt payables other_short
funds | Total equity and liabilities / Sum of equity and debt / Sum of funds | | equity liabilities
""")

BALANCE_LONG = _lines("""
fixed_head | Non-current assets / A. Fixed assets / Long-term assets | |
ppe | Property, plant and equipment / Tangible assets / Fixed assets | ppe |
intangible | Intangible assets / Intangibles / Software and licences | intangible |
investments | Financial assets / Investments / Securities held | investments |
fixed | Total non-current assets / Total fixed assets / Sum of fixed assets \
    | | ppe intangible investments
current_head | Current assets / B. Current assets / Short-term assets | |
raw_materials | Raw materials and supplies / Raw materials / Materials on stock | raw_materials |
finished_goods | Finished goods / Products and goods / Goods on stock | finished_goods |
inventory | Inventories / Stocks / Sum of stock | | raw_materials finished_goods
receivables | Trade receivables / Receivables from customers / Debtors | receivables |
other_receivables | Other receivables / Sundry receivables / Other debtors | other_receivables |
prepayments | Prepaid expenses / Prepayments / Deferred items | prepayments |
cash | Cash and cash equivalents / Cash at bank and in hand / Liquid funds | cash |
current | Total current assets / Sum of short-term assets / Sum of current assets \
    | | inventory receivables other_receivables prepayments cash
assets | Total assets / Balance total / Sum of assets | | fixed current
equity_head | Equity / C. Own funds / Capital and reserves | |
capital | Share capital / Issued capital / Paid-in capital | capital |
reserves | Reserves / Capital reserve / Statutory reserve | reserves |
retained | Retained earnings / Profit carried forward / Accumulated profit | retained |
equity | Total equity / Total own funds / Shareholders' funds | | capital reserves retained
long_head | Non-current liabilities / D. Long-term liabilities / Due after one year | |
long_debt | Long-term borrowings / Bank loans over one year / Non-current loans | long_debt |
provisions | Provisions / Accrued obligations / Provisions for liabilities | provisions |
long | Total non-current liabilities / Total long-term liabilities / Sum due after one year \
    | | long_debt provisions
short_head | Current liabilities / E. Short-term liabilities / Due within one year | |
short_debt | Short-term borrowings / Bank loans within one year / Overdrafts | short_debt |
payables | Trade payables / Payables to suppliers / Creditors | payables |
tax_payable | Income tax payable / Tax liabilities / Tax due | tax_payable |
accrued | Accrued expenses / Other short-term liabilities / Accruals | accrued |
short | Total current liabilities / Total short-term liabilities / Sum due within one year \
    | | short_debt payables tax_payable accrued
liabilities | Total liabilities / Borrowed funds / Sum of liabilities | | long short
funds | Total equity and liabilities / Sum of equity and debt / Sum of funds | | equity liabilities
""")

CASH = _lines("""
net | Net profit for the year / Result for the year / Net income | net |
depreciation | Depreciation and amortisation / Write-downs / D&A | depreciation |
stock | Decrease in inventories / Less stock / Inventory movement | <raw_materials <finished_goods |
debtors | Decrease in receivables / Fewer open invoices / Receivables movement \
    | <receivables <other_receivables <prepayments |
creditors | Increase in payables / More owed to suppliers / Payables movement \
    | >payables >accrued >tax_payable |
obligations | Increase in provisions / More provisions / Provisions movement | >provisions |
operating | Cash flow from operations / Operating cash flow / CFO \
    | | net depreciation stock debtors creditors obligations
capex | Purchase of property, plant and equipment / Spent on tangible assets / Capex | -capex |
development | Purchase of intangible assets / Spent on intangibles / Development spend \
    | -development |
securities | Purchase of financial assets / Spent on investments / Securities bought \
    | <investments |
investing | Cash flow from investing / Investing cash flow / CFI | | capex development securities
loans | Change in borrowings / Loans taken less repaid / Net borrowing | >long_debt >short_debt |
dividends | Dividends paid / Paid to owners / Distributions | -dividends |
financing | Cash flow from financing / Financing cash flow / CFF | | loans dividends
change | Net change in cash / Total cash flow / Change in liquid funds \
    | | operating investing financing
opening | Cash at beginning of year / Opening cash / Cash 1 January | cash@ |
closing | Cash at end of year / Closing cash / Cash 31 December | | change opening
""")
"""The marks: ">" means this year's figure less last year's, "<" the reverse, "@" last year's."""


def amount(line: Line, now: Mapping[str, int], before: Mapping[str, int]) -> int:
    """Compute the amount of a line with figures from the ledger.

    >>> amount(Line("x", ("X",), (">cash", "-tax")), {"cash": 5, "tax": 1}, {"cash": 2})
    2
    """
    total = 0
    for figure in line.figures:
        mark, name = figure[0], figure.strip("-<>@")
        if figure.endswith("@"):
            total += before[name]
        elif mark in "<>":
            change = now[name] - before[name]
            total += change if mark == ">" else -change
        else:
            total += -now[name] if mark == "-" else now[name]
    return total
