"""Answer questions from sheets for LlamaIndex: found, queried in SQL, told in words, cited."""

from llama_index.query_engine.sat.engine import SheetQueryEngine

__all__ = ["SheetQueryEngine"]
