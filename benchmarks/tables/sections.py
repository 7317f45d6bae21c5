"""Tables of plain numbers as data: title, benchmark, columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """One table of plain numbers, a result file a row.

    Attributes:
        benchmark: Suite of results, and module that fills it.
        title: Heading.
        columns: Heading of each metric shown, by the metric's name.
        limits: What the figures do not show.
    """

    benchmark: str
    title: str
    columns: Mapping[str, str]
    limits: str = ""


_TYPES = (
    "semantic_lookup",
    "comparison",
    "aggregation",
    "join_key_reasoning",
    "formula_tracing",
    "summary_source",
)
_LINKS = (
    "formula_reference",
    "aggregation",
    "summary_source",
    "join_key",
    "sibling_period",
    "join_key inferred",
)

SECTIONS = (
    Section(
        "million",
        "One file of up to a million sheets",
        {
            "sheets": "sheets",
            "add_s": "added, s",
            "file_mib": "file, MiB",
            "mapped_mib": "mapped files, MiB",
            "mapping_s": "writing them, s",
            "encode_p50_ms": "encoding a question, p50 ms",
            "default_p50_ms": "default path, p50 ms",
            "default_p95_ms": "p95",
            "default_times_encoding": "times encoding",
            "no_reranking_p50_ms": "without reranking, p50 ms",
            "no_reranking_times_encoding": "times encoding",
            "import_s": "import, s",
            "open_and_load_encoder_s": "open, load the encoder, s",
            "first_answer_s": "first answer, s",
            "reader_private_mib": "one reader, private MiB",
            "8_readers_private_mib": "each of eight, private MiB",
            "8_readers_pss_mib": "each of eight, its share of all, MiB",
            "recall_at_50": "recall@50 against all scored",
            "recall_at_50_least": "the least",
        },
        "Names are made by templates and tokens are random: every word is common, and no token is "
        "near another. Real corpora are kinder to both. Calls took turns in one process; files "
        "were in the system's cache; a disk that is not would add its own time to a first answer.",
    ),
    Section(
        "ten_million",
        "Ten million sheets, on paper",
        {
            "add_s": "adding, s",
            "add_s_power": "grows with the power",
            "add_s_error_at_1m": "error at a million",
            "migrate_s": "copied by sat migrate, s",
            "migrate_s_power": "grows with the power",
            "migrate_s_error_at_1m": "error at a million",
            "mapping_s": "writing mapped files, s",
            "mapping_s_error_at_1m": "error at a million",
            "file_mib": "file, MiB",
            "mapped_mib": "mapped files, MiB",
            "database_mib": "in the database, MiB",
            "database_mib_error_at_1m": "error at a million",
            "default_p50_ms": "default path, p50 ms",
            "default_p50_ms_power": "grows with the power",
            "default_p50_ms_error_at_1m": "error at a million",
            "first_on_host_s": "first answer on a host, s",
            "first_on_host_s_error_at_1m": "error at a million",
            "first_answer_s": "first answer, s",
            "first_answer_s_error_at_1m": "error at a million",
            "reader_private_mib": "a reader, private MiB",
            "reading_ms_a_sheet": "reading and encoding, processor ms a sheet",
            "reading_processor_hours": "processor hours",
            "reading_usd": "US dollars",
            "driver_ms_a_sheet": "one driver, ms a sheet",
            "driver_hours": "hours of one driver",
            "cores_of_one_driver": "cores that it keeps busy",
            "disk_gb": "disk, GB",
            "disk_usd_a_month": "US dollars a month",
            "machine_usd_a_month": "one machine, US dollars a month",
        },
        "Nothing here was measured at ten million. Each figure of a store is drawn on as a power "
        "of the number of sheets through 100,000, 300,000 and a million; the error says how far "
        "the first two miss the third. Reading and encoding count EPS's workbooks. On Ray, costs "
        "a sheet on one machine are multiplied: a network between nodes, and an index that grows "
        "while it is written, would add theirs. Prices are list prices of June 2026 in us-east-1: "
        "m7g.large on demand, gp3 storage.",
    ),
    Section(
        "postgres",
        "The same index in PostgreSQL, beside its file and beside vector stores",
        {
            "sheets": "sheets",
            "migrate_s": "copied by sat migrate, s",
            "build_s": "filled and indexed, s",
            "database_mib": "in the database, MiB",
            "file_mib": "file, MiB",
            "first_on_host_s": "first answer on a host, s",
            "first_answer_s": "first answer of a later process, s",
            "reader_private_mib": "one reader, private MiB",
            "8_readers_pss_mib": "each of eight, its share of all, MiB",
            "encode_p50_ms": "encoding a question, p50 ms",
            "default_p50_ms": "default path, p50 ms",
            "default_p95_ms": "p95",
            "default_times_encoding": "times encoding",
            "no_reranking_times_encoding": "without reranking, times encoding",
            "times_file": "times the file, in turn",
            "equal_answers": "answers equal to the file's, of 100",
            "query_p50_ms": "asked with a token, p50 ms",
            "query_p95_ms": "p95",
            "recall_at_50": "recall@50",
        },
        "The first rows take the default path, and their recall counts against every sheet scored. "
        "The others compare tokens of names alone, given the question's token, and their recall "
        "counts against all cosines. LlamaIndex's and LangChain's stores use HNSW with m 16, "
        "ef_construction 64 and ef_search 200, 32 bits a number. Sheets named template have "
        "random tokens, which a graph of neighbours finds hardest; those named encoded have real "
        "ones, of names that repeat. Server and readers share one machine of two cores, so there "
        "is no network between.",
    ),
    Section(
        "postgres_writes",
        "Writing to PostgreSQL, beside a file",
        {
            "workbooks": "workbooks",
            "sheets": "sheets",
            "workbooks_s": "workbooks written, s",
            "workbooks_statements": "statements",
            "settled_s": "links between them, s",
            "settled_statements": "statements",
            "100_replaced_s": "100 replaced, s",
            "100_replaced_statements": "statements",
            "settled_again_s": "links again, s",
            "settled_again_statements": "statements",
            "put_settled_s": "put as sheets without files, s",
            "moved_s": "copied by sat migrate, s",
        },
        "Made workbooks with eight texts a sheet and random tokens: nothing is read or encoded. "
        "The server stands on the same machine.",
    ),
    Section(
        "equal_stores",
        "Answers from PostgreSQL and from a file",
        {
            "sheets": "sheets",
            "links": "links",
            "equal_links": "equal links",
            "questions": "questions",
            "same_hits": "same hits in the same order",
            "equal": "and scores within 0.000001",
            "largest_difference": "largest difference",
        },
        "Twenty hits of the default path are compared. Tokens of sheets are random, since equality "
        "does not depend on them.",
    ),
    Section(
        "postgres_kills",
        "PostgreSQL: writers, servers and connections killed while a workbook is replaced",
        {
            "killed": "killed",
            "states": "different states after it",
            "in_parts": "workbook in parts",
            "lost": "a told write lost",
        },
        "A server is killed as a process is, not by a power failure; what a disk loses then is not "
        "shown.",
    ),
    Section(
        "permissions",
        "Permissions: random searches for random groups, and what hidden sheets showed",
        {
            "sheets": "sheets",
            "searches": "searches",
            "looked_for": "hidden names looked for",
            "shown": "shown",
            "compared": "answers compared",
            "different": "different",
        },
        "Looked through are hits with reasons, links and copies, the question as it was read, what "
        "agents' tools say, counts, and refusals. Answers are compared with those of an index of "
        "only the sheets that the groups may see. In PostgreSQL a role searches that may only "
        "read.",
    ),
    Section(
        "remote",
        "An index of workbooks on S3, beside the same files here",
        {
            "workbooks": "workbooks",
            "sheets": "sheets",
            "index_s": "indexed, s",
            "index_bytes": "bytes",
            "unchanged_s": "nothing changed, s",
            "unchanged_bytes": "bytes",
            "one_changed_s": "one changed, s",
            "one_changed_bytes": "bytes",
            "one_removed_s": "one removed, s",
            "one_removed_bytes": "bytes",
            "equal_to_local": "records and links equal",
        },
        "The server (moto) runs on the same machine: there is no network between, which elsewhere "
        "is most of the time.",
    ),
    Section(
        "ray",
        "Indexing on Ray",
        {
            "workbooks": "workbooks",
            "sheets": "sheets",
            "index_s": "indexed, s",
            "sheets_per_s": "sheets a second",
            "start_s": "start of the cluster, s",
            "read_s": "reading, s",
            "link_s": "links inside, s",
            "encode_s": "encoding, s",
            "list_s": "listing, s",
            "wait_s": "waiting, s",
            "fetch_s": "transport, s",
            "write_s": "writing, s",
            "settle_s": "second pass, s",
            "different": "parts that differ (blank: none)",
        },
        "All on one machine of two cores. Reading, links and encoding are added up over the "
        "processes that did them; the others are seconds of the one that writes. The node is "
        "killed after a third of the workbooks. Parts are sheets, tokens, words, links, claims, "
        "copies and the others of an index, by their hashes.",
    ),
    Section(
        "messy",
        "Records of messy tables",
        {
            "files": "files",
            "exact": "exact",
            "share": "share",
            "with_told": "with rows left out",
            "told": "all told",
            "with_sections": "with headings",
            "sections": "all given",
            "records": "records",
            "lost": "lost",
            "lost_untold": "lost without a word",
            "false": "false",
            "wrong": "wrong",
        },
        "Small files in the manner of public bug reports, with the records that each holds by "
        "construction. Rules were made on `messy_tables`, so its figures show what was mended, not "
        "what a new file meets. `unseen` was written from the rules alone by somebody who had not "
        "read the code, and was scored once, when the work was done. Neither says how often such "
        "files occur.",
    ),
    Section(
        "left_out",
        "Rows left out of real tables",
        {
            "tables": "tables",
            "records": "records",
            "units": "units",
            "total": "totals",
            "subtotal": "subtotals",
            "repeated_header": "repeated headers",
            "section": "headings",
            "doubtful": "in doubt, kept",
            "judged": "judged",
            "right": "rightly left out",
            "sheets_read": "sheets read whole",
            "sums_and_units": "their totals and units",
            "found": "found",
        },
        "80 rows and 40 sheets were drawn at random, at most two rows of a workbook, and read by a "
        "language model that knew the rules and not the code. Rules for totals were mended after "
        "it had named those missed, so `found` is of sheets that were looked at.",
    ),
    Section(
        "read_cost",
        "Reading real workbooks, beside before",
        {
            "rounds": "rounds",
            "before_s": "before, processor s",
            "now_s": "now, processor s",
            "ratio": "ratio, median",
            "least_ratio": "least",
            "largest_ratio": "largest",
        },
    ),
    Section(
        "table_data",
        "Tables as data, beside openpyxl and pandas",
        {
            "files": "files",
            "sheets": "sheets",
            "tables": "tables",
            "cells": "cells",
            "differences": "cells read otherwise",
            "unreadable": "tables not read",
            "rows": "rows",
            "columns": "columns",
            "seconds": "loaded, s",
            "to_pandas_s": "then to pandas, s",
            "pandas_calamine_s": "pandas with calamine, s",
            "pandas_openpyxl_s": "pandas with openpyxl, s",
        },
    ),
    Section(
        "made_answers",
        "Made questions asked in SQL, against the generator's answers",
        {
            "questions": "questions",
            "equal": "equal answers",
            "share": "share",
            "cells_cited": "cells of lookups cited",
            "lookups": "of",
            "units_equal": "units equal",
            "units": "of",
            "codes_as_numbers": "codes read as numbers",
            "median_s": "median s",
            "total_s": "total s",
            "top_5": "all sheets in top 5",
            "top_10": "in top 10",
        },
    ),
    Section(
        "hostile_sql",
        "Statements meant to do harm, or silly ones",
        {
            "statements": "statements",
            "refused": "refused or wrong",
            "beyond": "beyond its limits",
            "answered": "answered",
            "secrets_told": "told a secret",
            "files_written": "files written",
            "without_words": "errors without words",
            "median_s": "median s",
            "longest_s": "longest s",
            "limit_s": "limit, s",
        },
    ),
    Section(
        "scripted",
        "Query engines with scripted models",
        {
            "ways": "ways of asking",
            "as_expected": "ended as expected",
            "equal": "equal in all ways",
            "answer_from": "answer from",
            "queries": "queries",
            "citations": "citations",
            "files_written": "files written",
        },
        "Replies come from a script: the table shows what the program makes of them in both "
        "frameworks, not how often a language model gives such replies.",
    ),
    Section(
        "answers",
        "A language model's answers",
        {
            "model": "model",
            "questions": "questions",
            "right": "right",
            "sheets": "sheets cited right",
            "cells": "cells cited right",
            "failed": "failed",
            "median_prompt_tokens": "prompt tokens, median",
            "median_tokens": "reply tokens, median",
            "median_seconds": "s, median",
        },
        "An answer is right if it says every expected value, whatever else it says.",
    ),
    Section(
        "eps_answers",
        "Hand-written questions over real workbooks",
        {
            "questions": "questions",
            "value": "value checked",
            "top_1": "sheet first",
            "top_5": "in top 5",
            "top_10": "in top 10",
            "median_rank": "median rank",
            "cited": "cell cited, of top 5",
            "in_table": "cell in its table, of top 5",
            "statements": "statements",
            "sql": "SQL right",
            "sql_cites": "SQL cites the cell",
            "sql_hit": "SQL right over the hit's table",
            "sql_median_s": "median s",
            "text": "value in five texts",
            "text_right": "rows in a right sheet's text",
        },
        "The SQL was written by hand, by someone who knew the answers: it tests the tables, not a "
        "language model. Six questions about notes and ten over many cells are few: one of them "
        "moves a share by .17 or .10. A short number stands in the five texts by chance.",
    ),
    Section(
        "unchanged",
        "Corpora without cells, measured again",
        {
            "queries": "questions",
            "NDCG@10": "NDCG@10",
            "before": "before",
            "difference": "difference",
            "interval": "95 % interval",
        },
    ),
    Section(
        "synth_roundtrip",
        "Made workbooks read again, against the generator's truth",
        {
            "sheets": "sheets",
            "records_equal": "records equal",
            **{
                f"{kind}: {what}": f"{kind.replace('_', ' ')}, {what}"
                for kind in _LINKS
                for what in ("precision", "recall")
            },
        },
    ),
    Section(
        "synth_scale",
        "Corpora made and indexed",
        {
            "sheets": "sheets",
            "workbooks": "workbooks",
            "make_s": "making, s",
            "make_main_mib": "memory, MiB",
            "make_workers_mib": "of its workers, MiB",
            "workbooks_mib": "workbooks, MiB",
            "index_s": "indexing, s",
            "index_main_mib": "memory, MiB",
            "index_workers_mib": "of its workers, MiB",
            "index_mib": "index file, MiB",
        },
    ),
    Section(
        "adapt_scale",
        "`sat adapt`, all defaults",
        {
            "sheets": "sheets",
            "families": "families",
            "train": "questions learnt",
            "in_one_go": "in one go",
            "adapt_s": "adapting, s",
            "process_s": "whole process, s",
            "memory_mib": "memory, MiB",
            "encoder_kept": "encoder kept",
            "reranker_kept": "new reranker kept",
        },
    ),
    Section(
        "train_speed",
        "A training step of Stage 1, 64 questions",
        {
            "steps": "steps",
            "threads": "threads",
            "step_s": "median, s",
            "fastest_s": "fastest, s",
            "slowest_s": "slowest, s",
            "times_fp32": "of fp32",
        },
    ),
    Section(
        "gpu",
        "On a GPU: the paper's recipe with BGE-base, seed 42",
        {
            "NDCG@5": "NDCG@5",
            "joint_mean_ms": "both stages, mean ms",
            "joint_p50_ms": "p50",
            "joint_p95_ms": "p95",
            "stage1_p50_ms": "Stage 1, p50",
            "stage2_p50_ms": "Stage 2, p50",
        },
    ),
    Section(
        "gpu",
        "On a GPU: a training step of Stage 1, and encoding",
        {
            "timed_steps": "steps",
            "questions": "questions a step",
            "step_s": "median, s",
            "fastest_s": "fastest, s",
            "slowest_s": "slowest, s",
            "sheets": "sheets encoded",
            "encode_s": "in all, s",
            "sheets_per_s": "sheets a second",
        },
    ),
    Section(
        "synth_quality",
        "Made questions, without training: NDCG@10",
        {
            "sheets": "sheets",
            "queries": "queries",
            "NDCG@10": "all",
            **{f"NDCG@10, type {kind}": kind.replace("_", " ") for kind in _TYPES},
            "Recall@10": "R@10",
            "HN-FPR@1": "HN-FPR@1",
        },
    ),
    Section(
        "formula_links",
        "Formula links against an independent count",
        {
            "files": "files",
            "formula_cells": "formula cells",
            "edges_both": "edges in both",
            "edges_ours_only": "ours only",
            "edges_raw_only": "the count's only",
            "precision": "precision",
            "recall": "recall",
            "array_edges_both": "edges with array formulas",
            "array_recall": "recall",
            "shared_edges_both": "with shared formulas",
            "shared_recall": "recall",
            "share_of_edges_with_equal_cells": "edges with equal cell counts",
        },
    ),
    Section(
        "formula_links",
        "Formulas taken apart",
        {
            "formulas": "formulas",
            "extract_seconds_median": "median, s",
            "formulas_per_second": "formulas a second",
            "extract_peak_mib": "peak memory, MiB",
            "worker_cpu_seconds_median": "reading with links, processor s",
            "worker_without_links_cpu_seconds_median": "without",
            "worker_peak_mib": "reading, peak MiB",
        },
    ),
    Section(
        "joins",
        "Join keys found by headers alone, against declared foreign keys",
        {
            "databases": "databases",
            "keys": "declared keys",
            "found": "found",
            "pair_precision": "sheet pairs: precision",
            "pair_recall": "recall",
            "directed_precision": "directed: precision",
            "directed_recall": "recall",
            "column_precision": "columns: precision",
            "column_recall": "recall",
            "column_precision_implied": "precision with implied keys",
        },
    ),
    Section(
        "links_scale",
        "Links at scale, generated records",
        {
            "sheets": "sheets",
            "links": "links",
            "discovery_s": "finding, s",
            "storing_s": "storing and resolving, s",
            "graph_s": "networkx graph, s",
            "stored_mib": "memory, MiB",
            "graph_mib": "with the graph, MiB",
            "index_mib": "index file, MiB",
        },
    ),
    Section(
        "headers",
        "Header detection",
        {
            "sheets": "sheets",
            "workbooks": "workbooks",
            "header": "header row right",
            "header_interval": "95 % interval",
            "range": "table range right",
            "range_interval": "95 % interval",
            "exact": "both right",
            "exact_interval": "95 % interval",
            "names": "names right",
            "num_rows": "row count right",
            "all_ranges": "all tables right",
        },
    ),
    Section(
        "robustness",
        "Reading files that break readers",
        {
            "files": "files",
            "crashes": "crashes",
            "hangs_over_30_s": "hangs",
            "files_without_record_or_reason": "silent",
            "max_seconds": "slowest, s",
            "max_cpu_s": "most processor time, s",
            "max_memory_mib": "most memory, MiB",
            "records": "sheets read",
            "worksheets_an_oracle_opens": "another reader opens",
            "worksheets_missed": "of these missed",
        },
    ),
    Section(
        "determinism",
        "The same folder indexed again and again beside busy processes",
        {
            "workbooks": "workbooks",
            "sheets": "sheets",
            "skipped": "skipped",
            "timeouts": "of these for time",
            "indexings": "indexings",
            "busy_processes": "busy processes",
            "different": "different indexes",
            "busy_median_s": "busy, median s",
            "busy_slowest_s": "slowest, s",
        },
    ),
    Section(
        "large",
        "Very long, wide and many-sheeted files",
        {
            "file_mb": "file, MB",
            "sheets": "sheets",
            "partial": "of these in part",
            "rows": "rows",
            "calm_s": "calm, s",
            "calm_cpu_s": "processor, s",
            "calm_peak_mib": "memory, MiB",
            "busy_s": "busy, s",
            "busy_cpu_s": "processor, s",
            "equal": "same index",
        },
    ),
    Section(
        "encodings",
        "Encodings of delimited files, on languages of development and held-out ones",
        {
            "samples": "texts",
            "right": "right",
            "right_share": "share",
            "wrong_told_unsure": "wrong, told as unsure",
            "wrong": "wrong",
        },
    ),
    Section(
        "reading",
        "Reading speed",
        {
            "files": "files",
            "seconds_median": "median, s",
            "times_faster_than_openpyxl": "× openpyxl",
            "peak_mb_max": "peak memory, MiB",
        },
    ),
    Section(
        "encoder",
        "Encoder runtimes, one text at a time and in bulk",
        {
            "load_s": "load, s",
            "query_p50_ms": "query p50, ms",
            "query_p95_ms": "p95, ms",
            "sheets_per_s": "sheets a second",
            "memory_mib": "memory, MiB",
            "top_10_kept": "top 10 kept",
        },
    ),
    Section(
        "install",
        "The base install, in a fresh environment",
        {
            "packages": "packages",
            "on_disk_mb": "on disk, MB",
            "onnxruntime_mb": "of it onnxruntime",
            "numpy_mb": "numpy",
            "networkx_mb": "networkx",
            "sat-retriever_mb": "sat-retriever",
            "models_mb": "of that models",
            "unwanted": "torch, transformers, scipy",
            "python_s": "`python -c pass`, s",
            "import_s": "`import sat_retriever`, s",
            "help_s": "`sat --help`, s",
        },
    ),
    Section(
        "install",
        "Encoders in the base install",
        {
            "encoder_mb": "encoder, MB",
            "sheets": "sheets",
            "search_s": "cold `sat search --reranker links`, s",
            "reranked_search_s": "with its reranker, s",
            "load_s": "loading, s",
            "query_p50_ms": "query p50, ms",
            "query_p95_ms": "p95, ms",
            "sheets_per_s": "sheets a second",
            "memory_mib": "memory, MiB",
        },
    ),
    Section(
        "latency",
        "Query latency",
        {
            "sheets": "sheets",
            "whole_call_p50_ms": "whole call p50, ms",
            "whole_call_p95_ms": "p95, ms",
            "encode_p50_ms": "encoding p50, ms",
            "fts5_bm25_p50_ms": "FTS5 bm25() p50, ms",
            "lexical_recall_at_50": "lexical recall@50",
            "cold_search_process_s": "cold `sat search`, s",
            "import_s": "import, s",
        },
    ),
    Section(
        "serve",
        "Search over HTTP",
        {
            "sheets": "sheets",
            **{
                f"{kind}_{at_once}_at_once_{figure}": f"{name}, {at_once} at once, {unit}"
                for kind, name in (("page", "page"), ("mcp", "MCP"))
                for at_once in (1, 50)
                for figure, unit in (
                    ("p50_ms", "p50 ms"),
                    ("p95_ms", "p95 ms"),
                    ("per_s", "a second"),
                )
            },
        },
    ),
    Section(
        "contents_cost",
        "What contents cost, levels side by side",
        {
            "sheets": "sheets",
            "reading_s": "reading, s",
            "reading_times": "× names",
            "build_cpu_s": "indexing without encoder, processor s",
            "build_peak_mib": "memory, MiB",
            "bytes_a_sheet": "bytes a sheet",
            "contents_bytes": "of these texts",
            "words_bytes": "words",
            "tokens_bytes": "tokens",
            "one_changed_s": "one workbook changed, s",
            "first_ms": "first answer, ms",
            "ask_peak_mib": "memory, MiB",
        },
    ),
    Section(
        "contents_cost",
        "What contents cost a question, new words, p50 ms",
        {
            f"{kind}_new_{figure}": name
            for kind in ("questions", "names", "rare", "mixed", "common", "phrase", "misspelt")
            for figure, name in (("p50_ms", kind), ("p95_ms", "p95"), ("times", "× names"))
        },
    ),
    Section(
        "cell_search",
        "Finding a value in cells: 200 sheets of kept texts, 100,000 cells of one sheet",
        {
            f"{where}_{what}_{unit}": f"{name}, {asked}, {told}"
            for where, name in (("kept", "kept texts"), ("sheet", "sheet"))
            for what, asked in (
                ("word", "a word"),
                ("phrase" if where == "kept" else "number", "a phrase or number"),
                ("long", "4,000 characters"),
            )
            for unit, told in (("cpu_ms", "processor ms"), ("ms", "ms"))
        },
        "The time to read the sheet's file is in that of the sheet, not in its processor time.",
    ),
    Section(
        "adapters",
        "Adapters over the bare library, one call",
        {
            "p50_ms": "p50, ms",
            "over_bare_ms": "over the bare call, ms",
            "sheets": "sheets",
            "queries": "calls",
        },
    ),
    Section(
        "sync",
        "Keeping an index in step",
        {
            "workbooks": "workbooks",
            "first_index_s": "first time, s",
            "unchanged_s": "nothing changed, s",
            "one_changed_s": "one changed, s",
            "verify_s": "all hashed, s",
            "process_unchanged_s": "`sat index`, nothing changed, s",
            "process_one_changed_s": "`sat index`, one changed, s",
        },
    ),
    Section(
        "crash",
        "kill -9 while indexing",
        {
            "runs": "runs",
            "killed": "killed in time",
            "opened": "index opened",
            "killed_before_a_first_index": "killed before there was one",
            "killed_before_a_write": "before a write",
            "killed_between_writes": "between writes",
            "killed_after_all_writes": "after all writes",
            "workbook_states_checked": "workbook states checked",
            "torn_workbooks": "neither old nor new",
            "reruns_that_completed": "finished by another run",
            "processes_left_behind": "processes left",
        },
    ),
    Section(
        "privacy",
        "Marks of cells in the bytes of an index",
        {
            "marks_in_cells": "marks in cells",
            "found_in_cells": "of these found",
            "found_in_cells_open": "while open",
            "found_unheaded": "of tables without a header row",
            "skipped_found": "of skipped columns",
            "hashes_of_cells": "hashes of cells",
            "marks_in_names": "marks in names",
            "found_in_names": "of these found",
        },
    ),
    Section(
        "contention",
        "Writers and readers of one index at the same time",
        {
            "seconds": "seconds",
            "writers": "writers",
            "readers": "readers",
            "workbooks": "workbooks",
            "syncs": "syncs",
            "workbooks_written": "workbooks changed",
            "searches": "searches",
            "shows": "workbooks shown",
            "statuses": "statuses",
            "openings": "openings",
            "syncs_busy": "syncs refused as busy",
            "findings": "errors, or torn or older answers",
            "same_as_a_fresh_index": "same as a fresh index",
            "search_p50_ms": "search p50, ms",
            "search_p95_ms": "p95, ms",
        },
    ),
    Section(
        "soak",
        "Many questions in one process",
        {
            "sheets": "sheets",
            "queries": "questions",
            "query_mean_ms": "each, ms",
            "rss_start_mib": "memory before, MiB",
            "rss_warm_mib": "after a quarter",
            "rss_end_mib": "at the end",
            "rss_growth_mib": "growth since then, MiB",
            "rss_slope_mib_per_1000": "a thousand questions, MiB",
            "threads_growth": "more threads",
            "open_files_growth": "more open files",
        },
    ),
)
