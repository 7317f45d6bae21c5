import psycopg
import pytest


@pytest.fixture(scope="module")
def admin(postgres):
    """A connection with all rights."""
    with psycopg.connect(postgres.conninfo, autocommit=True) as connection:
        yield connection
