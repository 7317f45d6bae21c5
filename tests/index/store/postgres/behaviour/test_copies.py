"""The tests of `tests/index/test_copies.py` with an index in PostgreSQL."""

from tests.index.store.postgres.mapped import in_postgres  # noqa: F401
from tests.index.test_copies import *  # noqa: F403
