"""K4: csv files in the encodings of many languages."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.reading.unseen.book import Book, Examples, Table
from benchmarks.reading.unseen.names import price
from benchmarks.reading.unseen.values import decimal_comma

EXAMPLES = Examples()


def fill(book: Book, table: Table, count: int, *choices: Sequence[str], most: int = 9000) -> None:
    """Add records: a number, a chosen text of each list, and a whole amount."""
    for place in range(count):
        texts = [book.rng.choice(each) for each in choices]
        table.add(place + 1, *texts, book.rng.randrange(1, most))


@EXAMPLES.csv("K4_apteka_pl", "Polish in cp1250, short", "cp1250", ";")
def polish(book: Book) -> None:
    """Stock of a Polish pharmacy."""
    table = book.table("Nazwa", "Postać", "Ilość", "Cena")
    for name, form in [
        ("Żel łagodzący", "tubka"),
        ("Krople żołądkowe", "płyn"),
        ("Maść świerkowa", "słoik"),
        ("Zioła ojca Błażeja", "susz"),
        ("Sól gorzka", "proszek"),
    ]:
        table.add(name, form, book.rng.randrange(2, 80), decimal_comma(price(book.rng, 5, 60)))


@EXAMPLES.csv("K4_tanulok_hu", "Hungarian in cp1250, 300 records", "cp1250", ";")
def hungarian(book: Book) -> None:
    """Pupils of a Hungarian school."""
    table = book.table("Sorszám", "Tanuló", "Város", "Tantárgy", "Pontszám")
    last = "Szűcs Kővári Tóth Győrffy Őri Hegedűs Kárpáti Vörös".split()
    pupils = [f"{name} {first}" for name in last for first in ("Ágnes", "Gergő", "Csilla", "Dezső")]
    towns = "Győr Pécs Debrecen Gödöllő Hódmezővásárhely Szentgotthárd".split()
    fill(
        book,
        table,
        300,
        pupils,
        towns,
        ["földrajz", "műszaki rajz", "történelem", "énekkar"],
        most=101,
    )


@EXAMPLES.csv("K4_spolky_cs", "Czech in ISO 8859-2", "iso8859-2", ";")
def czech(book: Book) -> None:
    """Clubs of a Czech town with their grants."""
    table = book.table("Číslo", "Spolek", "Účel", "Částka")
    clubs = ["Sbor dobrovolných hasičů", "Šachový kroužek", "Včelaři Žďár", "Tělovýchovná jednota"]
    aims = [
        "oprava střechy",
        "nákup úlů",
        "dětský tábor",
        "osvětlení hřiště",
        "údržba běžecké dráhy",
    ]
    fill(book, table, 40, clubs, aims)


@EXAMPLES.csv("K4_sklad_ru", "Russian in cp1251, short", "cp1251", ";")
def russian(book: Book) -> None:
    """Goods of a Russian warehouse."""
    table = book.table("Товар", "Склад", "Остаток")
    for name in (
        "Гвозди строительные",
        "Доска обрезная",
        "Краска белая",
        "Щебень",
        "Цемент",
        "Рубероид",
    ):
        table.add(name, book.rng.choice(["Северный", "Южный"]), book.rng.randrange(5, 900))


@EXAMPLES.csv("K4_nosokomeio_el", "Greek in cp1253", "cp1253", ";")
def greek(book: Book) -> None:
    """Shifts of a Greek hospital."""
    table = book.table("Αριθμός", "Όνομα", "Κλινική", "Ώρες")
    names = ["Γιώργος Παπαδόπουλος", "Ελένη Δημητρίου", "Νίκος Ιωάννου", "Μαρία Αγγελοπούλου"]
    fill(
        book, table, 60, names, ["Παθολογική", "Χειρουργική", "Μαιευτική", "Ακτινολογικό"], most=180
    )


@EXAMPLES.csv("K4_belediye_tr", "Turkish in ISO 8859-9, short", "iso8859-9", ";")
def turkish(book: Book) -> None:
    """Works of a Turkish town."""
    table = book.table("İş", "Mahalle", "Bütçe")
    for work, place in [
        ("Çocuk parkı yapımı", "Işıklar"),
        ("Yağmur suyu kanalı", "Beşçeşme"),
        ("Kaldırım onarımı", "Yeşiltepe"),
        ("Sağlık ocağı çatısı", "Şirinköy"),
        ("Ağaçlandırma", "Güneşli"),
        ("Işıklandırma", "Çınarlı"),
    ]:
        table.add(work, place, book.rng.randrange(20000, 900000, 500))


@EXAMPLES.csv("K4_zaiko_ja", "Japanese in EUC-JP", "euc_jp", ",")
def japanese(book: Book) -> None:
    """Stock of a Japanese stationer."""
    table = book.table("番号", "商品名", "倉庫", "在庫数")
    goods = [
        "鉛筆(赤)",
        "万年筆",
        "消しゴム",
        "ノート横罫",
        "はさみ",
        "画用紙",
        "クリップ大",
        "定規",
    ]
    fill(book, table, 50, goods, ["東京第一", "大阪南", "名古屋", "福岡"])


@EXAMPLES.csv("K4_xuesheng_zh", "Chinese in GB 18030, 1,500 records", "gb18030", ",")
def chinese(book: Book) -> None:
    """Fees of the pupils of a Chinese school."""
    table = book.table("序号", "姓名", "班级", "费用类别", "金额")
    names = [
        f"{last}{first}" for last in "王李张刘陈杨赵黄" for first in ("伟", "秀英", "建国", "小梅")
    ]
    fill(
        book, table, 1500, names, ["初一一班", "初一二班", "初二三班"], ["学费", "书本费", "午餐费"]
    )


@EXAMPLES.csv("K4_jumun_ko", "Korean in cp949", "cp949", ",")
def korean(book: Book) -> None:
    """Orders of a Korean shop."""
    table = book.table("번호", "고객명", "상품", "수량")
    names = ["김민수", "이서연", "박지훈", "최유진", "정하늘", "한가람"]
    fill(book, table, 35, names, ["운동화", "가죽 지갑", "여름 모자", "우산", "양말 세트"], most=40)


@EXAMPLES.csv("K4_recettes_fr", "French in cp1252, with the ligature and the euro", "cp1252", ";")
def french(book: Book) -> None:
    """Takings of a French fête."""
    table = book.table("Stand", "Bénévole", "Recette en €", "Remarque")
    for stand, name, note in [
        ("Pêche à la ligne", "Aurélie", "très demandé"),
        ("Cœurs en pain d’épice", "Loïc", "épuisés à midi"),
        ("Crêpes", "Gaëlle", None),
        ("Tombola", "Jérôme", "lots offerts par la mairie"),
        ("Œufs durs", "François", None),
        ("Chamboule-tout", "Zoé", "à réparer"),
    ]:
        table.add(stand, name, decimal_comma(price(book.rng, 20, 400)), note)


@EXAMPLES.csv("K4_socios_es", "Spanish in Latin 1, only few letters beyond ASCII", "latin-1", ";")
def spanish(book: Book) -> None:
    """Members of a Spanish cycling club."""
    table = book.table("Socio", "Nombre", "Localidad", "Cuota")
    rare = {4: "Begoña Ibáñez", 17: "Íñigo Peña", 33: "Concepción Núñez"}
    common = ["Carlos Romero", "Elena Vidal", "Pedro Soto", "Marta Gil"]
    for place in range(45):
        name = rare.get(place) or book.rng.choice(common)
        table.add(100 + place, name, book.rng.choice(["Burgos", "Toledo", "Lugo"]), 35)


@EXAMPLES.csv("K4_mirpaa_he", "Hebrew in cp1255", "cp1255", ",")
def hebrew(book: Book) -> None:
    """Visits to an Israeli clinic."""
    table = book.table("מספר", "שם המטופל", "רופא", "תשלום")
    names = ["דוד כהן", "שרה לוי", "יעקב מזרחי", "רחל פרץ", "אברהם ביטון", "מרים אוחיון"]
    fill(
        book,
        table,
        30,
        names,
        ["ד״ר גולן".replace("״", '"'), "פרופ׳ שמיר".replace("׳", "'"), "אחות ראשית"],
    )
