"""The tests of `tests/index/sync/test_sync.py` with an index in PostgreSQL."""

from tests.index.store.postgres.mapped import in_postgres, without  # noqa: F401
from tests.index.sync.test_sync import *  # noqa: F403

without(
    globals(),
    ("test_a_damaged_workbook_that_cannot_be_opened_is_named_and_read_once_it_can",),
)
