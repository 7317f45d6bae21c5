"""The tests of `tests/index/test_times.py` with an index in PostgreSQL."""

from tests.index.store.postgres.mapped import in_postgres, without  # noqa: F401
from tests.index.test_times import *  # noqa: F403

without(
    globals(),
    (
        "test_an_index_of_an_older_version_learns_its_sheets_times",
        "test_many_may_open_an_old_index_at_once",
    ),
)
