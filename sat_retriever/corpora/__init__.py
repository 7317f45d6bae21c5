"""Published corpora as one kind of Dataset, and all loaders of labels, links and pairs.

IndustryTab, Spider and BIRD come as records, so they need no workbooks. The EPS
queries name sheets of real workbooks: their Dataset has no records but a `root`,
the folder to index (`SheetIndex.sync([dataset.root])` gives the same sheet ids).
"""

from sat_retriever.corpora.dataset import (
    Dataset,
    load_bird,
    load_eps,
    load_industrytab,
    load_spider,
)
from sat_retriever.corpora.edges import load_links
from sat_retriever.corpora.pairs import SheetPair, load_pairs
from sat_retriever.corpora.sheets import data_like_headers, load_sheets
from sat_retriever.labels import Query, load_labels

__all__ = [
    "Dataset",
    "Query",
    "SheetPair",
    "data_like_headers",
    "load_bird",
    "load_eps",
    "load_industrytab",
    "load_labels",
    "load_links",
    "load_pairs",
    "load_sheets",
    "load_spider",
]
