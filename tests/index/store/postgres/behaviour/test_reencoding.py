"""The tests of `tests/index/sync/test_reencoding.py` with an index in PostgreSQL."""

from tests.index.store.postgres.mapped import in_postgres, without  # noqa: F401
from tests.index.sync.test_reencoding import *  # noqa: F403

without(
    globals(),
    (
        "test_tokens_that_are_not_one_a_sheet_are_refused",
        "test_killed_on_the_way_the_old_index_is_whole",
        "test_a_full_disk_leaves_the_old_index",
    ),
)
