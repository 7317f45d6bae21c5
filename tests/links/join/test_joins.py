"""Joins inside a workbook and between workbooks, by headers and by values."""

import random
import time
from dataclasses import replace

import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever import Column, SheetRecord, read_workbook
from sat_retriever.links.join.joins import joins_between, workbook_joins
from sat_retriever.links.join.keys import BLOCK_LIMIT, MAX_KEYS, workbook_keys
from sat_retriever.links.join.sketches import value_hash
from sat_retriever.records.sheets import ColumnType
from sat_retriever.records.structure import SKETCH_SIZE, ColumnProfile
from tests.work import lines_run

TYPES = {int: ColumnType.INTEGER, str: ColumnType.TEXT}


def sheet(name, *headers, workbook="shop.xlsx"):
    columns = tuple(Column(header) for header in headers)
    return SheetRecord(
        f"{workbook}#{name}", name, workbook=workbook, path=workbook, columns=columns
    )


def filled(name, columns, *, workbook="shop.xlsx"):
    """A record and the profiles of its columns, made of their values."""
    described, profiles = [], []
    for place, (header, values) in enumerate(columns.items()):
        described.append(Column(header, type=TYPES[type(values[0])]))
        profiles.append(profile(name, place, values))
    record = SheetRecord(
        f"{workbook}#{name}", name, workbook=workbook, path=workbook, columns=tuple(described)
    )
    return record, profiles


def profile(name, place, values):
    texts = {str(value) for value in values}
    sketch = tuple(sorted(map(value_hash, texts)))[:SKETCH_SIZE]
    return ColumnProfile(name, 0, place, len(values), len(texts), sketch)


def joined(*sheets):
    records, profiles = zip(*sheets, strict=True)
    return shown(workbook_joins(records, [p for own in profiles for p in own]))


def shown(links):
    return {(link.source.rpartition("#")[2], link.target.rpartition("#")[2]) for link in links}


def keys(record_and_profiles):
    record, *profiles = record_and_profiles
    return workbook_keys([record], *profiles)


CODES = [f"C-{n * 7919 % 99991:05d}" for n in range(400)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("orders", "id", "customer_id"), ("customers", "id", "name")),
        (("Orders", "Order ID", "Customer ID"), ("Customers", "Customer ID", "Name")),
        (("orders", "order_id", "cust_id"), ("customer", "customer_id", "name")),
        (("Orders", "OrderNo", "CustNo"), ("Customers", "CustomerNumber", "Name")),
        (("employees", "emp_id", "dept"), ("departments", "dept_id", "budget")),
        (("Trips", "id", "home_team_id"), ("Team", "id", "stadium")),
        (("routes", "airline", "src_apid", "dst_apid"), ("airports", "apid", "city")),
        (("matches", "no", "team_id_1", "team_id_2"), ("teams", "team_id", "city")),
        (("visits", "visit_id", "contact_staff_id"), ("staff", "staff_id", "room")),
        (("items", "item_id", "category_code"), ("categories", "code", "label")),
        (("Stay", "StayID", "Patient"), ("Patient", "SSN", "Name")),
        (("Bestellung", "Nr", "Kunde_Nr"), ("Kunde", "Kunde_Nr", "Ort")),
    ],
)
def test_headers_alone_find_the_sheet_that_owns_the_key(one, other):
    (link,) = workbook_joins([sheet(*one), sheet(*other)])
    assert (link.source, link.target) == (f"shop.xlsx#{one[0]}", f"shop.xlsx#{other[0]}")
    assert link.type == "join_key"
    assert 0 < link.weight <= 1
    assert link.evidence.endswith("(headers)")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("orders", "id", "name"), ("customers", "id", "name")),
        (("orders", "date", "amount", "city"), ("customers", "date", "city", "country")),
        (("2023", "year", "description"), ("2024", "year", "description")),
        (("Sales", "country", "amount"), ("Targets", "country", "goal")),
        (("Sales", "2016", "2017"), ("Targets", "2016", "2017")),
        (("people", "name", "email_address"), ("addresses", "address_id", "street")),
        (("banks", "bank_id", "no_of_customers"), ("customers", "customer_id", "name")),
        (("a", "row number"), ("b", "page number")),
        (("", "", " "), ("x", "", "__")),
    ],
)
def test_generic_headers_do_not_join(one, other):
    assert workbook_joins([sheet(*one), sheet(*other)]) == []


