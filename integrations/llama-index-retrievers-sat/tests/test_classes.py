"""Each public class is what the hub's packages promise, and has an own name."""

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.tools import BaseTool
from llama_index.retrievers.sat import SheetEmbedding, SheetTokenRetriever
from llama_index.retrievers.sat.tools import SheetTool


@pytest.mark.parametrize(
    ("kind", "base"),
    [
        (SheetTokenRetriever, BaseRetriever),
        (SheetEmbedding, BaseEmbedding),
        (SheetTool, BaseTool),
    ],
)
def test_a_class_has_the_base_of_its_kind(kind, base):
    names_of_base_classes = [each.__name__ for each in kind.__mro__]
    assert base.__name__ in names_of_base_classes
    if hasattr(kind, "class_name"):
        assert kind.class_name() == kind.__name__
