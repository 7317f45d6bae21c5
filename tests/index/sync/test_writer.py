"""Writers of one process that come while another one gives every sheet a new token."""

import threading

from sat_retriever import SheetIndex, SheetRecord
from tests.fakes import HashedEncoder


def test_a_thread_that_waits_while_sheets_are_encoded_anew_uses_the_new_encoder(tmp_path):
    begun, waiting = threading.Event(), threading.Event()

    class Slow(HashedEncoder):
        def encode_sheets(self, texts):
            begun.set()
            assert waiting.wait(60)
            return super().encode_sheets(texts)

    def records():
        yield SheetRecord("b", "B")

    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder(64, "old")) as index:
        index.add_records([SheetRecord("a", "A")])

        def add():
            assert begun.wait(60)
            waiting.set()
            index.add_records(records())

        adding = threading.Thread(target=add)
        adding.start()
        index.reencode(Slow(48, "new"))
        adding.join(60)
        assert index.sheet_ids() == ["a", "b"]
        assert index.encoder.name == "new"
        assert index.search.tokens(["a", "b"]).shape == (2, 48)
        assert index.candidates("b")[0].sheet_id == "b"
