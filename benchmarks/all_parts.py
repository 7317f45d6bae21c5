"""What is shown, in order: all of it, and what the summary picks out."""

from __future__ import annotations

from benchmarks import paper
from benchmarks.adapted_parts import adapted_parts
from benchmarks.adapted_tables import summary_table
from benchmarks.breakdown import (
    Files,
    candidates_table,
    dependency_table,
    neighbours_table,
    of_split,
    types_table,
)
from benchmarks.figures import FIGURES
from benchmarks.link_tables import links_table
from benchmarks.main_table import answers_table, further, latency_table, main_table
from benchmarks.markdown import not_run, number
from benchmarks.method_tables import compared_table, training_table
from benchmarks.part import Part
from benchmarks.plain_tables import plain_table, shown_files
from benchmarks.quality_tables import CORPORA, open_table, quality_table
from benchmarks.results import read_results
from benchmarks.sections import SECTIONS
from benchmarks.statistics_tables import statistics_tables
from benchmarks.synth_tables import stats_table
from benchmarks.train_parts import training_parts
from benchmarks.train_plan import INDUSTRYTAB_614

_MEANS = (
    "Mean ± standard deviation over training seeds 42 to 44. *Reported* are the paper's figures, "
    "with BGE-base on an A40; measured here is MiniLM, five times smaller, on two processor cores. "
    "Rows of language models need a server of one's own (`--llm MODEL`)."
)
_SPLITS = {"standard": "standard test", "grouped": "unseen families"}


def summary_parts() -> list[Part]:
    """What comes without labels, the main table on both splits, and open data."""
    trained, timed = read_results("trained"), read_results("cascade")
    adapted = read_results("adapted")
    return [
        Part(
            "Without labels",
            "`python -m benchmarks run general_tests`, `python -m benchmarks run adapted`. NDCG@5 "
            "where nothing else is said. No labelled question of these corpora was learnt from or "
            "chosen with. *General* is the encoder in the package; it learnt from made corpora of "
            "the same makers as *templates* and *other subjects*, with other names and sheets, and "
            "knows the categories and the naming of the paper's corpus: the rows at the end are of "
            "one that does not (`run apart_tests`). *Adapted* is `sat adapt`, over seeds 42 to 44: "
            "*transductive* with the sheets that are asked for, as in anybody's own index, "
            "*inductive* without those of the unseen families. *Adapted Stage 1* is shown whether "
            "it was kept or not; *adapted cascade* is what a search then answers.",
            summary_table(adapted),
            adapted,
        ),
        Part(
            "IndustryTab-1K, standard test",
            "`python -m benchmarks run main`, times by `python -m benchmarks run cascade`. "
            f"{_MEANS} Differences are paired, with 95 % bootstrap intervals.",
            main_table(trained, timed, "standard"),
            _files(trained, "standard"),
        ),
        Part(
            "IndustryTab-1K, unseen families",
            "`python -m benchmarks run grouped`. No test sheet's family or header set was seen in "
            "training. *Reported* are the authors' later runs.",
            main_table(trained, [], "grouped"),
            _files(trained, "grouped"),
        ),
        _picture("comparison.svg"),
        Part(
            "Open data, without training",
            "`python -m benchmarks run quality`, `python -m benchmarks run links_quality`. No test "
            "set was used for a choice.",
            open_table(read_results("quality"), read_results("links")),
            read_results("quality"),
        ),
    ]


def _files(trained: Files, split: str) -> Files:
    """Result files of IndustryTab-1K."""
    return [file for files in of_split(trained, split).values() for file in files]


def all_parts() -> list[Part]:
    """Everything that was measured."""
    parts = [*_corpora(), *_main(), *_trained(), *adapted_parts()]
    return [*parts, *_untrained(), *_plain()]


def _corpora() -> list[Part]:
    counted, made = read_results("statistics"), read_results("synth_stats")
    return [
        Part(
            "The corpora",
            "`python -m benchmarks run statistics`. Of IndustryTab-614 only the 134 old questions "
            "could be had; its 1,453 are taken as soon as they are there.",
            statistics_tables(counted) if counted else not_run("statistics"),
            counted,
        ),
        Part(
            "Made corpora beside the published ones",
            "`python -m benchmarks run synth_stats`.",
            stats_table(made) if made else not_run("synth_stats"),
            made,
        ),
    ]


