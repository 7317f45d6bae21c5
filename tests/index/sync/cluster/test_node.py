"""What is asked of a cluster's head, which may be silent."""

import threading
from types import SimpleNamespace

import pytest

from sat_retriever.errors import ClusterError
from sat_retriever.index.sync.cluster import node


def test_a_silent_head_is_an_error_and_not_waited_for_for_ever(monkeypatch):
    monkeypatch.setattr(node, "_HEAD_S", 0.1)
    late = threading.Event()
    silent = SimpleNamespace(cluster_resources=late.wait, nodes=late.wait)
    for ask in (node.cores_of, node.nodes_of):
        with pytest.raises(ClusterError, match="head of the Ray cluster has not answered for 0 s"):
            ask(silent)
    late.set()


def test_an_answer_of_the_head_and_its_error_come_through():
    nodes = [{"NodeID": "a", "Alive": True}, {"NodeID": "b", "Alive": False}]
    head = SimpleNamespace(cluster_resources=lambda: {"CPU": 3.0}, nodes=lambda: nodes)
    assert (node.cores_of(head), node.nodes_of(head)) == (3, {"a"})
    with pytest.raises(ZeroDivisionError):
        node.answer_of_head(lambda: 1 // 0)
