"""List every table that can be measured, by name and by room."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from benchmarks.corpora import INDUSTRYTAB_1K, used

Main = Callable[[Sequence[str]], object]


@dataclass(frozen=True, slots=True)
class Table:
    """One measurement.

    Attributes:
        module: Module in `benchmarks` with a `main(arguments)`; its folder is the room.
        what: Its subject, in a line.
        arguments: Options that select this table if a module makes several.
    """

    module: str
    what: str
    arguments: tuple[str, ...] = ()

    @property
    def room(self) -> str:
        """Folder of its module."""
        return self.module.partition(".")[0]

    @property
    def main(self) -> Main:
        """The module's `main`; the module is imported only on access."""
        found: Main = importlib.import_module(f"benchmarks.{self.module}").main
        return found


_UNSEEN = ("--split", "grouped")
_JUDGED = ("--modes", "--corpora", *used("judged"))
_APART = ("--modes", "--models", "apart", "--corpora", INDUSTRYTAB_1K)

TABLES: Mapping[str, Table] = MappingProxyType(
    {
        "statistics": Table("paper.statistics", "sheets, queries and links of every corpus"),
        "main": Table("paper.trained", "every method on IndustryTab-1K's test split, trained here"),
        "grouped": Table("paper.trained", "the same on unseen families", _UNSEEN),
        "sensitivity": Table("paper.sensitivity", "K, depth, gate and channels of the graph"),
        "cascade": Table("paper.cascade", "latency of each method, per stage and in one call"),
        "bug": Table("paper.bug", "what the error of the released training costs"),
        "spider": Table("paper.spider", "trained on Spider, asked on Spider dev and BIRD dev"),
        "quality": Table("unlabelled.quality", "every corpus without training: BM25, dense, fused"),
        "unchanged": Table("unlabelled.unchanged", "corpora without cells, beside before"),
        "cosine": Table("unlabelled.cosine", "the cosine alone: the general encoder and MiniLM"),
        "fusion": Table("unlabelled.fusion", "ways to join cosine and BM25, on validation data"),
        "adapted": Table("unlabelled.adapted", "untrained, general and adapted models"),
        "general_tests": Table("unlabelled.adapted", "the general model on every test", _JUDGED),
        "apart_tests": Table(
            "unlabelled.adapted",
            "the general model without the paper's categories and names, on IndustryTab-1K",
            _APART,
        ),
        "general": Table("general.general", "the general model: trained, measured, made compact"),
        "features": Table("general.features", "a second stage that reads what a list shows"),
        "periods": Table("periods.periods", "times and owners in questions, however spelled"),
        "copies": Table("copies.copies", "copies and versions on made histories"),
        "copies_bounds": Table("copies.bounds", "what each bound of copies is worth"),
        "headers": Table("reading.headers", "header detection against labels"),
        "messy": Table("reading.messy", "records of small messy tables, against those they hold"),
        "left_out": Table("reading.left_out", "rows left out of real tables, read by hand"),
        "read_cost": Table("reading.read_cost", "reading EPS, beside an earlier version"),
        "encodings": Table("reading.encodings", "encodings of delimited files, told from content"),
        "reading": Table("reading.reading", "reading speed beside other readers"),
        "links_quality": Table("links.quality", "what links buy without training"),
        "formula_links": Table("links.formula_links", "formula links against an independent count"),
        "joins": Table("links.joins", "join keys by headers against declared foreign keys"),
        "links_scale": Table("links.scale", "links at scale"),
        "related": Table("related.related", "questions that need several linked sheets"),
        "related_neighbours": Table(
            "related.neighbours", "how far links lead from one right sheet to the others"
        ),
        "related_pulls": Table("related.learnt", "a walk over links that is learnt from them"),
        "synth_stats": Table("made.stats", "made corpora beside the published ones"),
        "synth_roundtrip": Table("made.roundtrip", "made workbooks read again"),
        "synth_quality": Table("made.quality", "made questions without training"),
        "synth_recalculated": Table("made.recalculated", "cached values against an office suite"),
        "synth_scale": Table("made.scale", "corpora of many sheets made and indexed"),
        "contents": Table("contents.contents", "search by contents, on tables and real workbooks"),
        "target": Table("contents.target", "table retrieval in the form of the TARGET benchmark"),
        "table_choice": Table("contents.tables", "citations that hold the answer, several tables"),
        "asked": Table("contents.asked", "made questions by value, note and row label"),
        "real": Table("real.real", "real workbooks and people's words: the default, plain parts"),
        "ladder": Table(
            "real.real", "one rung of the default left out: its gain, its cost", ("--ladder",)
        ),
        "nothing": Table("nothing.nothing", "how sure an answer is that the index holds one"),
        "common_words": Table("nothing.common_words", "make the list of common English words"),
        "table_data": Table(
            "answers.table_data",
            "every cell of a table beside openpyxl's, and the time of a long one",
        ),
        "answers": Table("answers.llm", "a language model's answers, in three ways (--llm MODEL)"),
        "scripted": Table(
            "answers.scripted", "query engines with scripted models: what comes out of each case"
        ),
        "made_answers": Table(
            "answers.made_sql", "300 made questions with SQL, beside the generator's answers"
        ),
        "hostile_sql": Table("answers.hostile_sql", "500 statements meant to do harm, or silly"),
        "eps_answers": Table(
            "answers.eps_answers", "hand-written questions over real workbooks, down to the cell"
        ),
        "latency": Table("speed.latency", "one query at 1,000 and 100,000 sheets"),
        "serve": Table("speed.serve", "a search request over HTTP, one and fifty at once"),
        "million": Table(
            "speed.million", "multiples of encoding, recall, memory and cold start to 1,000,000"
        ),
        "postgres": Table("speed.postgres", "the same index in PostgreSQL, beside vector stores"),
        "equal_stores": Table(
            "safety.equal_stores", "answers from PostgreSQL and from a file, on every corpus"
        ),
        "ten_million": Table("speed.ten_million", "figures of `million`, drawn on to ten million"),
        "contents_cost": Table(
            "speed.contents_cost", "time, bytes and memory at `names`, `examples` and `all`"
        ),
        "cell_search": Table("speed.cell_search", "finding a value in cells, beside before"),
        "encoder": Table("speed.encoder", "encoder runtimes"),
        "install": Table("speed.install", "the base install: size, packages, cold start, encoders"),
        "adapters": Table("speed.adapters", "what adapters add to a call"),
        "sync": Table("speed.sync", "keeping an index in step with a folder"),
        "remote": Table("speed.remote", "keeping an index in step with a bucket on S3"),
        "ray": Table("speed.cluster", "indexing on a Ray cluster, with a node killed"),
        "postgres_writes": Table(
            "speed.postgres_writes", "statements and seconds of writing to PostgreSQL"
        ),
        "train_speed": Table("speed.train_speed", "seconds of a training step, fp32 and bf16"),
        "gpu": Table(
            "gpu.gpu", "the paper's recipe on a GPU: trained, timed, its cascade measured"
        ),
        "adapt_scale": Table("speed.adapt_scale", "time and memory of `sat adapt`"),
        "golden": Table("safety.golden", "hashes of all that users see, before and after a change"),
        "robustness": Table("safety.robustness", "files that break readers, and damaged good ones"),
        "determinism": Table("safety.determinism", "the same folder gives the same index"),
        "large": Table("safety.large", "very long, wide and many-sheeted files, calm and busy"),
        "privacy": Table("safety.privacy", "what of the cells is in the bytes of an index"),
        "postgres_kills": Table(
            "safety.postgres_kills", "writers, servers and connections killed while they write"
        ),
        "permissions": Table("safety.permissions", "random searches, and what shows that must not"),
        "crash": Table("safety.crash", "kill -9 while indexing"),
        "contention": Table("safety.contention", "two writers and eight readers of one index"),
        "soak": Table("safety.soak", "memory over 20,000 questions in one process"),
    }
)
