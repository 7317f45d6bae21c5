"""Rerank LlamaIndex nodes along links, or by a trained model: Stage 2."""

from llama_index.postprocessor.sat.rerank import SheetGraphReranker

__all__ = ["SheetGraphReranker"]
