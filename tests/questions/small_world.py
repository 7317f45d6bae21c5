"""A hand-made world of companies, what they keep, and what their formulas take."""

from sat_retriever.questions.facts import SheetFacts
from sat_retriever.questions.synonyms import Wordings
from sat_retriever.records.links import Link
from sat_retriever.text.period.periods import Grain, SheetPeriod

COMPANIES = ("Fennel Works", "Harbor & Sons", "Quill Logistics", "Oak Ridge Mills")
MONTHLY = (
    ("inventory", "warehouse entry", ("Material Code",)),
    ("inventory", "stock ledger", ("Material Code",)),
    ("human resources", "payroll", ("Employee ID",)),
    ("human resources", "attendance", ("Employee ID", "Department")),
)
YEARLY = (
    ("human resources", "employee roster", ("Employee ID", "Department")),
    ("projects", "project registry", ("Project ID",)),
    ("projects", "project budget", ("Project ID", "Department")),
    ("finance", "balance sheet", ()),
)

WORDINGS = Wordings(
    kinds={
        "warehouse entry": ("warehouse entry", "goods received", "inbound stock"),
        "stock ledger": ("stock ledger", "inventory ledger"),
        "payroll": ("payroll", "wage list", "monthly pay"),
        "attendance": ("attendance", "time sheet"),
        "employee roster": ("employee roster", "staff list"),
        "project registry": ("project registry", "list of projects"),
        "project budget": ("project budget", "planned cost"),
        "balance sheet": ("balance sheet", "financial position"),
        "sales report": ("sales report", "turnover"),
        "annual overview": ("annual overview", "yearly summary"),
    },
    categories={
        "inventory": ("inventory", "stock keeping"),
        "human resources": ("human resources", "HR", "personnel"),
        "projects": ("projects", "project management"),
        "finance": ("finance", "financial statements"),
        "sales": ("sales", "revenue"),
    },
)


def period(family, year, quarter=0, month=0):
    if month:
        return SheetPeriod(family, Grain.MONTH, year, month, f"{year}-{month:02}")
    if quarter:
        return SheetPeriod(family, Grain.QUARTER, year, quarter, f"{year} Q{quarter}")
    return SheetPeriod(family, Grain.YEAR, year, 0, str(year))


def facts_of(category, kind, keys, company, *when, summary=False):
    family = f"{company}/{category}/{kind}"
    sheet_id = "/".join((company, kind, "-".join(map(str, when))))
    return SheetFacts(
        sheet_id=sheet_id,
        category=category,
        kind=kind,
        entity=company,
        period=period(family, *when) if when else None,
        keys=keys,
        schema=f"{category}/{kind}/{COMPANIES.index(company) % 2 if company in COMPANIES else 0}",
        workbook=f"{company}/{category}/{when[0] if when else ''}.xlsx",
        summary=summary,
    )


def world(companies=COMPANIES, years=(2021, 2022, 2023, 2024)):
    """Facts and links: budgets read registries, overviews gather quarters and months."""
    facts, links = [], []
    for company in companies:
        for year in years:
            months = range(1, 13)
            made = [
                facts_of(category, kind, keys, company, year, 0, month)
                for category, kind, keys in MONTHLY
                for month in months
            ]
            made += [facts_of(*each, company, year) for each in YEARLY]
            quarters = [
                facts_of("sales", "sales report", ("Order No",), company, year, quarter)
                for quarter in (1, 2, 3, 4)
            ]
            overview = facts_of("sales", "annual overview", (), company, year, summary=True)
            facts += [*made, *quarters, overview]
            by_kind = {each.kind: each.sheet_id for each in made}
            links += [
                Link(by_kind["project budget"], by_kind["project registry"], "formula_reference"),
                Link(by_kind["project budget"], by_kind["project registry"], "join_key"),
                *(
                    Link(overview.sheet_id, each.sheet_id, kind)
                    for each in quarters
                    for kind in ("formula_reference", "aggregation", "summary_source")
                ),
            ]
            entries = [each for each in made if each.kind == "warehouse entry"]
            ledgers = [each for each in made if each.kind == "stock ledger"]
            for month, (entry, ledger) in enumerate(zip(entries, ledgers, strict=True)):
                links.append(Link(ledger.sheet_id, entry.sheet_id, "formula_reference"))
                if month:
                    links.append(
                        Link(ledger.sheet_id, ledgers[month - 1].sheet_id, "formula_reference")
                    )
            links.append(Link(overview.sheet_id, "notes without facts", "formula_reference"))
    return facts, links
