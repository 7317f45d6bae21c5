"""Queries and words in replies, however models wrap them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.llm.served import without_reasoning
from sat_retriever.tools.engine.prompts import NO_ANSWER
from sat_retriever.tools.engine.reply import WordStream, query_of


@pytest.mark.parametrize(
    ("reply", "query"),
    [
        ("```sql\nSELECT 1\n```", "SELECT 1"),
        ("```\nSELECT 1\n```", "SELECT 1"),
        ("```SQL \r\nSELECT 1\r\n```", "SELECT 1"),
        ("```duckdb\nSELECT 1", "SELECT 1"),
        ("First:\n```sql\nSELECT 1\n```\nNo, rather:\n```sql\nSELECT 2\n```", "SELECT 2"),
        ("  select 1;", "select 1;"),
        ("-- all\nWITH a AS (SELECT 1) FROM a", "-- all\nWITH a AS (SELECT 1) FROM a"),
        ("<think>```sql\nSELECT 0\n```</think>SELECT 1", "SELECT 1"),
        ("I select ```sql\nSELECT 0\n``` no.</think>SELECT 1", "SELECT 1"),
        ("SELECT 0</think>", None),
        ("NO SQL", None),
        ("```\nNO SQL\n```", None),
        ("```sql\nSELECT 1\n```\nIt gives:\n```\n| a |\n```", "SELECT 1"),
        ("```sql SELECT 1```", "SELECT 1"),
        ("/* c */ (SELECT 1) UNION SELECT 2", "/* c */ (SELECT 1) UNION SELECT 2"),
        ("```sqlite\nSELECT 1\n```", "SELECT 1"),
        ("```text\nIt is:\n```\n```duckdb-sql\nSELECT 1\n```", "SELECT 1"),
        ("```SELECT\n 1```", "SELECT\n 1"),
        ("~~~sql\nSELECT 1\n~~~", "SELECT 1"),
        ("SQL: SELECT 1", "SELECT 1"),
        ("Here is the query:\nSELECT 1", "SELECT 1"),
        ('WITH "a b" AS (SELECT 1) FROM "a b"', 'WITH "a b" AS (SELECT 1) FROM "a b"'),
        ("/* a */ " * 50 + "x", None),
        ("It is: five.", None),
        ("With the tables given, this cannot be answered.", None),
        ("From these tables it is not possible.", None),
        ("I would select the rows of Ada.", None),
        ("", None),
        ("``` ```", None),
        ("```sql\n```", None),
    ],
)
def test_a_query_is_found_in_a_reply(reply, query):
    assert query_of(reply) == query


_PART = st.sampled_from(
    ["<think>", "</think>", " ", "\n", "<", "th", "five", "<b>", "NO ", "ANSWER"]
)


@given(st.lists(_PART | st.text(), max_size=8))
def test_words_in_pieces_are_the_words_of_the_whole_reply(pieces):
    stream = WordStream()
    shown = "".join(stream.shown(piece) for piece in pieces)
    words = without_reasoning(stream.said)
    assert stream.said == "".join(pieces)
    assert stream.begun == bool(shown)
    if "</think>" in shown:  # nobody could know that this was no answer yet
        assert without_reasoning(shown) == words
    elif words.startswith(NO_ANSWER):
        assert shown == ""
    elif not any(mark.startswith(words) for mark in ("<think>", NO_ANSWER)):
        assert shown.strip() == words
    else:  # what may still become a mark is told at the end
        assert shown.strip() in ("", words)
