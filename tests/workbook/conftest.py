import pytest

from sat_retriever.workbook.process.pool import close_idle


@pytest.fixture(scope="session", autouse=True)
def no_worker_is_left_behind():
    yield
    close_idle()
