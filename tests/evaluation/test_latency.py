import time

import pytest

from sat_retriever import EmptyInputError, InputError
from sat_retriever.evaluation.latency import latency
from sat_retriever.evaluation.methods import Method


class Counted:
    """Stages that count their calls."""

    def __init__(self):
        self.found = []
        self.reranked = 0

    def find(self, query):
        self.found.append(query)
        return ()

    def rerank(self, query, candidates):
        self.reranked += 1
        return candidates


def test_every_question_is_timed_in_every_repeat_alone_and_jointly():
    calls, told = Counted(), []
    found = latency(
        Method(calls.find, calls.rerank), ["a", "b"], repeats=3, warm_up=5,
        progress=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    assert found.calls == 6
    assert calls.found[:5] == ["a", "b", "a", "b", "a"]
    assert len(calls.found) == 5 + 2 * 6  # once alone, once in the joint call
    assert calls.reranked == 5 + 2 * 6
    assert told[-1] == (6, 6)
    for times in (found.joint, found.stage1, found.stage2):
        assert 0 <= times.p50 <= times.p95


def test_a_method_of_one_stage_has_no_time_of_a_second():
    assert latency(Method(Counted().find), ["a"]).stage2 is None


def test_nothing_to_time_is_refused():
    with pytest.raises(EmptyInputError, match="no questions"):
        latency(Method(Counted().find), [])
    with pytest.raises(InputError, match="repeats must be 1 or more"):
        latency(Method(Counted().find), ["a"], repeats=0)


def test_times_are_milliseconds_of_their_own_stage():
    def find(query):
        time.sleep(0.002)
        return ()

    def rerank(query, candidates):
        time.sleep(0.02)
        return candidates

    found = latency(Method(find, rerank), ["a", "b"], repeats=1, warm_up=0)
    assert found.stage1.p50 >= 2
    assert found.stage2.p50 >= 20
    assert found.joint.p50 >= 22


def test_the_device_has_finished_before_and_after_each_timed_call():
    done = []
    method = Method(lambda query: done.append(query) or ("asked", []), lambda *_: done.append("2"))
    latency(method, ["a"], repeats=1, warm_up=1, synchronise=lambda: done.append("|"))
    timed = "".join(done[done.index("|") :])
    assert timed.count("|") == 6  # both stages in one call, Stage 1, Stage 2
    assert timed.startswith("|a")
    assert timed.endswith("2|")