def test_the_list_of_a_key_is_its_owner_and_not_another_sheet_that_refers_to_it():
    sheets = [
        sheet("invoices", "invoice_id", "customer_id"),
        sheet("customers", "customer_id", "name"),
        sheet("orders", "order_id", "customer_id"),
    ]
    assert shown(workbook_joins(sheets)) == {("invoices", "customers"), ("orders", "customers")}


def test_values_are_counted_in_the_evidence():
    orders, own = filled("orders", {"order": CODES[:300], "customer_id": CODES[:20] * 15})
    customers, others = filled("customers", {"id": CODES[:25], "name": CODES[100:125]})
    (link,) = workbook_joins([orders, customers], [*own, *others])
    assert link.evidence == "orders.customer_id = customers.id (20 of 20 values)"
    assert link.weight > 0.95


def test_estimated_shares_are_called_so():
    orders, own = filled("orders", {"n": list(range(400)), "customer_id": CODES})
    customers, others = filled("customers", {"id": CODES, "n": list(range(400))})
    (link,) = workbook_joins([orders, customers], [*own, *others])
    assert link.evidence == "orders.customer_id = customers.id (about 100% of 400 values)"


def test_values_overrule_headers_in_both_directions():
    same = filled("orders", {"n": list(range(30)), "customer_id": CODES[:30]})
    held = filled("customers", {"customer_id": CODES[:30], "n": list(range(30))})
    other = filled("customers", {"customer_id": CODES[200:230], "n": list(range(30))})
    numbers = filled(
        "customers", {"customer_id": list(range(10**6, 10**6 + 30)), "n": CODES[99:129]}
    )
    assert joined(same, held) == {("orders", "customers")}
    assert joined(same, other) == set()
    assert joined(same, numbers) != {("orders", "customers")} or "headers" not in joined(
        same, numbers
    )


def test_numbers_kept_as_text_join_numbers_if_they_agree():
    numbers = [n * 7919 for n in range(100, 130)]
    orders = filled("orders", {"n": list(range(30)), "customer_id": [str(n) for n in numbers]})
    customers = filled("customers", {"customer_id": numbers, "n": list(range(30))})
    assert joined(orders, customers) == {("orders", "customers")}
    other = filled("customers", {"customer_id": [*numbers[:12], *range(10**7, 10**7 + 18)]})
    assert joined(orders, other) == set()


def test_few_wide_numbers_kept_as_text_join_numbers_if_all_agree():
    numbers = [100101, 100102, 100103]
    customers = filled("customers", {"customer_id": [str(n) for n in numbers], "town": CODES[:3]})
    orders = filled("orders", {"n": list(range(12)), "customer_id": numbers * 4})
    assert joined(orders, customers) == {("orders", "customers")}
    others = filled("orders", {"n": list(range(12)), "customer_id": [*numbers[:2], 100104] * 4})
    assert joined(others, customers) == set()
    small = filled("customers", {"customer_id": ["1", "2", "3"], "town": CODES[:3]})
    counts = filled("orders", {"n": list(range(12)), "customer_id": [1, 2, 3] * 4})
    assert joined(counts, small) == set()


def test_columns_of_decimals_and_truth_values_are_no_keys():
    for kind in (ColumnType.NUMBER, ColumnType.BOOLEAN, ColumnType.EMPTY):
        columns = (Column("customer_id", type=kind),)
        orders = SheetRecord("a#orders", "orders", columns=(Column("order_id"), *columns))
        customers = SheetRecord("a#customers", "customers", columns=columns)
        assert workbook_joins([orders, customers]) == []
        assert [key.name for key in workbook_keys([orders])] == ["order_id"]


