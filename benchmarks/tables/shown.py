"""The parts of the results that are a text and a table, as data."""

from __future__ import annotations

from benchmarks.corpora import shown_parts
from benchmarks.tables.adapted import adapted_tables, cost_rows, summary_table
from benchmarks.tables.contents import contents_tables, target_table
from benchmarks.tables.cosine import cosine_table
from benchmarks.tables.features import features_tables
from benchmarks.tables.graph import attempts_table, graphs_table
from benchmarks.tables.ladder import ladder_tables
from benchmarks.tables.leads import leads_table
from benchmarks.tables.links import links_table
from benchmarks.tables.made import stats_table
from benchmarks.tables.nothing import nothing_table
from benchmarks.tables.part import Files, Shown
from benchmarks.tables.periods import periods_table
from benchmarks.tables.quality import open_table, quality_table
from benchmarks.tables.real import real_tables
from benchmarks.tables.related import neighbours_tables, related_tables
from benchmarks.tables.statistics import statistics_tables
from benchmarks.tables.training import bug_table, cost_table, sensitivity_table, spider_table

_CHOSEN = (
    "Every choice was made on validation parts (`--validation`, `python -m benchmarks run "
    "fusion`); those of IndustryTab-1K are among its *all queries*."
)

CORPORA = (
    Shown(
        "The corpora",
        "statistics",
        "Of IndustryTab-614 only the 134 old questions could be had.",
        ("statistics",),
        statistics_tables,
        limits=(
            "How alike two questions or two sheets of a corpus are, and so how many "
            "independent ones there are."
        ),
    ),
    Shown(
        "Made corpora beside the published ones",
        "synth_stats",
        "",
        ("synth_stats",),
        stats_table,
        limits="Whether made questions are as hard as published ones: these are counts.",
    ),
)
TRAINING = (
    Shown(
        "The fixed error of the released training",
        "bug",
        "IndustryTab-1K, standard test. Stage 1 alone, MiniLM; a released epoch ends at a question "
        "without a hard negative.",
        ("train_bug",),
        bug_table,
        limits="The error's cost with BGE, or with Stage 2 behind it.",
    ),
    Shown(
        "Sensitivity of the paper's graph",
        "sensitivity",
        "IndustryTab-1K, standard test, seed 42; MiniLM here, BGE in the paper.",
        ("train_sensitivity",),
        sensitivity_table,
        limits="Spread: it is one seed.",
    ),
    Shown(
        "Trained on Spider, asked on unseen databases",
        "spider",
        "Trained on Spider's training questions, also with synonyms; neither dev nor BIRD was "
        "touched before.",
        ("train_spider",),
        spider_table,
        limits="Workbooks: these are tables of databases, with names and headers alone.",
    ),
    Shown(
        "What training takes",
        "",
        "The least of several runs, since the machine was shared; every step in a process of its "
        "own. CPU seconds are those of all threads, with reading data and export.",
        ("trained", "train_spider"),
        lambda trained, spider: cost_table([*trained, *spider]),
        dated=False,
        limits="Other machines; see *On a GPU* for one.",
    ),
)
WITHOUT_LABELS = (
    Shown(
        "Without labels",
        "adapted",
        "*Transductive* models adapted to the sheets that are asked for, as in your own "
        "index; *inductive* ones saw none of the unseen families' sheets. Mean ± standard "
        "deviation over seeds 42 to 44; differences are paired, with 95 % bootstrap "
        "intervals. Rows of adapted models stand beside the last row that is not adapted, and "
        "the general model that was trained without the paper's categories and naming (`run "
        "general --apart`, `run apart_tests`) beside the shipped one.",
        ("adapted",),
        adapted_tables,
        limits=(
            "Gains on people's questions where a corpus is made: its questions have the same "
            "grammar as those that adapting makes. **Adapted rows of IndustryTab-1K and EPS, "
            "transductive, start from the general model of today and keep half of it (EPS "
            "with seeds 42 and 43). All other adapted rows, and those trained without the "
            "paper's names, start from the general model of before 2026-11-24 or its recipe: "
            "they do not compare.**"
        ),
    ),
    Shown(
        "As installed, beside each baseline",
        "",
        "The score of a search less that of each baseline (`run general_tests`, `run contents "
        "--tests`): NDCG@10, paired, with 95 % bootstrap intervals. An interval below zero is "
        "a loss. *Stage 1* is the same encoder with words and times, before links and "
        "reranker.",
        ("adapted", "contents"),
        leads_table,
        limits=(
            "Tables of the web among many others: they have no titles here, and stand among "
            "their own."
        ),
    ),
    Shown(
        "The cosine alone",
        "cosine",
        "The general encoder beside MiniLM, which it was trained from: no words, periods, "
        "links or reranker. *Contents* are the texts of names, notes, headers and rows; "
        "tables of the web have no titles here. Of a corpus with more than 2,000 questions "
        "2,000 are asked. Differences are paired, with 95 % bootstrap intervals. `run cosine "
        "--validation` asks the corpora that choices may use.",
        ("cosine",),
        cosine_table,
        limits="What a search finds, which reads words as well.",
    ),
    Shown(
        "What adapting takes",
        "",
        "Medians over seeds; each adaptation in a process of its own. Where an adaptation was "
        "stopped and continued (LOG.md says which), its seconds are those of its epochs and "
        "of judging; `run adapt_scale`, below, has whole ones. The encoder and the reranker "
        "are kept only where they are better on made questions about held-out families, said "
        "in other words. Where the new reranker is not, an adapted encoder is searched with "
        "the one from before.",
        ("adapted",),
        cost_rows,
        limits="Machines that do nothing else: this one was shared.",
    ),
    Shown(
        "Times and owners in questions",
        "periods",
        "Made corpora in which sheets differ by their time alone, in all naming conventions. "
        "m is the number of a question's relevant sheets: precision@m is that of the first m "
        "sheets, *in the family* that of the first m of the series that is meant. The oracles "
        "know the time that is meant and leave out the sheets of other times.",
        ("periods",),
        periods_table,
        limits="Generalisation: the corpora are for development, and choices were made on them.",
    ),
    Shown(
        "Nothing there",
        "nothing",
        "How well a search tells that no sheet answers. Foreign questions are those of the "
        "other corpora; own questions are also asked after the sheets that answer them were "
        "removed. AUROC is 1 where every such question gets less confidence than every other, "
        ".5 by chance. On validation parts its weights were fitted without the corpus and its "
        "kin; on tests they are the weights in use. *Warned* is the share of answers with the "
        "message that nothing seems to answer; right answers have a right sheet among the "
        "first five. `--fit` fits the weights, `--test` measures the tests.",
        ("nothing",),
        nothing_table,
        limits=(
            "Questions that are near to what the sheets hold, but ask for something else in them."
        ),
    ),
)


