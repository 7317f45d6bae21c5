"""Find the worksheets that answer a question: records, tokens, candidates and ranked sheets.

Importing is cheap: each public name loads its module when it is first used.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sat_retriever._version import __version__
    from sat_retriever.answer.retriever import SheetRetriever
    from sat_retriever.encoder import EmbeddingEncoder, SheetEncoder
    from sat_retriever.errors import (
        EmptyInputError,
        EncoderError,
        FingerprintMismatchError,
        IndexBusyError,
        IndexDamagedError,
        IndexFormatError,
        IndexNotFoundError,
        IndexStorageError,
        InputError,
        MissingExtraError,
        OutputError,
        PathNotFoundError,
        PermissionsError,
        SatError,
        SheetIndexError,
    )
    from sat_retriever.index.index import SheetIndex
    from sat_retriever.index.sync.cluster.session import ray_cluster
    from sat_retriever.index.sync.indexing import index_paths, open_index
    from sat_retriever.index.sync.sync import SyncReport
    from sat_retriever.links.graph import link_graph
    from sat_retriever.rank.cross_encoder import CrossEncoderReranker
    from sat_retriever.rank.graph.graphrank import GraphReranker
    from sat_retriever.rank.links.linkrank import LinkReranker
    from sat_retriever.rank.load import load_reranker
    from sat_retriever.records.candidates import Candidate
    from sat_retriever.records.filters import Filters
    from sat_retriever.records.hits import Answer, Hit
    from sat_retriever.records.links import Link, LinkType
    from sat_retriever.records.permissions import OWNER, Rule, Rules
    from sat_retriever.records.sheetanswer import SheetAnswer
    from sat_retriever.records.sheets import Column, SheetRecord, Skipped, Table, Visibility
    from sat_retriever.records.typedtable import ColumnKind, TypedColumn, TypedTable
    from sat_retriever.text.serialize import Serialization
    from sat_retriever.tools import SheetTools, Tool
    from sat_retriever.tools.content import Content, hit_text
    from sat_retriever.tools.engine.prepare import EngineSettings
    from sat_retriever.workbook.limits import Limits
    from sat_retriever.workbook.read import Workbook, read_workbook

# Recent versions of onnxruntime send usage data and errors, with paths, to their maker unless this
# variable is set before the first import. This package sends nothing from the machine.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

_ERRORS = (
    "EmptyInputError", "EncoderError", "FingerprintMismatchError",
    "IndexBusyError", "IndexDamagedError", "IndexFormatError", "IndexNotFoundError",
    "IndexStorageError", "InputError", "MissingExtraError", "OutputError",
    "PathNotFoundError", "PermissionsError", "SatError", "SheetIndexError",
)  # fmt: skip
_TYPED = ("ColumnKind", "TypedColumn", "TypedTable")
_PERMISSIONS = ("OWNER", "Rule", "Rules")
_SHEETS = ("Column", "SheetRecord", "Skipped", "Table", "Visibility")
_MODULES = {
    "__version__": "_version",
    "Content": "tools.content",
    "CrossEncoderReranker": "rank.cross_encoder",
    "EmbeddingEncoder": "encoder",
    "EngineSettings": "tools.engine.prepare",
    "Filters": "records.filters",
    "GraphReranker": "rank.graph.graphrank",
    "Hit": "records.hits",
    "hit_text": "tools.content",
    "index_paths": "index.sync.indexing",
    "Limits": "workbook.limits",
    "LinkReranker": "rank.links.linkrank",
    "link_graph": "links.graph",
    "load_reranker": "rank.load",
    "open_index": "index.sync.indexing",
    "Serialization": "text.serialize",
    "SheetAnswer": "records.sheetanswer",
    "SheetEncoder": "encoder",
    "SheetIndex": "index.index",
    "SheetRetriever": "answer.retriever",
    "SheetTools": "tools",
    "SyncReport": "index.sync.sync",
    "Tool": "tools",
    "Workbook": "workbook.read",
    "ray_cluster": "index.sync.cluster.session",
    "read_workbook": "workbook.read",
    **dict.fromkeys(_ERRORS, "errors"),
    "Answer": "records.hits",
    "Candidate": "records.candidates",
    "Link": "records.links",
    "LinkType": "records.links",
    **dict.fromkeys(_PERMISSIONS, "records.permissions"),
    **dict.fromkeys(_SHEETS, "records.sheets"),
    **dict.fromkeys(_TYPED, "records.typedtable"),
}

__all__ = [
    "OWNER",
    "Answer",
    "Candidate",
    "Column",
    "ColumnKind",
    "Content",
    "CrossEncoderReranker",
    "EmbeddingEncoder",
    "EmptyInputError",
    "EncoderError",
    "EngineSettings",
    "Filters",
    "FingerprintMismatchError",
    "GraphReranker",
    "Hit",
    "IndexBusyError",
    "IndexDamagedError",
    "IndexFormatError",
    "IndexNotFoundError",
    "IndexStorageError",
    "InputError",
    "Limits",
    "Link",
    "LinkReranker",
    "LinkType",
    "MissingExtraError",
    "OutputError",
    "PathNotFoundError",
    "PermissionsError",
    "Rule",
    "Rules",
    "SatError",
    "Serialization",
    "SheetAnswer",
    "SheetEncoder",
    "SheetIndex",
    "SheetIndexError",
    "SheetRecord",
    "SheetRetriever",
    "SheetTools",
    "Skipped",
    "SyncReport",
    "Table",
    "Tool",
    "TypedColumn",
    "TypedTable",
    "Visibility",
    "Workbook",
    "__version__",
    "hit_text",
    "index_paths",
    "link_graph",
    "load_reranker",
    "open_index",
    "ray_cluster",
    "read_workbook",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