def test_a_key_with_repeated_values_owns_nothing():
    orders = filled("orders", {"n": list(range(60)), "customer_id": CODES[:20] * 3})
    customers = filled("customers", {"customer_id": CODES[:20] * 3, "n": list(range(60))})
    (link,) = workbook_joins([orders[0], customers[0]])
    assert link.weight > 0.8
    assert all(
        link.weight < 0.6
        for link in workbook_joins([orders[0], customers[0]], [*orders[1], *customers[1]])
    )


def test_equal_values_join_columns_whose_headers_have_nothing_in_common():
    deliveries = filled("Deliveries", {"when": list(range(90)), "Consignee": CODES[:30] * 3})
    partners = filled("Partners", {"Short name": CODES[:32], "Since": [2001] * 32})
    assert joined(deliveries, partners) == {("Deliveries", "Partners")}


def test_values_alone_must_nearly_all_be_there():
    deliveries = filled("Deliveries", {"when": list(range(40)), "Consignee": CODES[:40]})
    partners = filled("Partners", {"Short name": CODES[6:50], "Since": [2001] * 44})
    assert joined(deliveries, partners) == set()


def test_numbers_that_count_from_one_and_years_join_nothing_by_themselves():
    one = filled("Tasks", {"Position": list(range(1, 90)), "When": list(range(1950, 2039))})
    other = filled("Sites", {"Rank": list(range(1, 90)), "Built": list(range(1950, 2039))})
    assert joined(one, other) == set()


def test_a_reference_that_is_a_small_part_of_a_long_list_is_found_by_its_header():
    orders = filled("orders", {"n": list(range(20)), "customer_id": CODES[:20]})
    customers = filled("customers", {"customer_id": CODES, "n": list(range(400))})
    assert joined(orders, customers) == {("orders", "customers")}


def test_the_order_of_sheets_changes_nothing():
    sheets = [
        filled("customers", {"id": CODES[:50], "name": CODES[60:110]}),
        filled("orders", {"order_id": CODES[100:200], "customer_id": CODES[:50] * 2}),
        filled("lines", {"order_id": CODES[100:200], "product": CODES[250:350]}),
        filled("products", {"product_id": CODES[250:350], "name": CODES[300:400]}),
        filled("copy of orders", {"order_id": CODES[100:200], "customer_id": CODES[:50] * 2}),
    ]
    expected = workbook_joins([s[0] for s in sheets], [p for s in sheets for p in s[1]])
    for seed in range(5):
        random.Random(seed).shuffle(sheets)
        profiles = [p for s in sheets for p in s[1]]
        random.Random(seed).shuffle(profiles)
        assert workbook_joins([s[0] for s in sheets], profiles) == expected
    assert len(expected) >= 3


def test_the_order_of_many_equal_sheets_changes_nothing():
    sheets = [filled(f"S{n:02}", {"Shop": CODES[:40] * 2, "n": [n] * 80}) for n in range(30)]
    sheets.append(filled("Places", {"Where": CODES[:44], "n": [1] * 44}))
    expected = workbook_joins([s[0] for s in sheets], [p for s in sheets for p in s[1]])
    random.Random(5).shuffle(sheets)
    assert workbook_joins([s[0] for s in sheets], [p for s in sheets for p in s[1]]) == expected
    assert {link.target for link in expected} == {"shop.xlsx#Places"}


def test_sheets_of_one_layout_are_parts_of_one_list_and_join_nothing():
    headers = ("Order ID", "Product", "Customer No", "Amount")
    quarters = [sheet(f"Q{n}", *headers) for n in range(1, 5)]
    assert workbook_joins(quarters) == []
    customers = sheet("Customers", "Customer No", "Name")
    found = shown(workbook_joins([*quarters, customers]))
    assert found == {(quarter.sheet, "Customers") for quarter in quarters}
    there = [replace(each, sheet_id=f"b#{each.sheet}", path="b.xlsx") for each in quarters]
    assert joins_between(workbook_keys(quarters), workbook_keys(there)) == []