def _main() -> list[Part]:
    trained, timed = read_results("trained"), read_results("cascade")
    parts = [
        Part("Compared methods", f"{_MEANS} {paper.source('compared')}.", compared_table()),
        Part("Hyper-parameters", "As trained here and in the paper.", training_table()),
    ]
    for split, title in _SPLITS.items():
        files = _files(trained, split)
        run = "main" if split == "standard" else split
        parts.append(
            Part(
                f"Main table: {title}",
                f"`python -m benchmarks run {run}`. {_MEANS}",
                main_table(trained, timed if split == "standard" else [], split),
                files,
            )
        )
        parts.append(
            Part(
                f"Neighbouring rows: {title}",
                "Paired bootstrap over questions, all seeds of a question kept together.",
                f"{neighbours_table(trained, split)}\n\n{further(trained, split)}",
                files,
            )
        )
    legacy = [file for file in trained if file["dataset"] == INDUSTRYTAB_614]
    parts.append(
        Part(
            "Main table: IndustryTab-614, the old questions",
            "`python -m benchmarks run main --corpus industrytab_614`. A fifth of the 134 old "
            "questions, another fifth for each seed. The paper's own figures are for 1,453 "
            f"questions that could not be had: {_reported_614()}.",
            main_table(trained, [], "legacy", INDUSTRYTAB_614),
            legacy,
        )
    )
    parts.append(
        Part(
            "Language models' answers",
            "`python -m benchmarks run main --methods llm_only rag_llm --llm MODEL`.",
            answers_table(trained),
        )
    )
    parts.append(
        Part(
            "Latency by stage",
            "`python -m benchmarks run cascade`. One question after another, ms; both stages in "
            "one call, and each alone. Reported are means, on an A40. On a GPU: not run.",
            latency_table(timed),
            timed,
        )
    )
    return [*parts, *(_picture(name) for name in FIGURES)]


def _reported_614() -> str:
    rows = paper.full_corpus(INDUSTRYTAB_614).items()
    return ", ".join(f"{name} {number(row['NDCG@5'].mean)}" for name, row in rows)


def _picture(name: str) -> Part:
    figure = FIGURES[name]
    return Part(figure.title, figure.text, f"![{figure.text}](figures/{name})")


def _trained() -> list[Part]:
    trained, counted = read_results("trained"), read_results("statistics")
    parts = []
    for split, title in _SPLITS.items():
        parts += [
            Part(
                f"By query type: {title}",
                "NDCG@5 of the main table's runs.",
                types_table(trained, counted, split),
            ),
            Part(
                f"Dependency-heavy questions: {title}",
                "NDCG@5 of the same runs.",
                dependency_table(trained, counted, split),
            ),
            Part(
                f"Candidate ceilings: {title}",
                "What the first 50 hold, and what a perfect Stage 2 would make of them.",
                candidates_table(trained, split),
            ),
        ]
    return [*parts, *training_parts()]


def _untrained() -> list[Part]:
    quality, links = read_results("quality"), read_results("links")
    return [
        Part(
            "Quality without training",
            "`python -m benchmarks run quality`. No test set was used for a choice; every choice "
            "was made on the validation parts (`python -m benchmarks run fusion`).",
            quality_table(quality),
            quality,
        ),
        Part(
            "What links buy without training",
            "`python -m benchmarks run links_quality`. Chosen on the validation parts "
            "(`--validation`), scored here once. BIRD's declared keys take its own "
            "dev_tables.json (`--bird-tables FILE`).",
            links_table(links, CORPORA) if links else not_run("links_quality"),
            links,
        ),
    ]


def _plain() -> list[Part]:
    return [
        Part(
            section.title,
            f"`python -m benchmarks run {section.benchmark}`.",
            plain_table(section),
            shown_files(section),
        )
        for section in SECTIONS
    ]
