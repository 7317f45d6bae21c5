"""The benchmark of permissions sees what shows: an index without any shows everything."""

import random

from benchmarks.safety.permissions import Asker, compared, made_corpus
from sat_retriever import SheetRetriever, SheetTools


def asked(whole, corpus, place):
    """Faults and differences of some searches for two groups."""
    draw = random.Random(3)
    asker = Asker(SheetTools(whole, reranker="links"), corpus, ["group1", "group4"])
    for number in range(16):
        asker.search(SheetRetriever(whole, "links"), number, draw)
    return +asker.faults, compared(corpus, asker, ["revenue costs", "fleet 2023"], place)


def test_faults_and_differences_are_counted(tmp_path):
    corpus = made_corpus(40, random.Random(2))
    with corpus.filled(tmp_path / "all.sat", {*corpus.names}) as whole:
        faults, different = asked(whole, corpus, tmp_path / "open.sat")
        assert {"hits", "refused", "cells", "tool", "status", "count", "links"} <= set(faults)
        assert different > 0
        whole.permit(lambda record: corpus.groups[record.sheet_id])
        assert asked(whole, corpus, tmp_path / "kept.sat") == ({}, 0)
