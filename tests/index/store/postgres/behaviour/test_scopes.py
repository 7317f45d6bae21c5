"""The tests of `tests/index/sync/test_scopes.py` with an index in PostgreSQL."""

from tests.index.store.postgres.mapped import in_postgres  # noqa: F401
from tests.index.sync.test_scopes import *  # noqa: F403
