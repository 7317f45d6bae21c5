"""Stage 2 for LlamaIndex: nodes reordered along links, or by a trained model."""

from llama_index.postprocessor.sat.rerank import SheetGraphReranker

__all__ = ["SheetGraphReranker"]
