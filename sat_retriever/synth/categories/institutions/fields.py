"""Define the columns of institutions' sheets by kind, and the values that fill them."""

from __future__ import annotations

from dataclasses import dataclass

from sat_retriever.synth.book.model import Combine, Own, Recipe, Style


@dataclass(frozen=True, slots=True)
class Field:
    """One column of a kind. Texts, numbers or a recipe fill it.

    Attributes:
        id: Column id.
        style: Format of its cells.
        texts: Texts to choose from.
        least: Smallest number.
        most: Greatest number.
        recipe: Formula on other columns of its row.
    """

    id: str
    style: Style = "amount"
    texts: tuple[str, ...] = ()
    least: float = 0.0
    most: float = 0.0
    recipe: Recipe | None = None


DAYS = {"date": 0, "business_date": 0, "data_date": 1}
"""The columns of dates, with their number of days after the end of the period."""
BY_ENTITY = ("type", "subsidiary", "institution_type")
"""The columns whose values are fixed for an entity."""
_DATA_TYPES = ("Actual", "Preliminary", "Adjusted")


def _text(column: str, *texts: str) -> Field:
    return Field(column, "text", texts)


def _amount(column: str, least: float, most: float) -> Field:
    return Field(column, "amount", (), least, most)


def _count(column: str, least: int, most: int) -> Field:
    return Field(column, "integer", (), least, most)


def _rate(column: str, least: float, most: float) -> Field:
    return Field(column, "percent", (), least, most)


def _sum(column: str, *ids: str, style: Style = "amount") -> Field:
    total: Recipe = Own(ids[0])
    for other in ids[1:]:
        total = Combine("+", total, Own(other))
    return Field(column, style, recipe=total)


def _less(column: str, left: str, right: str, style: Style = "amount") -> Field:
    return Field(column, style, recipe=Combine("-", Own(left), Own(right)))


def _share(column: str, part: str, whole: str, style: Style = "percent") -> Field:
    return Field(column, style, recipe=Combine("/", Own(part), Own(whole)))


def _product(column: str, left: str, right: str) -> Field:
    return Field(column, "amount", recipe=Combine("*", Own(left), Own(right)))


_DATE, _DATA_DATE = Field("date", "date"), Field("data_date", "date")
_BUSINESS_DATE, _DATA_TYPE = Field("business_date", "date"), _text("data_type", *_DATA_TYPES)
_TYPE, _SUBSIDIARY = Field("type", "text"), Field("subsidiary", "text")