def _links(links: Files) -> str:
    return links_table(links, shown_parts("untrained"))


UNTRAINED = (
    Shown(
        "Quality without training",
        "quality",
        _CHOSEN,
        ("quality",),
        quality_table,
        limits="What a search finds with the general encoder and the contents of cells.",
    ),
    Shown(
        "What links buy without training",
        "links_quality",
        f"{_CHOSEN} BIRD's declared keys take its own dev_tables.json (`--bird-tables FILE`).",
        ("links",),
        _links,
        limits="What links buy beside the general encoder and the contents of cells.",
    ),
    Shown(
        "Questions that need several linked sheets",
        "related",
        "With the general encoder; *given* keys are those that databases declare, all other "
        "links are found by the index. Answers have two to ten sheets. Intervals are paired "
        "95 % bootstrap intervals, questions with the same answer drawn together.",
        ("related",),
        related_tables,
        limits=(
            "Gains without a favour on made workbooks and *formulas*: links join their answers by "
            "construction, which flatters whatever follows links. Spider's and the labelled "
            "computed variables are free of that."
        ),
    ),
    Shown(
        "What links lead to",
        "related_neighbours",
        "Validation parts. The *anchor* is the best relevant sheet in the order of the walk; "
        "neighbours are the sheets that a link joins to it. *Reached*: share of the other relevant "
        "sheets that are neighbours; *complete*: share of the questions in which all are; *found "
        "by score*: share of the relevant neighbours that Stage 1 puts first among neighbours; "
        "*lost*: relevant sheets outside of the walk's first ten. *Told* moves the relevant "
        "sheets that links connect to the anchor right behind it: no graph can be better without a "
        "better anchor. *Untold* moves all its neighbours, *workbook* all sheets of its workbook, "
        "*trusting* all neighbours of the first sheet.",
        ("related_neighbours",),
        neighbours_tables,
        limits="What a reranker reaches: these are bounds, on validation parts.",
    ),
    Shown(
        "The gated graph over features of lists",
        "graph_attempt",
        "Everything learns from the same lists, whose questions the encoder has not learnt: made "
        "workbooks, Spider's held-out databases and real workbooks. *Judged* sets chose the epoch, "
        "and the graph that the *test* sets were asked with, once; *left out* are real workbooks "
        "from which that training did not learn. *Shipped* is the order of the package. A graph "
        "is compared with the base scorer below it, which is frozen. Paired 95 % bootstrap "
        "intervals; all seeds of a question, and questions with the same answer, are drawn "
        "together.",
        ("graph_attempt",),
        graphs_table,
        limits=(
            "Stage 1 fitted to each fold: the encoders have learnt from none of the questions. The "
            "guard of the general reranker: no list is left as it is."
        ),
    ),
    Shown(
        "The general reranker on lists that it has not learnt",
        "features",
        "Lists of the general encoder after links, NDCG@10 and questions with all relevant "
        "sheets among the first ten. *Judged* corpora chose the epoch; *watched* ones chose "
        "nothing but the guard's bounds, which `eps development` helped to choose. Means over "
        "seeds 42 to 44 with paired 95 % bootstrap intervals over questions. *Without* rows "
        "are trained without a group of features; *pulls* are those of linked sheets.",
        ("features",),
        features_tables,
        limits=(
            "How it does on real workbooks with contents, where it is not used. Made corpora "
            "share their generator, not companies or naming, with those that were learnt, so "
            "they flatter it; `eps` and IndustryTab are of kinds that it has not seen."
        ),
    ),
    Shown(
        "Real workbooks, by people's own words",
        "real",
        "Questions are commit messages, docstrings, descriptions and rows of contents pages, "
        "each with the sheets that it is about; sets for choices come first, then those to "
        "learn from. *First is right*: share of questions whose first sheet is one of theirs; "
        "R@10: mean share of their sheets among the first ten. Sheets that hold the questions "
        "are left out of every ranking. BM25, MiniLM, arctic-embed-xs (both untrained) and "
        "their sum are plain parts, without anything of this package. Intervals are paired 95 "
        "% bootstrap intervals over questions.",
        ("real",),
        real_tables,
        limits=(
            "Sheets that answer too and that nobody labelled, which count as wrong; copies of a "
            "labelled sheet, which folding hides and which count as missed if they are labelled "
            "too; other organisations. Questions of one page or one person are alike, so "
            "intervals are too narrow. Sets of fewer than fifty questions say next to nothing "
            "each."
        ),
    ),
    Shown(
        "Rungs of the default ranking on the same workbooks",
        "ladder",
        "A *rung* is one rule of the ranking. The table has the default's lead over the "
        "ranking without it, beside its cost. `ms` is processor time of one question, ten "
        "hits, the token given, asked by somebody who may not see the pages that hold the "
        "questions: the median. *Saved* is the median of the default's time less that without "
        "the rung, both asked each question in turn on indexes of their own (a median for "
        "each order, and their mean); the default beside itself shows the noise. A minus "
        "means that the rung takes time off others, or that the row adds it, as it does "
        "folding and the learnt reranker. *Lines* are lines of code without docstrings, "
        "comments and blanks, counted in the modules and functions that "
        "`benchmarks/real/rungs.py` declares. `--contents names` leaves out words, cosine and "
        "reading of cells together.",
        ("ladder",),
        ladder_tables,
        limits=(
            "The time to encode the question, which cosines need; time and space of indexing; "
            "time that is spent although a rung does not count, where a weight switches it off "
            "(*without words*, *without cosines*) or others need what it looks up (words of "
            "names, words of cells, the cosine of names); how two rungs do without each other; "
            "lines that call a rung. Code also serves other ends, as periods do for filters, and "
            "ranking uses code from elsewhere, as reading uses the places of citations. Code of "
            "two rungs counts for both."
        ),
    ),
    Shown(
        "Search by contents",
        "contents",
        "All with the general encoder and a user's defaults. `names`, `examples`, `all` are "
        "what the index keeps of cells (`--contents`). All choices were made on *held-out "
        "tables* and *development questions* (`run contents`); the others are tests, looked "
        "at once (`run contents --tests`). Of a corpus with more than 2,000 questions 2,000 "
        "are asked, the same ones in every row. *No titles*: names of workbooks and sheets "
        "are numbers. Intervals are paired 95 % bootstrap intervals, all questions about one "
        "table kept together.",
        ("contents",),
        contents_tables,
        limits=(
            "Rankings of tables larger than those of a web page; how many questions of "
            "WikiTableQuestions say too little to tell their table from others; distractors that "
            "answer a question too, which nobody labelled and which count as wrong. The encoder "
            "learnt from other tables of WikiTableQuestions' training part, so "
            "*WikiTableQuestions dev* is of a kind that it knows. One table of that set and one "
            "of FeTaQA dev have half of their rows in a learnt table; none of TabFact's has."
        ),
    ),
    Shown(
        "Table retrieval as in TARGET",
        "target",
        "The default ranking behind the interface of the TARGET benchmark.",
        ("target",),
        target_table,
        limits=(
            "**A comparison: the rows that TARGET reports are on its own test data, with "
            "other tables and other questions; ours are on the parts named here. They show "
            "the scale of such figures.**"
        ),
    ),
)
PAPER_LABELS = Shown(
    "Without labels",
    "",
    "`python -m benchmarks run general_tests`, `python -m benchmarks run adapted`. NDCG@5 where no "
    "other metric is named. *General* is the encoder in the package. *Adapted* is `sat adapt`, "
    "over seeds 42 to 44: *transductive* with the sheets that are asked for, as in your own "
    "index, *inductive* without those of the unseen families. *Adapted Stage 1* is shown even if "
    "it was not kept; *adapted cascade* is what a search then answers.",
    ("adapted",),
    summary_table,
    limits=(
        "An encoder that knows nothing of the corpora: the general one learnt from made corpora "
        "of the same makers as *templates* and *other subjects*, with other names and sheets, and "
        "knows the categories and the naming of the paper's corpus. The rows at the end are of "
        "one that does not (`run apart_tests`). **Adapted rows of *templates* and *other "
        "subjects*, *inductive* ones and the last two are of the general model of before "
        "2026-11-24 or its recipe: they do not compare with the new one.**"
    ),
)
PAPER_OPEN = Shown(
    "Open data, without training",
    "",
    f"`python -m benchmarks run quality`, `python -m benchmarks run links_quality`. {_CHOSEN}",
    ("quality", "links"),
    open_table,
    limits="What a search finds with the general encoder and the contents of cells.",
)
PAPER_GRAPH = Shown(
    "What the paper's graph is worth",
    "",
    "Every attempt at a graph over a base scorer. *Base* is the score of what the graph corrects, "
    "so the difference is the graph's own. *Gate in the end*: the least and the largest over seeds "
    "and relations; the paper's begins at σ(-4) = .018, and earlier trainings did not record it. "
    "*Epochs kept*: trainings in which some epoch was better than the start on the validation "
    "part. `python -m benchmarks run graph_attempt` is the last attempt; "
    "[its other rows](tables.md#the-gated-graph-over-features-of-lists) have the base scorers and "
    "what is shipped.",
    ("graph_attempt", "trained", "train_sensitivity", "train_spider"),
    attempts_table,
    limits=(
        "A graph over an encoder of the paper's size. Attempts from the log were single runs on "
        "validation parts, without an interval where none is shown."
    ),
    dated=False,
)
