"""What is shown of models that learnt without labels, and of times in questions, in order."""

from __future__ import annotations

from benchmarks.results import read_results
from benchmarks.tables.adapted import adapted_tables, cost_rows, what_was_chosen_with
from benchmarks.tables.part import Part
from benchmarks.tables.periods import periods_table

BENCHMARKS = ("adapted", "periods")


def adapted_parts() -> list[Part]:
    """Everything that is shown without labels."""
    adapted, periods = map(read_results, BENCHMARKS)
    return [
        Part(
            "Without labels",
            "`python -m benchmarks run adapted`. No model learnt from a labelled question "
            f"of these test sets. {what_was_chosen_with(adapted)} *Transductive*: "
            "the sheets that are asked for were adapted to, as in anybody's own index; "
            "*inductive*: none of the unseen families' sheets was. Mean ± standard deviation over "
            "seeds 42 to 44; differences are paired, with 95 % bootstrap intervals, and what is "
            "adapted stands beside the last row that is not, and the general model that was "
            "trained without the paper's categories and naming (`run general --apart`, `run "
            "apart_tests`) beside the shipped one. Questions of the made corpora are of "
            "the same grammar as those that adapting makes, so gains on them are flattering.",
            adapted_tables(adapted),
            adapted,
        ),
        Part(
            "What adapting takes",
            "Medians over seeds; each adaptation in a process of its own, on a machine that was "
            "shared. The seconds of one that was gone on with after its training (LOG.md says "
            "which) are those of its epochs and of judging; whole ones are below, by `run "
            "adapt_scale`. The encoder and the reranker are kept only where they are better on "
            "made questions about held-out families, said in other words; where the new reranker "
            "is not, an adapted encoder is searched with the one from before.",
            cost_rows(adapted),
        ),
        Part(
            "Times and owners in questions",
            "`python -m benchmarks run periods`. Made corpora in which sheets differ by their time "
            "alone, in all naming conventions; for development, choices may be made on it. m is "
            "the number of a question's relevant sheets: precision@m is that of the first m "
            "sheets, *in the family* that of the first m of the series that is meant. The oracles "
            "are told the time that is meant and leave out the sheets of other times.",
            periods_table(periods),
            periods,
        ),
    ]
