"""Define every choice of an adaptation and derive the settings of both trainings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from sat_retriever.errors import InputError
from sat_retriever.records.links import LinkType
from sat_retriever.train.settings import EncoderTraining, FeatureTraining, RerankerTraining

OWN = "own"
Stage = Literal["both", "encoder", "reranker"]
_A_SHEET = 2  # questions, unless their number is set
_FEWEST, _MOST = 300, 5_000
# Share of the trained weights; the rest is what the index's encoder knew. Made questions would
# choose all of them, people's lose by it: on EPS's development questions NDCG@10 with 0, .3, .5 and
# 1 is .655, .656, .653 and .627, on IndustryTab-1K's validation questions NDCG@5 .913, .917, .920
# and .922 (benchmarks/LOG.md).
_SHARE = 0.5
_CHANNELS = (
    *("semantic", "query", "schema", "shape", "lexical"),
    *(kind.value for kind in LinkType),  # every type of link that an index finds
)


@dataclass(frozen=True, slots=True)
class AdaptSettings:
    """Settings of adapting an index's encoder and reranker to its own sheets.

    Attributes:
        number: Questions to make; 0 makes two a sheet, from 300 to 5,000.
        share: Share of the sheets held out for validation, as whole families.
        own_share: Wanted share of labelled questions in the training, if there are any.
        own_most: How often a labelled question is repeated at most to reach that share.
        backbone: Model that Stage 1 starts from: "own" is the index's encoder, else "general",
            "minilm", a sentence-transformers folder or a hub name.
        epochs: Passes of Stage 1 over its questions.
        trained_layers: Number of last transformer layers that are trained.
        max_length: Longest text in word pieces; the rest is cut.
        batch_size: Questions per step of Stage 1.
        learning_rate: Highest learning rate of Stage 1, after the warm-up.
        stage: Models to train: "encoder", "reranker" over the index's own encoder, or "both", the
            reranker then over the adapted encoder.
        candidates: Sheets that Stage 1 passes to a graph.
        stage_2_epochs: Passes of Stage 2 over the questions; of a graph's base scorer, and as many
            of the graph.
        sure: Replace models only if the lead is beyond chance, with the whole 80 % interval over
            families above 0; otherwise any lead is enough. An encoder that starts from the index's
            own, of which it keeps half, always needs any lead alone.
        seed: Seed of all that is random: questions, families, weights, order.
    """

    number: int = 0
    share: float = 0.2
    own_share: float = 0.33
    own_most: int = 8
    backbone: str = OWN
    epochs: int = 3
    trained_layers: int | None = 4
    max_length: int = 256
    batch_size: int = 64
    learning_rate: float = 1e-4
    stage: Stage = "both"
    candidates: int = 50
    stage_2_epochs: int = 4
    sure: bool = True
    seed: int = 42

    def __post_init__(self) -> None:
        if self.number < 0:
            raise InputError(f"number is {self.number}; ask for 1 question or more, or 0")
        for name in ("share", "own_share"):
            if not 0 < getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; give a share between 0 and 1")
        if self.stage not in get_args(Stage):
            known = ", ".join(get_args(Stage))
            raise InputError(f"there is no stage {self.stage!r}; choose one of: {known}")
        if self.stage == "reranker" and self.backbone != OWN:
            raise InputError(
                f"stage 'reranker' trains no encoder, so none can start from {self.backbone!r}; "
                "leave out one of both"
            )
        if self.own_most < 1:
            raise InputError(f"own_most is {self.own_most}; give 1 or more")
        self.encoder_training("minilm")
        self.reranker_training()

    def questions(self, sheets: int) -> int:
        """Return the number of questions to make for a number of sheets.

        >>> [AdaptSettings().questions(sheets) for sheets in (20, 1_000, 100_000)]
        [300, 2000, 5000]
        """
        return self.number or max(_FEWEST, min(_MOST, _A_SHEET * sheets))

    def encoder_training(self, start: str) -> EncoderTraining:
        """Return the settings of Stage 1, starting from a model.

        These are the paper's values, except for random hard negatives, half the learning rate (the
        model has been trained before), the mean of the weights before and after, and bf16 on a CPU
        that multiplies it in hardware.
        """
        return EncoderTraining(
            backbone=start,
            trained_layers=self.trained_layers,
            max_length=self.max_length,
            negative_choice="random",  # better on IndustryTab-1K's validation questions
            trained_share=_SHARE,
            precision="fast",
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            seed=self.seed,
        )

    def reranker_training(self) -> RerankerTraining:
        """Return the settings of a graph over the link reranker's order, which it can keep."""
        return RerankerTraining(
            candidates=self.candidates,
            start="links",
            dense_weight=None,
            features=("lexical", "dense"),
            channels=_CHANNELS,
            keep_start=True,
            base_epochs=self.stage_2_epochs,
            graph_epochs=self.stage_2_epochs,
            seed=self.seed,
        )

    def feature_training(self) -> FeatureTraining:
        """Return the settings of a feature reranker, which can keep its start."""
        return FeatureTraining(epochs=self.stage_2_epochs, seed=self.seed)