def test_two_lists_of_the_same_things_do_not_refer_to_each_other():
    """Row labels of templates: each table lists the same states, none is their list."""
    one = filled("Vehicles", {"Unit: vehicles": CODES[:51], "a": [1] * 51})
    other = filled("Fares", {"Unit: dollars": CODES[:50], "b": [1] * 50})
    third = filled("Loads", {"Unit: dollars": CODES[:50], "c": [1] * 50})
    assert joined(one, other, third) == set()
    elsewhere = filled("Fares", {"Unit": CODES[:50], "b": [1] * 50}, workbook="b.xlsx")
    assert between(one, elsewhere) == []


def test_values_alone_do_not_choose_among_many_lists_of_the_same_things():
    sales = filled("Sales", {"When": list(range(90)), "Consignee": CODES[:30] * 3})
    lists = [
        filled(name, {f"In {name}": CODES[:32], f"{name} total": [1] * 32})
        for name in ("North", "South", "East")
    ]
    assert joined(sales, *lists[:2]) == {("Sales", "North"), ("Sales", "South")}
    assert joined(sales, *lists) == set()


def test_a_plain_column_of_one_value_refers_to_nothing_but_a_named_key_does():
    stays = filled("Stay", {"Bed": CODES[:20], "Patient": CODES[:1] * 20})
    keyed = filled("Stay", {"Bed": CODES[:20], "Patient ID": CODES[:1] * 20})
    for _record, profiles in (stays, keyed):
        del profiles[1]  # as the reader leaves it out
    patients = filled("Patient", {"Patient": CODES[:20], "Age": [40] * 20})
    assert joined(stays, patients) == set()
    assert joined(keyed, patients) == {("Stay", "Patient")}


def test_an_owner_by_values_alone_leads_its_table_or_is_named_a_key():
    sales = filled("Sales", {"When": list(range(90)), "Consignee": CODES[:30] * 3})
    inner = filled("Depots", {"Lot": [1, 2] * 16, "Label": CODES[:32]})
    named = filled("Depots", {"Lot": [1, 2] * 16, "Depot code": CODES[:32]})
    assert joined(sales, inner) == set()
    assert joined(sales, named) == {("Sales", "Depots")}


@pytest.mark.parametrize("time", ["2022", "Jan", "Q1 2024", "FY24", "1月"])
def test_a_column_for_a_time_does_not_refer_to_the_sheet_of_that_time(time):
    assert workbook_joins([sheet("Summary", "Shop", time), sheet(time, "Code", "Amount")]) == []


HEADERS = st.lists(st.sampled_from(["id", "a_id", "b id", "Name", "a", "", "x" * 300, "№ 7", "b"]))


@given(st.lists(st.tuples(st.text(max_size=8), HEADERS), max_size=8), st.integers())
@settings(max_examples=150)
def test_any_workbook_gives_sound_links_in_any_order(content, seed):
    sheets = [sheet(f"{n}{name}", *headers) for n, (name, headers) in enumerate(content)]
    links = workbook_joins(sheets)
    random.Random(seed).shuffle(sheets)
    assert workbook_joins(sheets) == links
    ids = {each.sheet_id for each in sheets}
    for link in links:
        assert {link.source, link.target} <= ids
        assert link.source != link.target
        assert 0 < link.weight <= 1
        assert len(link.evidence) <= 200
        assert "\n" not in link.evidence


def test_work_for_sheets_with_equal_headers_grows_linearly():
    headers = ("order_id", "customer_id", "dept_code", "product", "amount")

    def work(count):
        sheets = [sheet(f"S{n}", *headers) for n in range(count)]
        links = []
        spent = lines_run(
            lambda: links.extend(
                workbook_joins([*sheets, sheet("customers", "customer_id", "name")])
            )
        )
        assert len(links) <= 3 * count
        assert shown(links) >= {(each.sheet, "customers") for each in sheets}
        return spent

    work(100)  # fills what is remembered of names
    assert work(800) < 6 * work(200)  # 4 is linear, 16 quadratic


def test_a_thousand_sheets_with_equal_values_give_few_links():
    _, profiles = filled("S", {"Shop": CODES[:40], "Partner": CODES[100:140]})
    sheets = [sheet(f"S{n}", "Shop", "Partner") for n in range(1000)]
    own = [
        ColumnProfile(f"S{n}", 0, p.column, p.values, p.distinct, p.sketch)
        for n in range(1000)
        for p in profiles
    ]
    start = time.process_time()
    links = workbook_joins(sheets, own)
    assert time.process_time() - start < 8
    assert len(links) <= 4 * len(sheets)


