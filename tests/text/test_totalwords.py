"""Labels of totals in many languages, and labels that only look so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.text.totalwords import MAX_LABEL, Statistic, TotalLabel, total_label

LABELS = {
    "English": ["Total", "TOTAL:", "Grand total", "Total 2024", "Sum", "T O T A L", "Total (EUR)"],
    "German": ["Summe", "Gesamtsumme", "Gesamt", "Insgesamt", "Gesamtergebnis"],
    "French": ["Total général", "TOTAL GENERAL", "Somme", "Totaux"],
    "Spanish": ["Total", "Suma total", "Total general"],
    "Portuguese": ["Total geral", "Soma"],
    "Italian": ["Totale", "Totale complessivo", "Somma"],
    "Dutch": ["Totaal", "Eindtotaal"],
    "Swedish": ["Summa", "Totalt", "Sammanlagt"],
    "Danish": ["I alt"],
    "Norwegian": ["Sum", "Totalt"],
    "Finnish": ["Yhteensä", "YHTEENSÄ"],
    "Icelandic": ["Alls", "Samtals"],
    "Polish": ["Suma", "Razem", "Ogółem", "Łącznie"],
    "Czech": ["Celkem", "Součet"],
    "Slovak": ["Spolu", "Celkom", "Súčet"],
    "Slovenian": ["Skupaj", "Vsota"],
    "Croatian": ["Ukupno", "Zbroj"],
    "Serbian": ["Укупно", "Свега", "Svega"],
    "Hungarian": ["Összesen", "Mindösszesen", "Összeg"],
    "Romanian": ["Total general", "Totalul"],
    "Bulgarian": ["Общо", "Сума"],
    "Russian": ["Итого", "ИТОГО:", "Всего"],
    "Ukrainian": ["Усього", "Разом", "Всього"],
    "Belarusian": ["Усяго", "Разам"],
    "Macedonian": ["Вкупно"],
    "Greek": ["Σύνολο", "ΣΥΝΟΛΟ", "Σύνολα"],
    "Turkish": ["Toplam", "Genel toplam", "GENEL TOPLAM"],
    "Azeri": ["Cəmi"],
    "Kazakh": ["Барлығы"],
    "Georgian": ["ჯამი"],
    "Armenian": ["Ընդամենը"],
    "Estonian": ["Kokku"],
    "Latvian": ["Kopā"],
    "Lithuanian": ["Iš viso", "Bendra"],
    "Arabic": ["المجموع", "الإجمالي"],
    "Hebrew": ["סה״כ", 'סה"כ', "סך הכל"],
    "Persian": ["جمع", "جمع کل"],
    "Hindi": ["कुल", "योग", "कुल योग:"],
    "Bengali": ["মোট"],
    "Thai": ["รวม"],
    "Vietnamese": ["Tổng cộng", "Tổng"],
    "Indonesian": ["Jumlah"],
    "Chinese": ["合计", "总计", "合計", "總計"],
    "Japanese": ["合計", "総計", "総合計", "計"],
    "Korean": ["합계", "총계"],
    "Basque": ["Guztira"],
    "Irish": ["Iomlán"],
    "Welsh": ["Cyfanswm"],
    "signs": ["Σ", "∑", "Σ:"],
}
PARTS = [
    *("Subtotal", "Sub-total", "sub total", "SUBTOTAL:", "Zwischensumme", "Teilsumme"),
    *("Sous-total", "Subtotale", "Subtotaal", "Delsumma", "Välisumma", "Mezisoučet"),
    *("Részösszeg", "Подытог", "Промежуточный итог", "Ara toplam", "Alttoplam"),
    *("小计", "小計", "소계", "Starpsumma", "Međuzbroj"),
]
NAMED = ["Total North", "North Total", "Summe Nord", "Итого Север", "合计北京", "Total assets"]
NONE = [
    *("", " ", "कल", "Totality", "Totally", "Summer", "Summary", "Summit", "Summerhill"),
    *("Razemir", "Sumatra", "Kokkuta", "Allsop", "Rome", "bolt", "2024", "12.5", "#"),
    *("計画", "計算機"),
    *("会计", "统计学", "Итоговый", "Gesamtschule", "Totalschaden", "Celkemová", "Total" * 40),
]  # fmt: skip


@pytest.mark.parametrize(
    ("language", "label"), [(name, label) for name, labels in LABELS.items() for label in labels]
)
def test_a_label_of_a_total_of_all_is_known(language, label):
    assert total_label(label) == TotalLabel(), language


@pytest.mark.parametrize("label", PARTS)
def test_a_label_of_a_part_says_so(label):
    assert total_label(label) == TotalLabel(part=True)


@pytest.mark.parametrize("label", NAMED)
def test_a_label_that_names_a_subject_says_so(label):
    assert total_label(label) == TotalLabel(named=True)


@pytest.mark.parametrize("label", NONE)
def test_other_words_are_no_labels_of_totals(label):
    assert total_label(label) is None


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("Average", Statistic.MEAN),
        ("Mittelwert", Statistic.MEAN),
        ("Moyenne", Statistic.MEAN),
        ("平均", Statistic.MEAN),
        ("Median", Statistic.MEDIAN),
        ("Max.", Statistic.LARGEST),
        ("Minimum", Statistic.SMALLEST),
        ("Count", Statistic.COUNT),
        ("Anzahl", Statistic.COUNT),
        ("Std. deviation", Statistic.DEVIATION),
        ("Total average", None),
    ],
)
def test_a_statistic_is_named_unless_a_total_is(label, kind):
    assert total_label(label).kind == kind


def test_a_word_that_says_little_is_weak():
    assert total_label("Result").weak
    assert not total_label("Total result").weak


@given(st.text(max_size=2 * MAX_LABEL))
def test_any_text_has_one_answer_whatever_its_case_and_ends(text):
    found = total_label(text)
    assert found is None or len(text) <= MAX_LABEL
    assert total_label(text) == found
    if found is not None and len(text) < MAX_LABEL - 2:
        assert total_label(f" {text} ") == found
