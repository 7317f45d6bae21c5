"""Read versions from names, and put copies in order, newest first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import lru_cache

from sat_retriever.text.pattern import pattern
from sat_retriever.text.period.spellings import plain, spelled
from sat_retriever.text.period.timewords import MONTHS, either

FINAL = (
    "final finale endgultig endgultige endfassung definitif definitive definitivo definitiva "
    "最终版 最终 终版 定稿 最終版 確定版"
)
DRAFT = (
    "draft entwurf brouillon borrador rascunho bozza preliminary vorlaufig wip "
    "草稿 初稿 草案 下書き"
)
OLD = (
    "old outdated obsolete superseded archive archived backup bak alt alte veraltet sicherung "
    "ancien ancienne sauvegarde antiguo respaldo vecchio antigo 旧版 旧 备份 バックアップ"
)
LATEST = (
    "latest newest current updated neu neueste aktuell aktuelle nouveau actuel nuevo actual "
    "nuovo attuale novo atual new 最新版 最新"
)
COPY = "copy kopie copie copia duplicate duplikat 副本 拷贝 复制 コピー"


def _words(text: str) -> str:
    """A pattern of whole words; those of scripts without spaces stand anywhere."""
    spaced = either({word for word in text.split() if word.isascii()})
    joined = "|".join(sorted((w for w in text.split() if not w.isascii()), key=len, reverse=True))
    return rf"(?:(?<![^\W_])(?:{spaced})(?![^\W\d_])|{joined})"


_NUMBER = r"(?:[ .\-]?(?:v|version|nr|no)?\.? ?(?P<number>\d{1,2})(?![\d.\-/]))?"
_STAGES = ((1, pattern(_words(FINAL) + _NUMBER)), (-1, pattern(_words(DRAFT) + _NUMBER)))
_AGES = ((-1, pattern(_words(OLD) + _NUMBER)), (1, pattern(_words(LATEST))))
_COPY = pattern(
    _words(COPY) + r"(?: ?\(?(?P<number>\d{1,3})(?![\d.\-/])\)?)?(?: (?:of|von|de|di|da|du)(?!\w))?"
)
_BRACKETS = pattern(r"\((\d{1,3})\)")
_VERSION = pattern(
    r"(?<![^\W\d_])(?:(?:v|ver|vers|version|versione|versao|fassung|ausgabe|edition|rev|revision)"
    r"[ .\-#]{0,2}(?P<number>\d{1,8}(?:\.\d{1,4}){0,3})[a-d]?(?![^\W_])"
    r"|(?:rev|revision)[ .\-]{0,2}(?P<letter>[a-z])(?![^\W_]))(?P<initials> [a-z]{2,3}$)?"
    r"|第 ?(?P<nth>\d{1,3}) ?版|版本 ?(?P<nth_>\d{1,3})"
)
_SECONDS = pattern(r"(?<!\d)1[4-9]\d{8}(?:\d{3})?(?!\d)")  # since 1970, as exports are named
_DAY = r"(?P<day>(?:19|20)\d\d[-. ]?(?:0[1-9]|1[0-2])[-. ]?(?:0[1-9]|[12]\d|3[01]))"
_STAMP = pattern(
    rf"(?<!\d){_DAY}[t \-]{{0,3}}(?:at )?(?P<hour>[01]\d|2[0-3])[.:h\-]?(?P<minute>[0-5]\d)"
    r"(?:[.:\-]?[0-5]\d(?:\.\d+)?)?z?(?!\d)"
)
_MONTH_DAY = pattern(
    rf"(?<!\w)(?P<name>{either(MONTHS)})\.? (?P<day>\d\d?)(?:st|nd|rd|th)?(?![\w.,]*\d)"
)
_CLOCK = pattern(r"(?:^| )([01]\d|2[0-3]) ?([0-5]\d)(?: ?[0-5]\d)?$")
_WORD_GAP = pattern(r"\W+")
_FILLER = pattern(r"(?:^| )(?:as of|stand|per|vom|exported|export on|du|al)$")


@dataclass(frozen=True, slots=True)
class Version:
    """The version that a name states; a field is 0 or () if the name does not state it."""

    age: int = 0  # -1 for "old" and "backup", 1 for "latest"
    # Day and minute of the state, as year * 10^8 + month * 10^6 + day * 10^4 + hour * 100 + minute;
    # the year is 0 if it is not named.
    date: int = 0
    number: tuple[int, ...] = ()  # of "v1.2" (1, 2); of "rev B" (2,)
    stage: int = 0  # -1 for a draft, 1 for what is final
    stage_number: int = 0  # of "final 2"
    copy: int = 0  # of "(2)" and "copy 2" 2; 1 for "copy" alone

    def order(self) -> tuple[object, ...]:
        """A key that grows with the version.

        A final state without a number comes after all that have one, a draft without before.
        """
        number = self.number or ((10**9,) if self.stage > 0 else ())
        return self.age, self.date, number, self.stage, self.stage_number, self.copy


PLAIN = Version()


@lru_cache(maxsize=4_096)
def version_of(name: str) -> tuple[str, Version]:
    """A name without its ending, or a question, without what tells versions apart, and the version.

    Months, quarters and years stay: what differs by them is a series, not a version. Days and
    weeks are those of exports and of saved states.

    >>> version_of("Budget_v3_final (2)")
    ('budget', Version(age=0, date=0, number=(3,), stage=1, stage_number=0, copy=2))
    >>> version_of("Budget 2024 copy")[0], version_of("Copy of Budget 2024")[0]
    ('budget 2024', 'budget 2024')
    >>> version_of("export_2024-03-11_0930")
    ('export', Version(age=0, date=202403110930, number=(), stage=0, stage_number=0, copy=0))
    """
    text, version = _without_marks(plain(name))
    day, rest = _date(text)
    kept = " ".join(_WORD_GAP.split(rest)).strip()
    if day:
        kept = _FILLER.sub("", kept)
    return kept, replace(version, date=day)


def _without_marks(text: str) -> tuple[str, Version]:
    """The text without words and numbers of versions, and those; no dates yet."""
    stage = stage_number = age = copy = 0
    number: tuple[int, ...] = ()
    for value, words in _STAGES:
        if match := words.search(text):
            stage, stage_number = value, int(match["number"] or 0)
            text = words.sub(" ", text)
    if match := _COPY.search(text):
        copy = int(match["number"] or 1)
        text = _COPY.sub(" ", text)
    if match := _BRACKETS.search(text):
        copy = max(copy, int(match[1]))
        text = _BRACKETS.sub(" ", text)
    if match := _VERSION.search(text):
        number = _number(match)
        text = _VERSION.sub(" ", text)
    for value, words in _AGES:
        if words.search(text):
            age = value
            text = words.sub(" ", text)
    return text, Version(age, 0, number, stage, stage_number, copy)


def _number(match: re.Match[str]) -> tuple[int, ...]:
    if match["letter"]:
        return (ord(match["letter"]) - ord("a") + 1,)
    written = match["number"] or match["nth"] or match["nth_"]
    return tuple(int(part) for part in written.split("."))


def _date(text: str) -> tuple[int, str]:
    """Day and minute that a text names, 0 for none, and the text without them."""
    if stamp := _STAMP.search(text):
        digits = re.sub(r"\D", "", stamp["day"])
        apart = f" {digits[:4]}-{digits[4:6]}-{digits[6:]} {stamp['hour']}{stamp['minute']}"
        text = f"{text[: stamp.start()]} {text[stamp.end() :]}{apart}"
    found = spelled(text)
    units = found.units
    year = units.get("year", 0)
    if "day" in units and "month" in units:
        day = (year * 10_000 + units["month"] * 100 + units["day"]) * 10_000
        clock = _CLOCK.search(found.rest)
        minute = int(clock[1]) * 100 + int(clock[2]) if clock else 0
        return day + minute, _CLOCK.sub("", found.rest)
    if "week" in units and "month" not in units:
        return _week(year, units["week"]), found.rest
    if match := _MONTH_DAY.search(text):
        day = MONTHS[match["name"]] * 100 + min(int(match["day"]), 31)
        return (year * 10_000 + day) * 10_000, _MONTH_DAY.sub(" ", text)
    if match := _SECONDS.search(text):
        saved = datetime.fromtimestamp(int(match[0][:10]), UTC)
        return int(f"{saved:%Y%m%d%H%M}"), _SECONDS.sub(" ", text)
    return 0, text


def _week(year: int, week: int) -> int:
    """The Monday of an ISO week; the week as a day of month 0 without a year."""
    try:
        monday = date.fromisocalendar(year or 2000, week, 1)
    except ValueError:
        return 0
    if not year:
        return week * 10_000
    return (monday.year * 10_000 + monday.month * 100 + monday.day) * 10_000


_NOUN = (
    r"(?:version|copy|copies|draft|export|file|state|edition|release|revision|one|fassung|"
    r"stand|datei|version|fichier|versione|versi[oó]n)"
)
_OLDEST = pattern(rf"(?<!\w)(?:oldest|original|first|alteste|erste|premiere) {_NOUN}|最早|原版")
_PREVIOUS = pattern(
    rf"(?<!\w)(?:previous|prior|preceding|last but one|older|earlier|vorige|vorherige|"
    rf"precedente|anterior) {_NOUN}|上一版|上个版本"
)
_HOUR_NS = 3_600 * 10**9  # nanoseconds
_YEARS = 10**8  # of a date as `Version` has it


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a group of copies."""

    sheet_id: str
    versions: tuple[Version, Version]
    # When its file was modified, nanoseconds since 1970; 0 if that is not known.
    modified_ns: int = 0
    file: str = ""  # hash of its workbook's bytes; empty if that is not known


