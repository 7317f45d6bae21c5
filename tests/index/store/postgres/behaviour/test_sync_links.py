"""The tests of `tests/index/sync/test_sync_links.py` with an index in PostgreSQL."""

from tests.index.store.postgres.mapped import in_postgres, without  # noqa: F401
from tests.index.sync.test_sync_links import *  # noqa: F403

without(
    globals(),
    ("test_values_stay_out_of_the_evidence_of_an_index_without_examples",),
)
