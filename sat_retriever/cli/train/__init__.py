"""`sat train`: Stage 1, Stage 2 and the Cross-Encoder, on your labels or a corpus."""

from sat_retriever.cli.train.commands import app

__all__ = ["app"]
