"""`python -m benchmarks llm-server`: what it refuses before anything is fetched."""

import pytest

from benchmarks.__main__ import main
from benchmarks.answers import llm_server


@pytest.mark.parametrize("more", [[], ["--program", "llama-server"]])
def test_weights_of_8_bits_are_refused_where_they_would_be_ignored(more, monkeypatch, capsys):
    monkeypatch.setattr(llm_server, "fetched", lambda _: pytest.fail("fetched"))
    with pytest.raises(SystemExit) as ended:
        main(["llm-server", "--int8", *more])
    assert ended.value.code == 2
    assert "--int8 is for PyTorch alone: add --torch, or leave" in capsys.readouterr().err
