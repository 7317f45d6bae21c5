"""Every table that can be measured, by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

# Corpora that the general model has not seen.
GENERAL_TESTS = (
    "industrytab_1k", "spider_dev", "bird_dev", "bird_dev_evidence", "eps", "templates", "domains",
)  # fmt: skip
Main = Callable[[Sequence[str]], object]


@dataclass(frozen=True, slots=True)
class Table:
    """One measurement.

    Attributes:
        module: Module below `benchmarks` that has its `main(arguments)`.
        what: What it measures, in a line.
        arguments: Options that make it this table, where a module makes several.
    """

    module: str
    what: str
    arguments: tuple[str, ...] = ()

    @property
    def main(self) -> Main:
        """The module's `main`; nothing is imported before it is asked for."""
        found: Main = importlib.import_module(f"benchmarks.{self.module}").main
        return found


TABLES: Mapping[str, Table] = MappingProxyType(
    {
        # the paper's tables
        "statistics": Table(
            "paper.statistics", "sheets, queries, annotations and links of every corpus"
        ),
        "main": Table("paper.trained", "every method on IndustryTab-1K's test split, trained here"),
        "grouped": Table("paper.trained", "the same on unseen families", ("--split", "grouped")),
        "sensitivity": Table("paper.sensitivity", "K, depth, gate and channels of the graph"),
        "cascade": Table("paper.cascade", "latency of each method, per stage and in one call"),
        # what the paper leaves out
        "bug": Table("paper.bug", "what the error of the released training costs"),
        "quality": Table("unlabelled.quality", "every corpus without training: BM25, dense, fused"),
        "links_quality": Table("links.quality", "what links buy without training"),
        "spider": Table("paper.spider", "trained on Spider, asked on Spider dev and BIRD dev"),
        "fusion": Table(
            "unlabelled.fusion", "ways to put cosine and BM25 together, on validation data"
        ),
        "adapted": Table(
            "unlabelled.adapted", "without labels: untrained, general and adapted models"
        ),
        "general_tests": Table(
            "unlabelled.adapted",
            "the general model beside untrained rankings, on every test set",
            ("--modes", "--corpora", *GENERAL_TESTS),
        ),
        "apart_tests": Table(
            "unlabelled.adapted",
            "the general model without the paper's categories and names, on IndustryTab-1K",
            ("--modes", "--models", "apart", "--corpora", "industrytab_1k"),
        ),
        "adapt_scale": Table("speed.adapt_scale", "time and memory of `sat adapt`"),
        "train_speed": Table("speed.train_speed", "seconds of a training step, fp32 and bf16"),
        # reading and understanding
        "periods": Table(
            "periods.periods", "times and owners in questions, however they are spelled"
        ),
        "headers": Table("reading.headers", "header detection against labels"),
        "reading": Table("reading.reading", "reading speed beside other readers"),
        "robustness": Table(
            "safety.robustness", "files that break readers, and mutants of good ones"
        ),
        "determinism": Table(
            "safety.determinism", "the same folder gives the same index, busy or not"
        ),
        "large": Table("safety.large", "very long, wide and many-sheeted files, calm and busy"),
        "formula_links": Table("links.formula_links", "formula links against an independent count"),
        "joins": Table("links.joins", "join keys by headers against declared foreign keys"),
        "general": Table("general.general", "the general model: trained, measured, made compact"),
        "compact": Table("speed.compact", "an encoder stored in bytes and half precision"),
        # made corpora
        "synth_stats": Table("made.stats", "made corpora beside the published ones"),
        "synth_roundtrip": Table("made.roundtrip", "made workbooks read again"),
        "synth_quality": Table("made.quality", "made questions without training"),
        "synth_recalculated": Table("made.recalculated", "cached values against an office suite"),
        "synth_scale": Table("made.scale", "corpora of many sheets made and indexed"),
        "own_queries": Table("made.own_queries", "queries made from an index"),
        # speed and safety
        "latency": Table("speed.latency", "one query at 1,000 and 100,000 sheets"),
        "encoder": Table("speed.encoder", "encoder runtimes"),
        "install": Table("speed.install", "the base install: size, packages, cold start, encoders"),
        "links_scale": Table("links.scale", "links at scale"),
        "adapters": Table("speed.adapters", "what adapters add to a call"),
        "sync": Table("speed.sync", "keeping an index in step with a folder"),
        "crash": Table("safety.crash", "kill -9 while indexing"),
        "contention": Table("safety.contention", "two writers and eight readers of one index"),
        "soak": Table("safety.soak", "memory over 20,000 questions in one process"),
    }
)