def newest_first(members: Sequence[Member]) -> list[Member]:
    """Members by their versions, of equal ones by the time of their files, then by id.

    The hour in which a file was modified goes before the marks of a copy, for the original may
    be worked on after it was copied; files that were unpacked together have one hour.

    Where some names say a date, that of a file counts for the others: a file without a date
    beside saved states is the one that is worked on.
    """
    dated = any(_member_date(each) for each in members)

    def key(member: Member) -> tuple[object, ...]:
        first, second = member.versions
        date = _member_date(member) or (_saved_on(member) if dated else 0)
        of_book, of_tab = (each.order() for each in (first, second))
        ages = min(first.age, second.age) or max(first.age, second.age)
        hour = member.modified_ns // _HOUR_NS
        copies = first.copy, second.copy
        return ages, date, of_book[2:-1], of_tab[2:-1], hour, copies, member.modified_ns

    by_id = sorted(members, key=lambda each: each.sheet_id)
    return sorted(by_id, key=key, reverse=True)


def named(question: str, ordered: Sequence[Member]) -> Member | None:
    """The member, of newest first, that a question names by its version; None if it names none."""
    _rest, asked = version_of(question)
    if asked != PLAIN:
        scored = [(_agreement(asked, each), -place) for place, each in enumerate(ordered)]
        best, place = max(scored, default=(0, 0))
        if best > 0 and best > min(score for score, _place in scored):
            return ordered[-place]
    text = plain(question)
    if _OLDEST.search(text):
        return ordered[-1]
    if _PREVIOUS.search(text) and len(ordered) > 1:
        return ordered[1]
    return None


