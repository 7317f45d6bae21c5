"""Comments, shapes and charts of a workbook's sheets, read through `read_workbook`."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sat_retriever import Limits, read_workbook
from sat_retriever.records.contents import CellText, TextKind
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.tables.notes import BESIDE_ROOM
from tests.beside_cells import (
    OFFICE,
    SHEET_RELS,
    THREADS,
    anchor,
    drawing,
    drawn,
    made_book,
    notes,
    plain_book,
    rels,
    shape,
    threads,
)

CHART_RELS = "xl/drawings/_rels/drawing1.xml.rels"
FRAME = '<xdr:graphicFrame><xdr:nvGraphicFramePr><xdr:cNvPr id="3" name="Chart 1"/>' \
    '</xdr:nvGraphicFramePr><c:chart xmlns:c="c" r:id="c"/></xdr:graphicFrame>'  # fmt: skip
ADVICE = (
    "[Comentario encadenado]\n\nSu versión le permite leer este comentario. Más información: "
    "https://go.microsoft.com/fwlink/?linkid=870924\n\nComentario:\n    "
)


def beside(path, **options):
    """(kind, cell, text) of what no cell of the only sheet holds."""
    [record] = read_workbook(path, **options).records
    found = [each for each in record.contents.notes if each.kind is not TextKind.CELL]
    return [(each.kind.value, each.cell, each.text) for each in found]


def commented(path, comments=None, threaded=None, **parts):
    rows = [("c", f"{OFFICE}/comments", "/xl/comments1.xml")] if comments is not None else []
    if threaded is not None:
        rows += [("t", f"{THREADS}/threadedComment", "../threadedComments/threadedComment1.xml")]
    found = {
        SHEET_RELS: rels(*rows),
        "xl/comments1.xml": comments,
        "xl/threadedComments/threadedComment1.xml": threaded,
    }
    found = {name: text for name, text in (found | parts).items() if text is not None}
    return plain_book(path, found)


def test_comments_and_charts_that_openpyxl_wrote_are_read_with_their_cells(tmp_path):
    assert beside(made_book(tmp_path / "a.xlsx")) == [
        ("comment", "B3", "Estimated from registrations"),
        ("chart", "D6", "Deregistered vehicles; Kind of vehicle"),
    ]


def test_cells_and_tables_are_as_without_them(tmp_path):
    [bare] = read_workbook(plain_book(tmp_path / "a.xlsx")).records
    [record] = read_workbook(made_book(tmp_path / "b.xlsx")).records
    for name in ("tables", "columns", "range", "num_rows", "num_cols", "role", "header_row"):
        assert getattr(record, name) == getattr(bare, name), name
    assert record.contents.tables == bare.contents.tables


def test_shapes_are_read_in_groups_too_each_at_the_cell_of_its_top_left_corner(tmp_path):
    inmost = f"<xdr:grpSp>{shape('Innermost')}</xdr:grpSp>"
    group = f"<xdr:grpSp><xdr:grpSpPr/>{shape('Inner')}{inmost}</xdr:grpSp>"
    path = drawn(
        tmp_path / "a.xlsx",
        anchor(3, 1, shape("Scrap|page of", "light vehicles")),
        anchor(0, 29, group),
        f"<xdr:absoluteAnchor>{shape('By lengths')}</xdr:absoluteAnchor>",
        anchor(1, 0, shape("", " ")),
    )
    assert beside(path) == [
        ("shape", "A1", "By lengths"),
        ("shape", "D2", "Scrappage of light vehicles"),
        ("shape", "A30", "Inner"),
        ("shape", "A30", "Innermost"),
    ]


def test_what_programs_show_instead_of_a_newer_part_is_no_text(tmp_path):
    both = (
        f"<mc:AlternateContent><mc:Choice Requires='a14'>{shape('Real')}</mc:Choice>"
        f"<mc:Fallback>{shape('This shape cannot be shown')}</mc:Fallback></mc:AlternateContent>"
    )
    path = drawn(tmp_path / "a.xlsx", anchor(0, 5, both), anchor(0, 9, shape("After")))
    assert beside(path) == [("shape", "A6", "Real"), ("shape", "A10", "After")]


def chart_of(title):
    return {
        CHART_RELS: rels(("c", f"{OFFICE}/chart", "/xl/charts/chart1.xml")),
        "xl/charts/chart1.xml": f'<c:chartSpace xmlns:c="c" xmlns:a="a"><c:chart>{title}'
        "<c:plotArea><c:ser><c:tx><c:strRef><c:f>'7.1'!$B$1</c:f><c:strCache><c:pt><c:v>Share"
        "</c:v></c:pt></c:strCache></c:strRef></c:tx></c:ser></c:plotArea></c:chart></c:chartSpace>",
    }


LINKED = (
    "<c:title><c:tx><c:strRef><c:f>'7.1'!$A$9</c:f><c:strCache><c:ptCount val='1'/>"
    "<c:pt idx='0'><c:v>Saved title</c:v></c:pt></c:strCache></c:strRef></c:tx></c:title>"
)


def test_a_title_that_shows_a_cell_is_read_as_it_was_saved(tmp_path):
    path = drawn(tmp_path / "a.xlsx", anchor(4, 7, FRAME), more=chart_of(LINKED))
    assert beside(path) == [("chart", "E8", "Saved title")]
    [source] = read_workbook(path).structure.sources
    assert (source.text, source.place) == ("'7.1'!$A$9", "Chart 1")


def test_a_chart_without_a_title_has_no_text(tmp_path):
    path = drawn(
        tmp_path / "a.xlsx", anchor(4, 7, FRAME), more=chart_of("<c:title><c:txPr/></c:title>")
    )
    assert beside(path) == []


def test_texts_of_cells_elsewhere_are_left_out_where_columns_are_skipped(tmp_path):
    boxes = (
        anchor(4, 7, FRAME),
        anchor(0, 8, shape("4,100", link="$B$2")),
        anchor(0, 9, shape("Own")),
    )
    path = drawn(tmp_path / "a.xlsx", *boxes, more=chart_of(LINKED))
    assert len(beside(path)) == 3
    assert beside(path, skip_columns="salary") == [("shape", "A10", "Own")]


def test_comments_on_skipped_columns_are_not_kept(tmp_path):
    path = commented(
        tmp_path / "a.xlsx", notes(("B2", 0, "Was 2"), ("A2", 0, "Cars"), ("B30", 0, "Far"))
    )
    assert [cell for _, cell, _ in beside(path)] == ["A2", "B2", "B30"]
    assert [cell for _, cell, _ in beside(path, skip_columns="^Share$")] == ["A2", "B30"]


@pytest.mark.parametrize("level", ["names", "examples"])
def test_nothing_is_kept_where_no_contents_are(tmp_path, level):
    book = read_workbook(made_book(tmp_path / "a.xlsx"), contents=level)
    assert [record.contents for record in book.records] == [None]
    assert len(book.structure.sources) == 1


def test_a_thread_is_read_once_with_its_replies(tmp_path):
    copy = notes(
        ("B2", 0, f"{ADVICE}Is this right?\nRespuesta:\n    Yes"),
        ("A3", 1, "Bob:\nA note"),
        authors=("tc={0}", "Bob"),
    )
    path = commented(tmp_path / "a.xlsx", copy, threads(("B2", "Is this right?"), ("B2", "Yes")))
    assert beside(path) == [
        ("comment", "B2", "Is this right?"),
        ("comment", "B2", "Yes"),
        ("comment", "A3", "A note"),
    ]


def test_the_copy_of_a_thread_that_was_lost_is_read_without_its_advice(tmp_path):
    path = commented(tmp_path / "a.xlsx", notes(("B2", 0, f"{ADVICE}Is this right?")))
    assert beside(path) == [("comment", "B2", "Is this right?")]


def test_notes_are_read_beside_a_broken_thread(tmp_path):
    copy = notes(("B2", 0, f"{ADVICE}Is this right?"))
    path = commented(tmp_path / "a.xlsx", copy, "<threadedComments><threadedComment")
    assert beside(path) == [("comment", "B2", "Is this right?")]


def test_a_name_that_is_not_the_authors_stays(tmp_path):
    path = commented(tmp_path / "a.xlsx", notes(("B2", 0, "Bob:\nhello"), ("B3", 9, "Ada:\nhi")))
    assert [text for *_, text in beside(path)] == ["Bob: hello", "Ada: hi"]


def test_escapes_stand_for_characters_and_how_a_text_is_said_is_no_part_of_it(tmp_path):
    part = notes(
        ("B2", 0, "Two_x000a_lines _xD800_ _x0000_ here</t></r><rPh><t>said</t></rPh><r><t>.")
    )
    assert beside(commented(tmp_path / "a.xlsx", part)) == [("comment", "B2", "Two lines here.")]


def test_the_same_text_is_told_once_and_cells_come_first(tmp_path):
    path = drawn(tmp_path / "a.xlsx", anchor(5, 0, shape("Twice")), anchor(6, 0, shape("Twice")))
    assert beside(path) == [("shape", "F1", "Twice")]


def test_many_comments_leave_the_texts_of_cells_and_shapes_their_room(tmp_path):
    many = notes(*((f"A{row}", 0, f"Comment number {row} on a row") for row in range(10, 10_010)))
    parts = {
        SHEET_RELS: rels(
            ("c", f"{OFFICE}/comments", "../comments1.xml"),
            ("d", f"{OFFICE}/drawing", "../drawings/drawing1.xml"),
        ),
        "xl/comments1.xml": many,
        "xl/drawings/drawing1.xml": drawing(anchor(0, 50_000, shape("Scrappage"))),
    }
    path = plain_book(tmp_path / "a.xlsx", parts)
    [bare] = read_workbook(plain_book(tmp_path / "b.xlsx")).records
    [record] = read_workbook(path).records
    assert record.contents.tables == bare.contents.tables
    found = beside(path)
    assert ("shape", "A50001", "Scrappage") in found
    assert 300 < len(found) < 500
    assert sum(len(text) for *_, text in found) < BESIDE_ROOM
    rows = [int(cell[1:]) for _, cell, _ in found]
    assert rows == sorted(rows)
    assert rows[0] < 200 and rows[-2] > 9_800  # from all over the sheet


def test_a_long_text_is_cut_into_several(tmp_path):
    words = " ".join(f"word{number}" for number in range(300))
    found = beside(drawn(tmp_path / "a.xlsx", anchor(0, 9, shape(words))))
    assert " ".join(text for *_, text in found) == words
    assert max(len(text) for *_, text in found) <= 500


BOMB = '<!DOCTYPE c [<!ENTITY a "b"><!ENTITY b "&a;&a;">]><c>&b;</c>'


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        (BOMB, SkipReason.XML_BOMB),
        ("<c>" * 100_000, SkipReason.XML_BOMB),
        ("<comments><comment ref='B2'", SkipReason.DAMAGED),
        ("\x00\x01", SkipReason.DAMAGED),
        (f"<c>{'<d/>' * 3_000_000}</c>", SkipReason.TOO_LARGE),
        (None, SkipReason.DAMAGED),
    ],
    ids=["bomb", "deep", "cut", "binary", "huge", "missing"],
)
@pytest.mark.parametrize("broken", ["comments1", "drawings/drawing1", "charts/chart1"])
def test_a_broken_part_costs_itself_alone_and_is_told(tmp_path, broken, part, reason):
    parts = {
        SHEET_RELS: rels(
            ("d", f"{OFFICE}/drawing", "../drawings/drawing1.xml"),
            ("c", f"{OFFICE}/comments", "../comments1.xml"),
        ),
        "xl/drawings/drawing1.xml": drawing(anchor(0, 7, shape("Box")), anchor(0, 8, FRAME)),
        "xl/comments1.xml": notes(("B2", 0, "Comment")),
        **chart_of(LINKED),
    }
    name = f"xl/{broken}.xml"
    kept = {key: text for key, text in (parts | {name: part}).items() if text is not None}
    path = plain_book(tmp_path / "a.xlsx", kept)
    book = read_workbook(path)
    assert [(each.sheet, each.reason) for each in book.skipped] == [("7.1", reason)]
    assert name in book.skipped[0].message
    [record] = book.records
    assert [column.name for column in record.columns] == ["Type", "Share"]
    assert not record.partial
    # A chart whose place is lost with its drawing is still a chart.
    lost = {"comments1": "Comment", "drawings/drawing1": "Box", "charts/chart1": "Saved title"}
    assert {text for *_, text in beside(path)} == {*lost.values()} - {lost[broken]}


def test_what_stands_before_the_damage_is_read(tmp_path):
    part = notes(("B2", 0, "Before"), ("B3", 0, "Behind")).replace("Behind", "Be<hind")
    assert beside(commented(tmp_path / "a.xlsx", part)) == [("comment", "B2", "Before")]


def test_parts_that_lead_in_a_circle_or_out_of_the_file_are_read_once_or_not_at_all(tmp_path):
    parts = {
        SHEET_RELS: rels(
            ("a", f"{OFFICE}/drawing", "../drawings/drawing1.xml"),
            ("b", f"{OFFICE}/drawing", "/xl/drawings/../drawings/drawing1.xml"),
            ("c", f"{OFFICE}/comments", "../worksheets/sheet1.xml"),
        ).replace(
            "</Relationships>",
            f'<Relationship Id="x" Type="{OFFICE}/comments" TargetMode="External" '
            'Target="file:///etc/passwd"/></Relationships>',
        ),
        "xl/drawings/drawing1.xml": drawing(anchor(0, 7, shape("Box")), anchor(0, 8, FRAME)),
        CHART_RELS: rels(("c", f"{OFFICE}/chart", "drawing1.xml")),
    }
    path = plain_book(tmp_path / "a.xlsx", parts)
    assert beside(path) == [("shape", "A8", "Box")]
    assert read_workbook(path).skipped == ()


def test_drawings_have_a_budget_of_their_own_which_costs_no_cell(tmp_path):
    boxes = "".join(anchor(0, row, shape(f"Box {row}")) for row in range(5_000))
    path = drawn(tmp_path / "a.xlsx", boxes)
    book = read_workbook(path, limits=Limits(xml_bytes=2 << 20))
    assert [each.reason for each in book.skipped] == [SkipReason.TOO_LARGE]
    assert not book.records[0].partial
    assert read_workbook(path).skipped == ()


@pytest.mark.parametrize(
    "place", ["<xdr:col>-1</xdr:col><xdr:row>x</xdr:row>", "", "<xdr:row>99999999</xdr:row>"]
)
def test_a_place_that_is_none_is_at_an_edge(tmp_path, place):
    text = f"<xdr:oneCellAnchor><xdr:from>{place}</xdr:from>{shape('Box')}</xdr:oneCellAnchor>"
    [(kind, cell, text)] = beside(drawn(tmp_path / "a.xlsx", text))
    assert (kind, text) == ("shape", "Box")
    assert cell in ("A1", "A1048576")


def test_a_comment_on_no_cell_is_left_out(tmp_path):
    part = notes(("", 0, "Nowhere"), ("ZZZ9", 0, "Beyond"), ("$C$4", 0, "Here"))
    assert beside(commented(tmp_path / "a.xlsx", part)) == [("comment", "C4", "Here")]


TAGS = st.sampled_from(
    "xdr:sp xdr:grpSp xdr:from xdr:col xdr:row a:t a:p a:br mc:Fallback xdr:cNvPr c:chart c:title "
    "c:v c:f comment text author t rPh threadedComment".split()
)
TREES = st.recursive(
    st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12),
    lambda inner: st.tuples(TAGS, st.lists(inner, max_size=4)),
    max_leaves=25,
)


def written(tree):
    if isinstance(tree, str):
        return tree.replace("&", "&amp;").replace("<", "&lt;")
    tag, inner = tree
    return f'<{tag} ref="B2" r:id="c" name="n">{"".join(map(written, inner))}</{tag}>'


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(tree=TREES, cut=st.integers(0, 400))
def test_elements_in_any_order_and_cut_anywhere_cost_no_cell(tmp_path, tree, cut):
    xml = f"<x {NAMES_OF_ALL}>{written(tree)}</x>"
    xml = xml[: len(xml) - cut] if cut % 3 == 0 else xml
    parts = {
        SHEET_RELS: rels(
            ("d", f"{OFFICE}/drawing", "../drawings/drawing1.xml"),
            ("c", f"{OFFICE}/comments", "../comments1.xml"),
            ("t", f"{THREADS}/threadedComment", "../threads.xml"),
        ),
        CHART_RELS: rels(("c", f"{OFFICE}/chart", "../charts/chart1.xml")),
    }
    texts = ("drawings/drawing1", "charts/chart1", "comments1", "threads")
    parts |= {f"xl/{name}.xml": xml for name in texts}
    [record] = read_workbook(plain_book(tmp_path / "a.xlsx", parts)).records
    assert [column.name for column in record.columns] == ["Type", "Share"]
    assert all(type(each) is CellText and each.text for each in record.contents.notes)


NAMES_OF_ALL = " ".join(f'xmlns:{each}="{each}"' for each in ("xdr", "a", "mc", "c", "r"))
