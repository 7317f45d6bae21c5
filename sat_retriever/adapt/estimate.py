"""About how long an adaptation takes, from how long this machine takes for a few sheets."""

from __future__ import annotations

import time
from collections.abc import Sequence

from sat_retriever.adapt.questions import Material
from sat_retriever.adapt.settings import AdaptSettings
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.tokens import Encoder
from sat_retriever.text.serialize import serialize

_SAMPLE = 64  # sheets that are encoded to see
_PASSES = 3  # over them, of which the fastest counts: others may use the machine meanwhile
_TEXTS = 3  # of a question in training: itself, a relevant sheet, a hard negative
# Time of a text that is learnt from, beside that of one that is only read: 17 ms and 8 ms on two
# cores, MiniLM, four of six layers learning.
_LEARNT = 2.2


def estimated_seconds(index: SheetIndex, material: Material, settings: AdaptSettings) -> float:
    """Seconds of Stage 1's training on a processor, which is most of it; a rough guess."""
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