def _agreement(asked: Version, member: Member) -> int:
    """How much of a version that is asked for a member has; below 0 if it says another one."""
    own = member.versions
    score = 0
    if asked.number:
        numbers = [each.number for each in own if each.number]
        score += max((_likeness(asked.number, each) for each in numbers), default=0)
    if asked.date:
        dates = [each.date for each in own if each.date] or [_saved_on(member)]
        score += 8 if any(_same_day(asked.date, date) for date in dates) else -8
    for name, weight in (("stage", 4), ("age", 4), ("copy", 2)):
        wanted = getattr(asked, name)
        if wanted:
            score += weight * any(getattr(each, name) == wanted for each in own)
    if asked.stage and asked.stage_number:
        score += any(each.stage_number == asked.stage_number for each in own)
    return score


def _likeness(asked: tuple[int, ...], own: tuple[int, ...]) -> int:
    """8 for a number that is asked for, 6 for a part of it ("v2" of "v2.1"), -8 for another."""
    if _trimmed(asked) == _trimmed(own):
        return 8
    return 6 if own[: len(asked)] == asked else -8


def _trimmed(number: tuple[int, ...]) -> str:
    return ".".join(map(str, number)).removesuffix(".0")


def _same_day(asked: int, date: int) -> bool:
    if asked < _YEARS:  # no year is named
        date %= _YEARS
    return asked // 10_000 == date // 10_000 and (asked % 10_000 in (0, date % 10_000))


def _member_date(member: Member) -> int:
    return max(each.date for each in member.versions)


def _saved_on(member: Member) -> int:
    """Day and minute of a file's time, as `Version.date` has them; 0 if it is not known."""
    if member.modified_ns <= 0:
        return 0
    seconds = min(member.modified_ns // 1_000_000_000, 253_402_300_799)
    return int(f"{datetime.fromtimestamp(seconds, UTC):%Y%m%d%H%M}")
