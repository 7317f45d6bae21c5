"""Names of files that every system takes, whatever they are made from."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sat_retriever.evaluation.report.folder import file_names
from sat_retriever.records.files import portable
from sat_retriever.serve.workbookfile import attachment
from sat_retriever.synth.house.naming import file_name
from sat_retriever.synth.language.translate import _file_of

# From Microsoft's "Naming Files, Paths, and Namespaces".
DEVICES = (
    "CON PRN AUX NUL CONIN$ CONOUT$ COM1 COM2 COM3 COM4 COM5 COM6 COM7 COM8 COM9 COM¹ COM² COM³ "
    "LPT1 LPT2 LPT3 LPT4 LPT5 LPT6 LPT7 LPT8 LPT9 LPT¹ LPT² LPT³"
).split()
AWKWARD = st.one_of(
    st.text(max_size=80),
    st.sampled_from(DEVICES).flatmap(
        lambda name: st.sampled_from([name, name.lower(), f"{name}.x", f" {name} .y", f"{name}. "])
    ),
    st.text(alphabet='<>:"/\\|?*. \x00\x1fcon', max_size=12),
)


def is_portable(name: str) -> bool:
    """True if Windows, macOS and Linux take a file of this name."""
    stem = name.partition(".")[0].rstrip(" ").upper()
    odd = set(name) & set('<>:"/\\|?*\x7f') or any(ord(sign) < 32 for sign in name)
    return bool(name) and not odd and stem not in DEVICES and name[-1] not in ". "


@given(AWKWARD)
@example("ＣＯＮ")  # a wide form that is CON in ASCII
@example("..")
def test_every_name_that_is_made_from_data_is_portable(text):
    assert not portable(text) or is_portable(portable(text))
    assert is_portable(f"{file_name(text)}.xlsx")
    assert all(is_portable(name) for name in file_names([text, text]))
    shown = attachment(text, "csv")["content-disposition"]
    assert is_portable(re.search(r'filename="(.*?)"', shown)[1])


@given(AWKWARD)
def test_a_portable_name_stays_as_it_is(text):
    assert portable(portable(text)) == portable(text)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("form", ["{}", "{}.", "{}.xlsx", "{} .x", " {}"])
def test_no_name_is_a_device_of_windows(device, form):
    for text in (form.format(device), form.format(device.lower())):
        assert is_portable(portable(text)), text


def test_plain_names_are_kept():
    for name in ("Sales 2024", "console", "com10", "nullable", "Währung", "価格表", "a.b", ".x"):
        assert portable(name) == name


def test_methods_have_different_files_on_a_file_system_without_letter_case_or_forms():
    composed, taken_apart = "Café", unicodedata.normalize("NFD", "Café")
    names = file_names(["SAT", "sat", "Sat ", composed, taken_apart, "CON", "con"])
    seen = {unicodedata.normalize("NFC", name).casefold() for name in names}
    assert len(seen) == len(names)


@pytest.mark.parametrize("language", ["con", "aux", "nul", "prn", "de", "pt-BR"])
def test_a_language_has_a_file_that_windows_takes(language):
    assert is_portable(_file_of(language))