def test_a_real_workbook_is_joined_by_its_headers_and_values(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "shop.xlsx") as book:
        orders, customers = book.add_worksheet("Orders"), book.add_worksheet("Customers")
        orders.write_row(0, 0, ("Order ID", "Customer ID", "Amount"))
        customers.write_row(0, 0, ("ID", "Name", "City"))
        for n in range(40):
            orders.write_row(n + 1, 0, (f"O{n:03}", CODES[n % 20], n * 1.5))
        for n in range(25):
            customers.write_row(n + 1, 0, (CODES[n], f"Name {n}", f"City {n % 3}"))
    read = read_workbook(tmp_path / "shop.xlsx")
    (link,) = workbook_joins(read.records, read.profiles)
    assert (link.source, link.target) == ("shop.xlsx#Orders", "shop.xlsx#Customers")
    assert link.evidence == "Orders.Customer ID = Customers.ID (20 of 20 values)"


# ---- between workbooks


def between(one, other):
    return joins_between(keys(one), keys(other))


def test_workbooks_join_by_a_specific_header_and_equal_values():
    orders = filled("Orders", {"n": list(range(60)), "customer_id": CODES[:30] * 2})
    customers = filled("Customers", {"id": CODES[:40], "n": [1] * 40}, workbook="crm.xlsx")
    (link,) = between(orders, customers)
    assert (link.source, link.target) == ("shop.xlsx#Orders", "crm.xlsx#Customers")
    assert link.evidence == "Orders.customer_id = Customers.id (30 of 30 values)"
    assert between(customers, orders) == [link]


def test_headers_alone_weigh_less_across_workbooks_than_within_one():
    orders = sheet("Orders", "order_id", "customer_id")
    here = sheet("Customers", "customer_id", "name")
    there = sheet("Customers", "customer_id", "name", workbook="crm.xlsx")
    (within,) = workbook_joins([orders, here])
    (across,) = between((orders,), (there,))
    assert 0.2 < across.weight < within.weight


def test_headers_alone_do_not_leave_a_workbook_that_has_the_sheet_they_name():
    here = [sheet("Orders", "order_id", "customer_id"), sheet("Customers", "customer_id", "name")]
    there = workbook_keys([sheet("Customers", "customer_id", "name", workbook="crm.xlsx")])
    assert joins_between(workbook_keys(here[:1]), there) != []
    assert joins_between(workbook_keys(here), there) == []
    assert joins_between(there, workbook_keys(here)) == []


def test_a_sheet_does_not_settle_its_own_key():
    keys_here = workbook_keys([sheet("Customers", "customer_id"), sheet("Orders", "customer_id")])
    assert [(key.sheet, key.settled) for key in keys_here] == [
        ("Customers", False),
        ("Orders", True),
    ]


def test_values_join_workbooks_even_if_both_have_such_a_sheet():
    orders = filled("Orders", {"n": list(range(60)), "customer_id": CODES[:30] * 2})
    here = filled("Customers", {"id": CODES[:30], "n": [1] * 30})
    there = filled("Customers", {"id": CODES[:40], "n": [1] * 40}, workbook="crm.xlsx")
    own = workbook_keys([orders[0], here[0]], [*orders[1], *here[1]])
    links = joins_between(own, keys(there))
    assert ("Orders", "Customers") in shown(links)


def test_generic_headers_join_no_workbooks():
    one = (sheet("A", "id", "name", "date"),)
    other = (sheet("B", "id", "name", "date", workbook="crm.xlsx"),)
    assert between(one, other) == []


