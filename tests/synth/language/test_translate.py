"""Translators: what is known is not asked again, and what a model answers is checked."""

import json

import pytest

from sat_retriever.errors import InputError, LanguageModelError, OutputError
from sat_retriever.synth.language import translate
from sat_retriever.synth.language.translate import (
    PACKAGED,
    CachedTranslator,
    ModelTranslator,
)


class Backwards:
    """Says everything backwards, and counts how often it is asked; may break down."""

    def __init__(self, breaks_at=None):
        self.asked = []
        self.breaks_at = breaks_at

    def translate(self, texts, language):
        if self.breaks_at == len(self.asked):
            raise LanguageModelError("the model is gone")
        self.asked.append(list(texts))
        return [text[::-1] for text in texts]


class Model:
    """A chat that answers as told, one answer a question; a function answers for itself."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.seeds = []
        self.prompts = []

    def ask(self, prompt, schema, *, seed=0):
        self.prompts.append(prompt)
        self.seeds.append(seed)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer(prompt) if callable(answer) else answer


def listed(prompt):
    """The texts a prompt asks for."""
    return json.loads(prompt[prompt.index("\n") :])


def upper(prompt):
    return {"translations": [text.upper() for text in listed(prompt)]}


def test_known_texts_are_not_asked_for_again_not_even_by_another_translator(tmp_path):
    inner = Backwards()
    first = CachedTranslator(tmp_path, inner)
    assert first.translate(["zorb one", "quux", "zorb one"], "xx") == [
        "eno broz",
        "xuuq",
        "eno broz",
    ]
    assert first.translate(["Zorb_One"], "xx") == ["eno broz"]
    again = CachedTranslator(tmp_path, Backwards(breaks_at=0))
    assert again.translate(["quux", "ZORB ONE"], "xx") == ["xuuq", "eno broz"]
    assert inner.asked == [["zorb one", "quux"]]


def test_languages_are_kept_apart(tmp_path):
    inner = Backwards()
    cached = CachedTranslator(tmp_path, inner)
    cached.translate(["quux"], "xx")
    cached.translate(["quux"], "xy")
    assert len(inner.asked) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["xx.json", "xy.json"]


def test_what_was_translated_before_an_interruption_is_kept(tmp_path):
    texts = [f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyzäöü"]
    with pytest.raises(LanguageModelError, match="is gone"):
        CachedTranslator(tmp_path, Backwards(breaks_at=1)).translate(texts, "xx")
    assert len(json.loads((tmp_path / "xx.json").read_text("utf-8"))) == translate._BATCH
    inner = Backwards()
    CachedTranslator(tmp_path, inner).translate(texts, "xx")
    assert inner.asked == [texts[translate._BATCH :]]


def test_without_anybody_to_ask_unknown_texts_stay(tmp_path):
    (tmp_path / "xx.json").write_text('{"Sales": "Elas"}', encoding="utf-8")
    cached = CachedTranslator(tmp_path)
    assert cached.translate(["sales", "quux"], "xx") == ["Elas", "quux"]
    assert json.loads((tmp_path / "xx.json").read_text("utf-8")) == {"Sales": "Elas"}


def test_texts_of_a_users_file_stay_as_written_when_more_is_added(tmp_path):
    (tmp_path / "xx.json").write_text('{"Net Sales": "Selas Ten"}', encoding="utf-8")
    CachedTranslator(tmp_path, Backwards()).translate(["net_sales", "Zorb One"], "xx")
    kept = json.loads((tmp_path / "xx.json").read_text("utf-8"))
    assert kept == {"Net Sales": "Selas Ten", "Zorb One": "enO broZ"}


def test_a_users_translation_goes_before_the_packaged_one(tmp_path):
    packaged = CachedTranslator().translate(["Total"], "de")
    assert packaged != ["Total"]
    (tmp_path / "de.json").write_text('{"Total": "Alles"}', encoding="utf-8")
    assert CachedTranslator(tmp_path).translate(["Total"], "de") == ["Alles"]


@pytest.mark.parametrize("language", ["de", "zh"])
def test_packaged_translations_are_one_line_each_and_differ_from_english(language):
    content = json.loads((PACKAGED / f"{language}.json").read_text("utf-8"))
    said = CachedTranslator().translate(list(content), language)
    assert len(content) > 150
    assert said == list(content.values())
    assert sum(text != other for text, other in content.items()) > 0.9 * len(content)


def test_a_translator_that_asks_needs_a_folder():
    with pytest.raises(InputError, match="need a folder"):
        CachedTranslator(None, Backwards())


@pytest.mark.parametrize("language", ["", "../de", "German", "de/..", "d"])
def test_what_is_no_language_tag_is_refused(tmp_path, language):
    with pytest.raises(InputError, match="is not a language tag"):
        CachedTranslator(tmp_path).translate(["Sales"], language)


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"Sales": 3}', '{"Sales": "a\\nb"}', '{"Sales": "=A1"}']
)
def test_a_file_that_holds_no_translations_is_refused(tmp_path, text):
    (tmp_path / "xx.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"xx\.json"):
        CachedTranslator(tmp_path).translate(["Sales"], "xx")


def test_a_folder_that_cannot_be_written_is_said_so(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="cannot be written"):
        CachedTranslator(tmp_path / "file", Backwards()).translate(["quux"], "xx")


def test_a_model_is_asked_once_a_text_and_never_for_codes():
    model = Model(upper)
    translator = ModelTranslator(model)
    texts = ["Sales", "E-0001", "12.5", "Sales", "", "Unit price"]
    assert translator.translate(texts, "de") == [
        "SALES",
        "E-0001",
        "12.5",
        "SALES",
        "",
        "UNIT PRICE",
    ]
    assert [listed(prompt) for prompt in model.prompts] == [["Sales", "Unit price"]]
    assert "'de'" in model.prompts[0]


def test_many_texts_are_asked_for_in_batches():
    model = Model(upper)
    texts = ["w" * n for n in range(2, 60)]
    assert ModelTranslator(model).translate(texts, "de") == [text.upper() for text in texts]
    assert max(len(listed(prompt)) for prompt in model.prompts) == translate._BATCH


@pytest.mark.parametrize(
    "nonsense",
    [
        {"translations": ["eins"]},
        {"translations": ["eins", "zwei", "drei"]},
        {"translations": ["eins", ""]},
        {"translations": ["eins", "zwei\nZeilen"]},
        {"translations": ["eins", 2]},
        {"translations": ["eins", "z" * 400]},
        {"translations": ["=eins", "zwei"]},
        {"translations": ["eins 1", "zwei"]},
        {"translations": "eins"},
        ["eins", "zwei"],
    ],
)
def test_nonsense_is_asked_again_with_another_seed(nonsense):
    model = Model(nonsense, {"translations": [" eins ", "zwei  Teile"]})
    assert ModelTranslator(model).translate(["one", "two parts"], "de") == ["eins", "zwei Teile"]
    assert model.seeds == [0, 1]


def test_a_batch_too_hard_for_a_model_is_halved():
    def only_pairs(prompt):
        return upper(prompt) if len(listed(prompt)) < 3 else {"translations": []}

    texts = ["aa", "bb", "cc", "dd", "ee"]
    model = Model(only_pairs)
    assert ModelTranslator(model, tries=1).translate(texts, "de") == [t.upper() for t in texts]
    assert [len(listed(prompt)) for prompt in model.prompts] == [5, 2, 3, 1, 2]


def test_a_model_that_never_makes_sense_is_given_up_with_the_text_and_the_reason():
    model = Model({"translations": [""]})
    with pytest.raises(LanguageModelError, match=r"'Sales' to 'de' after 3 tries: '' is not one"):
        ModelTranslator(model).translate(["Sales"], "de")
    assert model.seeds == [0, 1, 2]


def test_tries_must_be_at_least_one():
    with pytest.raises(InputError, match="tries must be 1 or more, not 0"):
        ModelTranslator(Model({}), tries=0)
