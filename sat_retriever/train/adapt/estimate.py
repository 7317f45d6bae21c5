"""Estimate the time of an adaptation from the time that a few sheets take."""

from __future__ import annotations

import time
from collections.abc import Sequence

from sat_retriever.index.index import SheetIndex
from sat_retriever.records.tokens import Encoder
from sat_retriever.text.serialize import serialize
from sat_retriever.train.adapt.questions import Material
from sat_retriever.train.adapt.settings import AdaptSettings

_SAMPLE = 64  # sheets that are encoded for the estimate
_PASSES = 3  # over them; the fastest counts, since other programs may slow the rest
_TEXTS = 3  # per training question: itself, a relevant sheet, a hard negative
# Time of a text in training relative to a text that is only encoded: 17 ms against 8 ms on two
# cores, MiniLM, four of six layers trained.
_LEARNT = 2.2


def estimated_seconds(index: SheetIndex, material: Material, settings: AdaptSettings) -> float:
    """Return the seconds of Stage 1's training on a processor, most of the total; a rough guess."""
    records = index.records(index.sheet_ids()[:: max(1, len(index) // _SAMPLE)])
    texts = [serialize(record, index.serialization) for record in records.values()]
    encoder = index.encoder
    encoder.encode_sheets(texts[:1])  # the first call takes longer
    a_text = min(_seconds(encoder, texts) for _ in range(_PASSES)) / len(texts)
    validated = len(index) + len(material.choose)
    learnt = _TEXTS * len(material.train)
    an_epoch = validated + len(material.train) + _LEARNT * learnt
    mixtures = len(settings.encoder_training("minilm").interpolation)
    return a_text * (settings.epochs * an_epoch + (1 + mixtures) * validated)


def _seconds(encoder: Encoder, texts: Sequence[str]) -> float:
    begun = time.perf_counter()
    encoder.encode_sheets(texts)
    return time.perf_counter() - begun
