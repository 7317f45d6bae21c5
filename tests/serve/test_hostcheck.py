import asyncio

import pytest

from sat_retriever import InputError
from sat_retriever.serve.guard import HostCheck, host_of


async def app(_scope, _receive, send):
    await send({"type": "reached"})


def answer(headers, names=("localhost",), kind="http"):
    """Types and status of what an application sends that is reached by these names."""
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request"}

    asyncio.run(
        HostCheck(app, names)({"type": kind, "path": "/", "headers": headers}, receive, send)
    )
    return sent[0].get("status", sent[0]["type"])


def test_only_one_known_host_reaches_the_application():
    assert answer([(b"host", b"localhost")]) == "reached"
    assert answer([(b"Host", b"localhost")]) == "reached"
    assert answer([]) == 421
    assert answer([(b"host", b"localhost")] * 2) == 421
    assert answer([(b"host", b"localhost"), (b"host", b"evil.com")]) == 421
    assert answer([(b"host", b"\xff")]) == 421


def test_what_is_no_request_passes():
    assert answer([], kind="lifespan") == "reached"


def test_a_host_has_one_spelling():
    assert {host_of(each) for each in ("A.example", "a.EXAMPLE.", "a.example:80")} == {"a.example"}
    assert {host_of(each) for each in ("[::1]", "[0::0:1]:9")} == {"::1"}


@pytest.mark.parametrize(
    "name", ["", "a b", "reports.example:80", "http://a", "a@b", "tür.example"]
)
def test_a_name_that_is_no_host_is_the_users_error(name):
    with pytest.raises(InputError, match="is not a host name"):
        HostCheck(app, [name])