def test_equal_values_join_workbooks_whose_headers_differ():
    one = filled("Versand", {"Empfänger": CODES[:200], "n": list(range(200))})
    other = filled("Partners", {"Legal name": CODES[:250], "x": [1] * 250}, workbook="crm.xlsx")
    columns, others = keys(one), keys(other)
    shared = set(columns[0].blocks) & set(others[0].blocks)
    assert shared
    assert all(block.startswith("v:") for block in shared)
    (link,) = joins_between(columns, others)
    assert link.source == "shop.xlsx#Versand"
    assert link.evidence.startswith("Versand.Empfänger = Partners.Legal name (")


def test_values_that_differ_share_no_block_and_small_numbers_have_none():
    one = keys(filled("A", {"Who": CODES[:200]}))
    other = keys(filled("B", {"What": CODES[200:]}, workbook="crm.xlsx"))
    assert not set(one[0].blocks) & set(other[0].blocks)
    counted = keys(filled("C", {"Position_id": list(range(1, 300))}))
    assert [block for key in counted for block in key.blocks] == ["h:position"]


def test_columns_of_one_workbook_are_not_joined_across():
    orders = sheet("Orders", "order_id", "customer_id")
    customers = sheet("Customers", "customer_id", "name")
    assert between((orders,), (customers,)) == []


def test_a_sheet_has_few_keys_with_few_short_blocks():
    columns = {f"thing {n} id": [f"{n}-{m * 7}" for m in range(200)] for n in range(30)}
    found = keys(filled("Wide", columns))
    assert len(found) == MAX_KEYS
    for key in found:
        assert len(key.blocks) <= 12
        assert all(len(block) <= 12 for block in key.blocks if block.startswith("v:"))
        assert 300 < len(key.sketch) <= 344


def test_common_blocks_say_nothing():
    orders = keys((sheet("Orders", "order_id", "customer_id"),))
    lists = [
        key
        for n in range(BLOCK_LIMIT)
        for key in keys((sheet("Customers", "customer_id", workbook=f"{n}.xlsx"),))
    ]
    assert len(joins_between(orders, lists)) == BLOCK_LIMIT
    one_more = keys((sheet("Customers", "customer_id", workbook="x.xlsx"),))
    assert joins_between(orders, [*lists, *one_more]) == []


def test_a_join_does_not_depend_on_how_many_others_a_column_has():
    wide = keys(filled("Wide", {"customer id": CODES}, workbook="wide.xlsx"))
    draw = random.Random(1)
    likes = [
        key
        for n in range(110)  # each shares one or two of the eight blocks
        for key in keys(filled("Like", {f"x{n}": draw.sample(CODES, 230)}, workbook=f"{n}.xlsx"))
    ]
    together = joins_between(wide, likes)
    assert len(together) > 2 * BLOCK_LIMIT
    shared = {block for key in wide for block in key.blocks}
    rare = {b for b in shared if sum(b in key.blocks for key in likes) <= BLOCK_LIMIT}
    alone = [replace(key, blocks=tuple(rare.intersection(key.blocks))) for key in likes]
    found = [link for key in alone for link in joins_between(wide, [key])]
    assert sorted(found, key=lambda x: (x.source, x.target)) == together


def test_the_order_of_columns_changes_nothing():
    orders = keys(filled("Orders", {"n": list(range(60)), "customer_id": CODES[:30] * 2}))
    lists = [
        key
        for n in range(12)
        for key in keys(filled("Customers", {"id": CODES[: 30 + n]}, workbook=f"{n}.xlsx"))
    ]
    expected = joins_between(orders, lists)
    random.Random(1).shuffle(lists)
    assert joins_between(orders, lists) == expected
    assert len(expected) == 12


def test_it_does_not_matter_which_workbook_comes_first():
    books = [
        keys(filled("Customers", {"customer_id": CODES[:60]}, workbook="crm.xlsx")),
        keys(filled("Orders", {"n": list(range(60)), "customer_id": CODES[:30] * 2})),
        keys(filled("Calls", {"c": CODES[300:330], "customer_id": CODES[:30]}, workbook="b.xlsx")),
    ]
    found = []
    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2)):
        links, seen = set(), []
        for place in order:
            links.update(joins_between(books[place], seen))
            seen += books[place]
        found.append(links)
    assert found[0] == found[1] == found[2]
    assert len(found[0]) >= 2
