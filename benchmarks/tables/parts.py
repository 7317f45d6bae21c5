"""All parts of the results in order, and those that the page on the paper shows."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.corpora import INDUSTRYTAB_614
from benchmarks.paper import paper
from benchmarks.results import read_results
from benchmarks.tables.breakdown import (
    Files,
    candidates_table,
    dependency_table,
    neighbours_table,
    of_split,
    types_table,
)
from benchmarks.tables.figures import FIGURES
from benchmarks.tables.main import answers_table, further, latency_table, main_table
from benchmarks.tables.markdown import number
from benchmarks.tables.methods import compared_table, training_table
from benchmarks.tables.part import Part, Shown
from benchmarks.tables.plain import plain_table, shown_files
from benchmarks.tables.sections import SECTIONS
from benchmarks.tables.shown import (
    CORPORA,
    PAPER_GRAPH,
    PAPER_LABELS,
    PAPER_OPEN,
    TRAINING,
    UNTRAINED,
    WITHOUT_LABELS,
)

_MEANS = (
    "Mean ± standard deviation over training seeds 42 to 44. Rows marked *reported* have the "
    "paper's figures, with BGE-base on an A40. All other rows were measured here on two processor "
    "cores. They start from MiniLM, which is five times smaller than BGE-base, unless they name "
    "another encoder. arctic-embed-xs is as small as MiniLM, all-mpnet-base-v2 as large as "
    "BGE-base. The general encoder is the one in the package; the default ranking uses it. Rows of "
    "language models need a server (`--llm MODEL`); `python -m benchmarks llm-server` starts one."
)
_TRAINED = (
    "Where a row's last training improved on its start in some seeds only, the row says in how "
    "many. The other seeds were ranked by the start."
)
_SPLITS = {"standard": "standard test", "grouped": "unseen families"}
_TEMPLATES = (
    "Questions of people, and sheets that are named badly: those of IndustryTab are made from "
    "templates, so BM25 is strong."
)
_DROPOUT = (
    "Encoders alone beside each other: MiniLM's rows and ours were trained with dropout in frozen "
    "layers, too, those of other encoders without."
)
_MODEL = (
    "The paper's language model is Qwen3.5-9B. Qwen2.5-Coder-1.5B is six times smaller and made "
    "for code."
)
_SHARES = (
    "Latency of language models: several questions were asked at a time, and the milliseconds are "
    "one question's share of the run. A fault of our server with long prompts: it could explain "
    "the figure of LLM-only, and no other server was asked."
)
_TIMES = (
    "Times: no row compares the times in a question with those in names, as an index does when it "
    "is installed; *Without labels* has the default ranking with them."
)
_STANDARD = (
    f"{_TEMPLATES} New sheets: this split separates questions, not sheets. {_DROPOUT} {_TIMES} "
    f"{_MODEL} {_SHARES}"
)
_GROUPED = (
    f"{_TEMPLATES} Choices free of its questions: most are in the standard split's train or "
    f"validation part, on which fusion share and weights were chosen. {_DROPOUT} {_TIMES}"
)
_OF_SPLIT = {"standard": _STANDARD, "grouped": _GROUPED}
_SUMMED = "Single questions and their spread; the result files have the rows."


def paper_parts() -> list[Part]:
    """Return the page on the paper: both splits of its corpus, without labels, and open data."""
    trained, timed = read_results("trained"), read_results("cascade")
    return [
        Part(
            "IndustryTab-1K, standard test",
            "`python -m benchmarks run main`; milliseconds by `python -m benchmarks run cascade`, "
            f"except those of language models, which are of their own run. {_MEANS} {_TRAINED} Δ "
            "is the difference to the nearest measured row above, on the seeds that both have, "
            "with a paired 95 % bootstrap interval. That row may be of another encoder.",
            main_table(trained, timed, "standard"),
            _STANDARD,
            _files(trained, "standard"),
        ),
        Part(
            "IndustryTab-1K, unseen families",
            "`python -m benchmarks run grouped`. No test sheet's family or header set was seen in "
            f"training. *Reported* are the authors' later runs. {_TRAINED}",
            main_table(trained, [], "grouped"),
            _GROUPED,
            _files(trained, "grouped"),
        ),
        _picture("comparison.svg"),
        PAPER_GRAPH.part(),
        PAPER_LABELS.part(),
        PAPER_OPEN.part(),
    ]


def _files(trained: Files, split: str) -> Files:
    """Return the result files of IndustryTab-1K."""
    return [file for files in of_split(trained, split).values() for file in files]


def all_parts() -> list[Part]:
    """Return everything that was measured."""
    trained = [*_main(), *_by_question(), *_of(TRAINING)]
    return [*_of(CORPORA), *trained, *_of(WITHOUT_LABELS), *_of(UNTRAINED), *_plain()]


def _of(shown: Sequence[Shown]) -> list[Part]:
    return [each.part() for each in shown]


def _main() -> list[Part]:
    trained, timed = read_results("trained"), read_results("cascade")
    parts = [
        Part(
            "Compared methods",
            f"{_MEANS} {paper.source('compared')}.",
            compared_table(),
            "Figures: these are definitions.",
        ),
        Part(
            "Hyper-parameters",
            "As trained here and in the paper.",
            training_table(),
            "Values that were tried and not taken; the [log](log.md) has them.",
        ),
    ]
    for split, title in _SPLITS.items():
        files = _files(trained, split)
        run = "main" if split == "standard" else split
        parts.append(
            Part(
                f"Main table: {title}",
                f"`python -m benchmarks run {run}`. {_MEANS} {_TRAINED}",
                main_table(trained, timed if split == "standard" else [], split),
                _OF_SPLIT[split],
                files,
            )
        )
        parts.append(
            Part(
                f"Neighbouring rows: {title}",
                "Paired bootstrap over questions, all seeds of a question kept together.",
                f"{neighbours_table(trained, split)}\n\n{further(trained, split)}",
                "Spread between trainings beyond the seeds used.",
                files,
            )
        )
    legacy = [file for file in trained if file["dataset"] == INDUSTRYTAB_614]
    parts.append(
        Part(
            "Main table: IndustryTab-614, the old questions",
            "`python -m benchmarks run main --corpus industrytab_614`. A fifth of the 134 old "
            "questions, another fifth for each seed. The paper's own figures are for 1,453 "
            f"questions that could not be had: {_reported_614()}. {_TRAINED}",
            main_table(trained, [], "legacy", INDUSTRYTAB_614),
            "The paper's task: questions differ, and a fifth of 134 is few. The speed of language "
            f"models: the processor was shared with other work. {_MODEL}",
            legacy,
        )
    )
    parts.append(
        Part(
            "Language models' answers",
            "`python -m benchmarks run main --methods llm_only rag_llm --llm MODEL`. Short answers "
            "name fewer than five sheets; the order of the candidates fills them up. Where several "
            "questions were asked at a time, the seconds are one question's share of the time.",
            answers_table(trained),
            f"The quality of the rankings; that is in the main tables. {_MODEL}",
        )
    )
    parts.append(
        Part(
            "Latency by stage",
            "`python -m benchmarks run cascade`. One question after another, ms; both stages in "
            "one call, and each alone. Reported are means, on an A40. For a GPU: `run gpu`.",
            latency_table(timed),
            "A comparison of machines: ours are two processor cores, the paper's is an A40.",
            timed,
        )
    )
    return [*parts, *(_picture(name) for name in FIGURES)]


def _reported_614() -> str:
    rows = paper.full_corpus(INDUSTRYTAB_614).items()
    return ", ".join(f"{name} {number(row['NDCG@5'].mean)}" for name, row in rows)


def _picture(name: str) -> Part:
    figure = FIGURES[name]
    return Part(figure.title, figure.text, f"![{figure.text}](figures/{name})", figure.limits)


def _by_question() -> list[Part]:
    trained, counted = read_results("trained"), read_results("statistics")
    parts = []
    for split, title in _SPLITS.items():
        parts += [
            Part(
                f"By query type: {title}",
                "NDCG@5 of the main table's runs.",
                types_table(trained, counted, split),
                _SUMMED,
            ),
            Part(
                f"Dependency-heavy questions: {title}",
                "NDCG@5 of the same runs.",
                dependency_table(trained, counted, split),
                _SUMMED,
            ),
            Part(
                f"Candidate ceilings: {title}",
                "Relevant sheets among the first 50, and the score of a perfect Stage 2 over them.",
                candidates_table(trained, split),
                "What a real Stage 2 reaches: a perfect one puts every relevant candidate first.",
            ),
        ]
    return parts


def _plain() -> list[Part]:
    return [
        Part(
            section.title,
            f"`python -m benchmarks run {section.benchmark}`. {section.text}".rstrip(),
            plain_table(section),
            section.limits,
            shown_files(section),
        )
        for section in SECTIONS
    ]