KINDS: dict[str, tuple[Field, ...]] = {
    "financing": (
        _DATA_DATE,
        _BUSINESS_DATE,
        _DATA_TYPE,
        _text("financing_type_name", "Working Capital Loan", "Term Loan", "Overdraft", "Lease"),
        _text("financing_type", "F01", "F02", "F03", "F04"),
        _rate("rate", 0.021, 0.064),
        _amount("balance", 2_000, 60_000),
        _amount("quota", 60_000, 120_000),
        _less("free_quota", "quota", "balance"),
        _share("usage", "balance", "quota"),
        _SUBSIDIARY,
        _TYPE,
    ),
    "deposits": (
        _DATE,
        _BUSINESS_DATE,
        _DATA_TYPE,
        _amount("cash", 5, 400),
        _amount("bank", 1_000, 40_000),
        _amount("central_bank", 0, 9_000),
        _amount("interbank", 0, 15_000),
        _amount("finance_company", 500, 30_000),
        _amount("overseas", 0, 6_000),
        _amount("restricted", 0, 900),
        _sum("total", "cash", "bank", "central_bank", "interbank", "finance_company", "overseas"),
        _less("available", "total", "restricted"),
        _share("overseas_ratio", "overseas", "total"),
        _share("restricted_ratio", "restricted", "total"),
        _SUBSIDIARY,
        _TYPE,
    ),
    "notes": (
        _DATE,
        _TYPE,
        _amount("bank_notes", 100, 20_000),
        _amount("commercial", 0, 12_000),
        _amount("finance_notes", 0, 8_000),
        _sum("total_notes", "bank_notes", "commercial", "finance_notes"),
        _amount("new_amount", 50, 5_000),
        _count("new_count", 1, 60),
        _amount("internal_amount", 0, 4_000),
        _amount("external_amount", 0, 9_000),
        _share("average_note", "new_amount", "new_count", "amount"),
        _text("important", "Y", "N", "N", "N"),
    ),
    "settlement": (
        _DATA_DATE,
        _BUSINESS_DATE,
        _TYPE,
        _count("day_count", 20, 90),
        _count("day_success", 12, 20),
        _share("day_rate", "day_success", "day_count"),
        _amount("day_amount", 200, 9_000),
        _count("month_count", 600, 1_900),
        _count("month_success", 400, 600),
        _share("month_rate", "month_success", "month_count"),
        _amount("month_amount", 9_000, 300_000),
        _count("internal_count", 10, 300),
        _count("bank_count", 200, 900),
        _sum("denominator", "internal_count", "bank_count", style="integer"),
        _count("numerator", 100, 210),
        _share("settlement_rate", "numerator", "denominator"),
        _SUBSIDIARY,
    ),
    "pooling": (
        _DATE,
        _amount("pooled", 1_000, 40_000),
        _amount("non_poolable", 50, 9_000),
        _text("non_poolable_type", "Court Order", "Tax Account", "Guarantee", "Project Account"),
        _sum("total_funds", "pooled", "non_poolable"),
        _share("pooling_rate", "pooled", "total_funds"),
        _rate("group_rate", 0.78, 0.9),
        _less("gap", "group_rate", "pooling_rate", "percent"),
        _amount("top_account", 500, 20_000),
        _amount("headquarters", 0, 5_000),
    ),
    "credit": (
        _DATA_DATE,
        _amount("pooling_limit", 20_000, 60_000),
        _amount("top_limit", 10_000, 40_000),
        _sum("total_limit", "pooling_limit", "top_limit"),
        _amount("pooling_used", 1_000, 20_000),
        _amount("used", 20_000, 30_000),
        _less("total_free", "total_limit", "used"),
        _share("use_rate", "used", "total_limit"),
        _share("pooling_rate", "pooling_used", "pooling_limit"),
        _rate("full_rate", 0.02, 0.06),
        _rate("control_rate", 0.018, 0.05),
        _amount("maximum", 100_000, 160_000),
        _amount("previous_top", 500, 20_000),
    ),
    "bonds": (
        _DATA_DATE,
        _BUSINESS_DATE,
        _DATA_TYPE,
        _amount("bond_balance", 0, 50_000),
        _rate("bond_rate", 0.024, 0.05),
        _product("bond_interest", "bond_balance", "bond_rate"),
        _amount("other_balance", 500, 30_000),
        _rate("other_rate", 0.03, 0.065),
        _product("other_interest", "other_balance", "other_rate"),
        _sum("debt", "bond_balance", "other_balance"),
        Field(
            "average_rate",
            "percent",
            recipe=Combine(
                "/", Combine("+", Own("bond_interest"), Own("other_interest")), Own("debt")
            ),
        ),
        _SUBSIDIARY,
    ),
    "accounts": (
        _DATA_DATE,
        Field("institution_type", "text"),
        _count("valid", 4, 60),
        _count("invalid", 0, 9),
        _sum("accounts", "valid", "invalid", style="integer"),
        _share("valid_rate", "valid", "accounts"),
        _count("online", 1, 40),
        _amount("balance", 1_000, 60_000),
        _share("average_balance", "balance", "accounts", "amount"),
    ),
}
"""The columns by kind, after the entity's id and name."""

SUMMED = {
    "deposits": ("deposits", "total"),
    "financing": ("financing", "balance"),
    "quota": ("financing", "quota"),
    "notes": ("notes", "total_notes"),
    "pooled": ("pooling", "pooled"),
    "credit_used": ("credit", "used"),
}
"""The columns of the summary, with the kind and column that each sums."""


def needed(kind: str) -> frozenset[str]:
    """Return the columns of a kind that its own formulas or the summary use."""
    own = [f.recipe for f in KINDS[kind] if f.recipe is not None]
    taken = {column for source, column in SUMMED.values() if source == kind}
    return frozenset(taken.union(*(_owned(recipe) for recipe in own)))


def _owned(recipe: Recipe) -> frozenset[str]:
    if isinstance(recipe, Own):
        return frozenset({recipe.column})
    if isinstance(recipe, Combine):
        return _owned(recipe.left) | _owned(recipe.right)
    return frozenset()
