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
        text: What was measured, if title and headings do not say it.
    """

    benchmark: str
    title: str
    columns: Mapping[str, str]
    limits: str
    text: str = ""


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
            "default_p95_times_p50": "p95, times p50",
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
        text="Calls took turns in one process. *Contents* rows hold texts of cells as well.",
        limits=(
            "Real corpora: names are made by templates and tokens are random, so every word is "
            "common and no token is near another. Real ones are kinder to both. Files were in the "
            "system's cache; a disk would add its own time to a first answer."
        ),
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
        text=(
            "Each figure of a store is extrapolated as a power of the number of sheets through "
            "100,000, 300,000 and a million; *error* is how far the first two miss the third. "
            "Reading and encoding count EPS's workbooks. Prices are list prices of June 2026 in "
            "us-east-1: m7g.large on demand, gp3 storage."
        ),
        limits=(
            "Any measurement at ten million. On Ray, costs a sheet on one machine are multiplied: "
            "a network between nodes, and an index that grows while it is written, would add to "
            "them."
        ),
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
            "default_p95_times_p50": "p95, times p50",
            "default_times_encoding": "times encoding",
            "no_reranking_times_encoding": "without reranking, times encoding",
            "times_file": "times the file, in turn",
            "equal_answers": "answers equal to the file's, of 100",
            "query_p50_ms": "asked with a token, p50 ms",
            "query_p95_ms": "p95",
            "recall_at_50": "recall@50",
        },
        text=(
            "The first rows take the default path, and their recall counts against every sheet "
            "scored. The others compare tokens of names alone, given the question's token, and "
            "their recall counts against all cosines. LlamaIndex's and LangChain's stores use "
            "HNSW with m 16, ef_construction 64 and ef_search 200, 32 bits a number. Sheets named "
            "*template* have random tokens, which a graph of neighbours finds hardest; those "
            "named *encoded* have real ones, of names that repeat."
        ),
        limits="A network: server and readers share one machine of two cores.",
    ),
    Section(
        "beside",
        "The default path beside retrievers of others, which compare cosines alone",
        {
            "sheets": "sheets",
            "build_s": "opened or filled, s",
            "peak_mib": "peak of the process, MiB",
            "5_hits_p50_ms": "5 hits, token given, p50 ms",
            "5_hits_p95_ms": "p95",
            "5_hits_encoded_p50_ms": "with encoding, p50 ms",
            "5_hits_encoded_p95_ms": "p95",
            "50_hits_p50_ms": "50 hits, token given, p50 ms",
            "50_hits_p95_ms": "p95",
            "50_hits_encoded_p50_ms": "with encoding, p50 ms",
            "50_hits_encoded_p95_ms": "p95",
            "recall_at_50": "recall@50 of all cosines",
        },
        text=(
            "LlamaIndex's `VectorStoreIndex` and LangChain's `InMemoryVectorStore` are asked by "
            "their frameworks' retrievers, LanceDB and Chroma by their own calls. All have the "
            "same tokens and take the same tokens of questions, from the same encoder; a sheet's "
            "text is its id there. This package's index was made before, so it is only opened; it "
            "also compares words and times, reranks, and says why. *eps* is an index of real "
            "workbooks with contents. A store asked for a minute is asked no further question."
        ),
        limits=(
            "What is found: the others find by cosines alone. Reading hits, which this package"
            " does when they are looked at (`run latency` times it). Stores with an index of"
            " neighbours, except Chroma; servers; several questions at once. LlamaIndex's and"
            " LangChain's stores in memory were not filled with more than 100,000 sheets."
        ),
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
        text="Made workbooks with eight texts a sheet and random tokens.",
        limits=(
            "Reading and encoding, which were left out, and a network: the server is on the same "
            "machine."
        ),
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
        text="The first twenty hits of the default path are compared.",
        limits="Real tokens: those of sheets are random, since equality does not depend on them.",
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
        limits="What a disk loses in a power failure: a server is killed as a process is.",
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
        text=(
            "Every answer was searched for names of hidden sheets: hits with reasons, links and "
            "copies, the question as it was read, answers of agents' tools, counts and refusals. "
            "Answers are compared with those of an index of only the sheets that the groups may "
            "see. In PostgreSQL the role that searches may only read."
        ),
        limits="What timing, file sizes or the database's own statistics tell.",
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
        limits=(
            "A network, which elsewhere takes most of the time: the server (moto) runs on the "
            "same machine."
        ),
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
        text=(
            "Reading, links and encoding are added up over the processes that did them; the "
            "others are seconds of the process that writes. The node is killed after a third of "
            "the workbooks. *Parts* are sheets, tokens, words, links, claims, copies and the "
            "others of an index, by their hashes."
        ),
        limits="Several machines, a network or GPUs: all nodes were on one machine of two cores.",
    ),
    Section(
        "cut_hosts",
        "Indexing on two hosts of which one is cut off",
        {
            "waited_s": "longest wait for a workbook, s",
            "ended_s": "end after the cut, s",
            "error": "error",
            "read_again": "tasks read again",
            "workbooks": "workbooks stored by it",
            "added_by_next_run": "added by the next run",
            "told_twice": "told twice",
            "different": "parts that differ (blank: none)",
        },
        text=(
            "Hosts are network namespaces of one machine, with a core each and a bridge between "
            "them. The host without Ray's head is cut off after a quarter of the workbooks: "
            "*other host* if the indexing runs beside the head, *indexing host* if it runs on the "
            "one that is cut off. *Health* are checks of nodes each second, *keepalive* those of "
            "connections each 10 s; otherwise Ray has its defaults."
        ),
        limits=(
            "Real networks, cuts of one direction, delays, and folders on a network: both hosts "
            "read one disk."
        ),
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
        text=(
            "Small files in the manner of public bug reports, with the records that each holds by "
            "construction. `unseen` was written from the rules alone by somebody who had not read "
            "the code, and was scored once, when the work was done."
        ),
        limits=(
            "How often such files occur. Rules were made on `messy_tables`, so its figures show "
            "what was mended, not how the rules do on a new file."
        ),
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
        text=(
            "80 rows and 40 sheets were drawn at random, at most two rows of a workbook, and read "
            "by a language model that knew the rules and not the code."
        ),
        limits=(
            "Judgement by people, or sheets that were not looked at: rules for totals were mended "
            "after the reader had named the missed ones, which `found` counts."
        ),
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
        text="Both versions read every workbook of EPS in turn, each time in a process of its own.",
        limits="Other collections, and the time that a person waits: this is processor time.",
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
        text=(
            "Every table of every xlsx file is loaded, and each of its cells is compared with "
            "openpyxl's."
        ),
        limits=(
            "Whether openpyxl itself is right, formats other than xlsx, and texts beyond 2,000 "
            "characters."
        ),
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
        text="The SQL comes from the generator, which knows names and headers.",
        limits="Whether a language model writes such SQL, and real workbooks.",
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
        limits="Attacks that nobody thought of, and other versions of DuckDB.",
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
        text="Replies come from a script, in both frameworks.",
        limits="How often a language model gives such replies.",
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
            "sql_first": "first query ran",
            "sql": "a query ran",
            "failed": "wrong: no whole reply",
            "not_found": "sheet not found",
            "no_query": "no query, read wrong",
            "no_rows": "queries failed, read wrong",
            "wrong_rows": "wrong rows",
            "told_wrong": "right rows, wrong words",
            "read_wrong": "read wrong",
            "median_prompt_tokens": "prompt tokens, median",
            "median_tokens": "reply tokens, median",
            "median_seconds": "s, median",
            "slots": "asked at a time",
        },
        text=(
            "An answer is right if it says every expected value, whatever else it says. A query "
            "ran if it gave a value. Failures are counted, each in the first class that fits. "
            "`made_300_even` is the half on which failures were read and mended."
        ),
        limits=(
            "Whether the other statements of an answer are right. Larger models, the ways "
            "`whole_workbook` and `rag_sheets` on the made halves, and the rest of these, of which "
            "the first 24 and 30 of 107 questions each were asked: *not run*. The even half was "
            "measured before the mends that reading it led to; what these changed is in the log. "
            "The engine's rows are of the judge before, which counted digits of citations, too; it "
            "gave the 40 answers of `rag_sheets` the same marks. Speed: one or two cores did other "
            "work beside, and several questions were asked at a time."
        ),
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
        text="Someone who knew the answers wrote the SQL by hand.",
        limits=(
            "How a language model does: the SQL tests the tables. The sets are small, six "
            "questions about notes and ten over many cells, so one question moves a share by .17 "
            "or .10. A short number stands in five texts by chance."
        ),
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
        text="Every row of *Quality without training* measured again, question by question.",
        limits="Corpora with cells: these have names and headers alone.",
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
        limits="Real workbooks: generator and reader have the same authors and may share an error.",
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
        limits=(
            "Real workbooks, which differ in size and in what they hold, and a machine with more "
            "cores."
        ),
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
        limits="Whether the adapted index is better for people's own questions.",
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
        limits=(
            "Other processors, above all those that do not multiply bf16, and the quality that "
            "either precision gives."
        ),
    ),
    Section(
        "gpu",
        "On a GPU: the paper's recipe with BGE-base and all-mpnet-base-v2 (`mpnet_`), seed 42",
        {
            "NDCG@5": "NDCG@5",
            "joint_mean_ms": "both stages, mean ms",
            "joint_p50_ms": "p50",
            "joint_p95_ms": "p95",
            "stage1_p50_ms": "Stage 1, p50",
            "stage2_p50_ms": "Stage 2, p50",
        },
        limits="Spread: it is one seed and one card.",
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
        limits="Other cards, and the time to read the sheets.",
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
        limits=(
            "Questions of people: these are made from the names, headers and links of made "
            "sheets, which flatters methods that compare words."
        ),
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
        text="*Edges* join a sheet with formulas to a sheet of the same workbook that they read.",
        limits=(
            "Links between workbooks, and what both counts miss alike, such as `INDIRECT` with a "
            "computed sheet."
        ),
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
        limits="Formulas of other files than these: speed depends on how they are written.",
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
        limits=(
            "Spreadsheets, whose headers are less tidy than those of databases, and keys that "
            "nobody declared, which count as wrong."
        ),
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
        limits="Reading and encoding, and real corpora, which have more or fewer links.",
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
        text="Made sheets have known headers; real ones were labelled by hand.",
        limits=(
            "Files of other makers: weights were chosen on the tuning parts, and real sheets are "
            "few."
        ),
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
        limits="Files that break readers in ways not yet seen, and systems other than Linux.",
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
        limits="Other processors, whose tokens may differ in their last bits.",
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
        text=(
            "Three generated files, indexed on an idle machine and beside processes that keep "
            "every core busy."
        ),
        limits="Files that are large in other ways.",
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
        limits="How often each encoding occurs: every language and encoding counts the same.",
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
        text=(
            "Every measurement is a fresh process that starts its clock before it imports the "
            "reader."
        ),
        limits="Reading many files in one process, where imports count once.",
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
        text="All methods use the weights of all-MiniLM-L6-v2.",
        limits="The general encoder of the package, and other processors.",
    ),
    Section(
        "walk",
        "What a question enters, and a workbook on its way in",
        {
            "modules": "modules",
            "functions": "functions",
            "calls": "calls",
            "rooms": "rooms",
            "room_changes": "changes of room",
            "statements": "statements to SQLite",
        },
        text="A first question opens the index.",
        limits="Times, other questions (their words decide what is read), and the process that "
        "reads files.",
    ),
    Section(
        "install",
        "The base install, in a fresh environment",
        {
            "packages": "packages",
            "on_disk_mb": "on disk, MB",
            "onnxruntime_mb": "of it onnxruntime",
            "numpy_mb": "numpy",
            "tokenizers_mb": "tokenizers",
            "sat-retriever_mb": "sat-retriever",
            "models_mb": "of that models",
            "unwanted": "torch, transformers, scipy",
            "python_s": "`python -c pass`, s",
            "import_s": "`import sat_retriever`, s",
            "help_s": "`sat --help`, s",
        },
        limits="The time of downloads, and other systems than Linux.",
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
        limits="Quality; that is in *Without labels*.",
    ),
    Section(
        "latency",
        "Query latency",
        {
            "sheets": "sheets",
            "encode_p50_ms": "encoding, p50 ms",
            "five_p50_ms": "five hits, p50 ms",
            "five_p95_ms": "p95",
            "five_times_encoding": "times encoding",
            "fifty_p50_ms": "fifty hits, p50 ms",
            "fifty_p95_ms": "p95",
            "fifty_times_encoding": "times encoding",
            "fifty_read_times_encoding": "fifty, all read, times encoding",
            "no_reranking_times_encoding": "five without reranking, times encoding",
            "fts5_bm25_p50_ms": "FTS5 bm25() p50, ms",
            "lexical_recall_at_50": "lexical recall@50",
            "cold_search_process_s": "cold `sat search`, s",
            "import_s": "import, s",
        },
        text=(
            "Calls took turns in one process. *All* keeps texts of cells, *names* does not; "
            "*template* sheets have template-like names without cells, so every word is common, "
            "and random tokens. *All read* looks at the reasons, cells and rows of each hit."
        ),
        limits=(
            "Several questions at once; a million sheets ([there](#one-file-of-up-to-a-million-"
            "sheets)); a disk that has not the index in its cache."
        ),
    ),
    Section(
        "serve",
        "Search over HTTP",
        {
            "sheets": "sheets",
            **{
                f"{kind}_{at_once}_at_once_{figure}": f"{name}, {at_once} at once, {unit}"
                for kind, name in (("page", "page"), ("mcp", "MCP"))
                for at_once in (1, 20, 50)
                for figure, unit in (
                    ("p50_ms", "p50 ms"),
                    ("p95_ms", "p95 ms"),
                    ("per_s", "a second"),
                )
            },
        },
        text=(
            "The server runs without its limit on the rate of a client; each request asks another "
            "question."
        ),
        limits=(
            "A network: client and server share one machine of two cores. The sheets have no "
            "cells, so pages show no previews."
        ),
    ),
    Section(
        "page",
        "The page on real workbooks",
        {
            "requests": "questions, with repetitions",
            **{
                f"{kind}_{figure}_ms": f"{name}, {figure} ms"
                for kind, name in (
                    ("search", "search"),
                    ("preview", "preview of the best hit"),
                    ("sheet", "its sheet"),
                    ("sheet_asked", "its sheet with the question"),
                    ("repeated_search", "difference of the two"),
                )
                for figure in ("p50", "p95")
            },
            **{
                f"{task}_{unit}": f"{name}, {unit}"
                for task, name in (
                    ("find_and_open", "find a value, open its workbook"),
                    ("compare", "compare two years' tables"),
                    ("export", "save the table found"),
                )
                for unit in ("steps", "s")
            },
        },
        text=(
            "Requests over HTTP, one at a time, to a new server. The preview reads the workbook "
            "unless an earlier question did; both pages of the sheet have its cells from memory. "
            "With a question a sheet's page leads to the next and the previous hit, of a list that "
            "the server keeps since the search. Tasks are done by a script in chromium, each "
            "checked at its end; a step is a question typed, or a click."
        ),
        limits=(
            "Reading and thinking of a person, who takes most of the time of a task; a network, "
            "and several people at once ([there](#search-over-http)). Questions with no hit that "
            "seems to answer are left out."
        ),
    ),
    Section(
        "overhead",
        "What counts, spans and logs cost a search",
        {
            "sheets": "sheets",
            "turns": "turns",
            "plain_cpu_p50_ms": "search with nothing watched, processor ms",
            "cpu_p50_ms": "watched, processor ms",
            "added_p50_us": "added in a turn, µs",
            "added_low_us": "from",
            "added_high_us": "to",
            "times_plain": "times the search",
        },
        text=(
            "The application of `sat serve` answers the same question with nothing watched, with "
            "counts, with spans of the SDK beside, with both logs beside, in turns in one process; "
            "medians of processor time over all threads, and of the differences within a turn, "
            "with 95 % bootstrap intervals."
        ),
        limits=(
            "A network, and an exporter: spans are made and dropped. The machine ran other work, "
            "which the intervals tell of. The sheets have no cells, so that a search is cheap "
            "and what is added counts most."
        ),
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
        text=(
            "`names`, `examples` and `all` took turns in one run. Made sheets hold 200 distinct "
            "texts each."
        ),
        limits="The cost of encoding, which was left out.",
    ),
    Section(
        "contents_cost",
        "What contents cost a question, new words, p50 ms",
        {
            f"{kind}_new_{figure}": name
            for kind in ("questions", "names", "rare", "mixed", "common", "phrase", "misspelt")
            for figure, name in (("p50_ms", kind), ("p95_ms", "p95"), ("times", "× names"))
        },
        text="Questions of words that are new to the process.",
        limits="The time to encode the question.",
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
        text=(
            "The time to read the sheet's file is in that of the sheet, not in its processor time."
        ),
        limits="Sheets at a URL, which have to be downloaded first.",
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
        limits="What a framework's own chains, agents and models add.",
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
        limits="Network drives and URLs: all files are on a local disk.",
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
        limits="Power failures, where a disk may lose what the system had taken for written.",
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
        text=(
            "A *mark* is a text or number that stands nowhere else. After each step the index "
            "file and the files beside it are searched for all marks."
        ),
        limits="Copies that the disk or its file system keeps of deleted blocks.",
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
        limits="Network drives, more processes, and longer runs.",
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
        text="No two questions are equal, so no answer comes from a cache.",
        limits="Days of use, and several threads.",
    ),
    Section(
        "operate",
        "Half an hour of a team's server: load, kills, restarts, full disks",
        {
            "minutes": "minutes",
            "sheets": "sheets at the start",
            "requests": "requests",
            "events": "events",
            "events_left_out": "left out for time",
            "event_faults": "went wrong",
            "refused_restart": "refused while it restarts",
            "refused_worker_killed": "cut off with a worker",
            "refused_audit_full": "refused as the audit log is full",
            "unexpected": "other errors",
            "shown": "hidden, but shown",
            "wrong": "wrong rows",
            "audit_lines": "audit lines",
            "audit_missing": "answers without one",
            "audit_unknown": "lines without a request",
            "audit_other_person": "of another person",
            "followed_p50_s": "an edit found after, median, s",
            "followed_max_s": "at most, s",
            "same_as_a_fresh_index": "same as a fresh index",
            "answers_different": "answers that differ from its",
            "processes_left": "processes left",
            "temporary_files_left": "temporary files left",
        },
        text=(
            "Eight hours of a team's requests in half an hour: six people with groups and tokens "
            "ask a server with two workers, an indexer follows the folder, a model replies from a "
            "script. Several times workbooks are edited, a worker and the indexer killed, the "
            "server restarted and reloaded, a token, the rules and the index replaced. Files "
            "cannot grow, as on a full disk; the processes' clock jumps by a day. The "
            "[log](log.md) tells what went wrong."
        ),
        limits=(
            "The system's own clock, a disk that is full for all, a power failure, PostgreSQL, "
            "files at URLs, and days of use. A machine of its own: others computed on it."
        ),
    ),
    Section(
        "operate",
        "The same half hour by quarter",
        {
            "asked": "requests",
            "search_p50_ms": "search p50, ms",
            "search_p95_ms": "p95, ms",
            "server_mib_median": "memory of server and workers, MiB",
            "server_threads_median": "threads",
            "server_files_median": "open files",
            "indexer_mib_median": "memory of the indexer, MiB",
            "indexer_threads_median": "its threads",
            "indexer_files_median": "its open files",
        },
        text="Medians; a search is one of the page or of programs that was answered.",
        limits=(
            "Growth over days: workers and the indexer are replaced several times. Memory that "
            "processes share is counted in each."
        ),
    ),
)
