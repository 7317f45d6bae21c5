"""The tests of `tests/index/sync/test_encoding.py` with an index in PostgreSQL."""

from tests.index.store.postgres.mapped import in_postgres, without  # noqa: F401
from tests.index.sync.test_encoding import *  # noqa: F403

without(
    globals(),
    (
        "test_tokens_of_an_older_text_are_made_anew_with_their_workbooks_or_by_reencoding",
        "test_changed_and_removed_sheets_are_read_anew_and_others_kept",
        "test_a_damaged_token_is_told_and_its_sheet_is_taken_out",
        "test_a_missing_token_is_found_by_verifying",
        "test_a_changed_token_of_a_file_is_read_anew_by_verifying",
    ),
)
