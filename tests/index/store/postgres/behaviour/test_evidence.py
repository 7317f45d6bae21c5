"""The tests of `tests/index/search/test_evidence.py` with an index in PostgreSQL."""

from tests.index.search.test_evidence import *  # noqa: F403
from tests.index.store.postgres.mapped import in_postgres  # noqa: F401
