"""The tests of `tests/index/search/test_contents.py` with an index in PostgreSQL."""

from tests.index.search.test_contents import *  # noqa: F403
from tests.index.store.postgres.mapped import in_postgres, without  # noqa: F401

without(
    globals(),
    (
        "test_a_removed_sheet_leaves_no_word_behind",
        "test_a_changed_sheet_keeps_the_spellings_that_it_or_a_name_still_has",
        "test_words_of_a_deleted_sheet_that_stayed_in_the_file_are_passed_over",
        "test_damaged_words_are_written_anew_by_verifying",
        "test_an_index_from_before_main_sheets_finds_them_from_names",
        "test_a_damaged_name_in_an_index_from_before_does_not_keep_it_from_opening",
    ),
)
