"""A text that is read at the first look, whichever look that is."""

import copy
import pickle
from threading import Barrier, Thread

import pytest
from pydantic import BaseModel, Field, TypeAdapter

from sat_retriever import InputError, SheetIndex, SheetRetriever
from sat_retriever.tools.content import answer_readers
from sat_retriever.tools.unread import unread
from tests.builders import transit
from tests.fakes import HashedEncoder


class Page(BaseModel):
    title: str = ""
    text: str = ""
    facts: dict = Field(default_factory=dict)


class Book(BaseModel):
    pages: list[Page]


PLAIN = Page(title="a", text="hello", facts={"b": 1})
put = unread(Page, "text")


def page(read=lambda: "hello"):
    return put(Page(title="a", text="", facts={"b": 1}), read)


LOOKS = {
    "text": lambda it: it.text,
    "fields": dict,
    "vars": vars,
    "repr": repr,
    "str": str,
    "model_dump": lambda it: it.model_dump(),
    "model_dump_json": lambda it: it.model_dump_json(),
    "within another": lambda it: Book(pages=[it]).model_dump_json(),
    "type adapter": lambda it: TypeAdapter(list[Page]).dump_json([it]),
    "pickle": pickle.dumps,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "model_copy": lambda it: it.model_copy(update={"title": "c"}),
    "deep model_copy": lambda it: it.model_copy(update={"title": "c"}, deep=True),
    "equal": lambda it: it == PLAIN,
    "equal the other way": lambda it: it == PLAIN,
    "equal unread": lambda it: it == page(),
    "a new title": lambda it: (setattr(it, "title", "c"), repr(it)),
    "a new text": lambda it: (setattr(it, "text", "c"), repr(it)),
    "no title": lambda it: (delattr(it, "title"), vars(it)),
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.filterwarnings("error")
def test_every_look_at_the_whole_reads_once_and_sees_a_plain_object(look):
    reads = []
    it = page(lambda: reads.append(1) or "hello")
    assert (it.title, it.facts) == ("a", {"b": 1}) and isinstance(it, Page)
    assert not reads
    seen = LOOKS[look](it)
    assert seen == LOOKS[look](PLAIN.model_copy(deep=True))
    assert (len(reads), type(it)) == (1, Page)
    assert LOOKS["fields"](it).keys() == vars(it).keys()
    if isinstance(seen, Page):
        assert type(seen) is Page


def test_many_threads_read_once():
    for _ in range(20):
        reads, found, barrier = [], [], Barrier(8)
        it = page(lambda reads=reads: reads.append(1) or "hello")

        def look(it=it, found=found, barrier=barrier):
            barrier.wait()
            found.append((it.text, vars(it)["text"], copy.copy(it) == PLAIN, repr(it)))

        threads = [Thread(target=look) for _ in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert found == [("hello", "hello", True, repr(PLAIN))] * 8
        assert len(reads) == 1


def test_a_failed_reading_is_raised_and_tried_again():
    answers = iter([InputError("no"), "hello"])

    def read():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    it = page(read)
    with pytest.raises(InputError, match="no"):
        it.model_dump()
    assert it == PLAIN


def test_a_text_is_read_after_its_index_is_closed_and_is_the_record_where_the_file_is_gone(
    tmp_path,
):
    with SheetIndex.open(transit(tmp_path), HashedEncoder()) as index:
        answer = SheetRetriever(index, None).retrieve("people of town 444", 1)
        [rows] = answer_readers(index, answer)
    assert "| 446 | C-0444 | Town 444 | 444 |" in rows()
    (tmp_path / "books" / "Transit.xlsx").unlink()
    assert rows().startswith("name: ")
