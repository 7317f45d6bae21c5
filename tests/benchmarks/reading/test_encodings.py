"""Samples of the benchmark of encodings, and the judging of them."""

from benchmarks.reading.encodings import judged, ours, samples
from sat_retriever.workbook.opening.encoding import Encoding


def test_samples_are_of_many_languages_and_encodings_and_half_are_held_out():
    found = list(samples())
    assert len({each.language for each in found}) >= 15
    assert len({each.codec for each in found}) >= 8
    assert abs(sum(each.held_out for each in found) / len(found) - 0.5) < 0.05
    assert max(len(each.text.encode(each.codec)) for each in found) > 65_536
    assert all(each.text.encode(each.codec).decode(each.codec) == each.text for each in found)


def test_a_wrong_text_is_wrong_unless_it_is_told_as_unsure():
    sample = next(each for each in samples() if each.codec == "cp1252")
    assert judged(sample, ours) == "right"
    assert judged(sample, lambda _: Encoding("cp437")) == "wrong"
    assert judged(sample, lambda _: Encoding("cp437", sure=False)) == "unsure"
