"""Licences of what a wheel installs."""

from __future__ import annotations

from pathlib import Path

import pytest
from licences import licences, names_in


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a package with given metadata where installed ones are found."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(name: str, *lines: str) -> None:
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        head = ("Metadata-Version: 2.4", f"Name: {name}", "Version: 1.0")
        (folder / "METADATA").write_text("\n".join((*head, *lines)) + "\n", encoding="utf-8")

    return install


def test_each_package_is_listed_once_under_all_licences_that_it_names(installed):
    installed("satone", "License-Expression: MPL-2.0 AND (Apache-2.0 OR MIT)")
    installed("sattwo", "Classifier: License :: OSI Approved :: ISC License (ISCL)")
    installed("satthree", "License: MIT License", "Requires-Dist: satone")
    found = licences(["satone", "sattwo>=1", "satthree"], [])
    assert found.packages == {
        "ISC License (ISCL)": ["sattwo"],
        "MIT License": ["satthree"],
        "MPL-2.0, Apache-2.0, MIT": ["satone"],
    }
    assert (found.not_read, found.refused) == ([], [])


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("License-Expression: MIT AND GPL-3.0-only", "GPL-3.0-only"),
        ("License-Expression: MIT OR GPL-2.0-or-later", "GPL-2.0-or-later"),
        (
            "Classifier: License :: OSI Approved :: GNU Affero General Public License v3",
            "GNU Affero General Public License v3",
        ),
        ("License: Free for research", "Free for research"),
        ("Summary: says nothing", "no licence"),
    ],
)
def test_a_licence_that_is_not_allowed_is_refused_however_indirectly_it_comes(
    installed, line, named
):
    installed("satmiddle", "License-Expression: MIT", "Requires-Dist: satgrim")
    installed("satgrim", line)
    (refused,) = licences(["satmiddle"], []).refused
    assert refused.startswith(f"satgrim is under {named}, which is not allowed: do without it")


def test_extras_of_users_count_and_those_of_developers_do_not(installed):
    installed("satgrim", "License-Expression: GPL-3.0-only")
    needs = ["satgrim; extra == 'sql'", "satnowhere; extra == 'test'"]
    assert len(licences(needs, ["sql", "test"]).refused) == 1
    assert licences(needs, ["test"]).refused == []


def test_the_extras_of_a_requirement_are_followed(installed):
    installed("satweb", "License-Expression: MIT", "Requires-Dist: satgrim; extra == 'fast'")
    installed("satgrim", "License-Expression: GPL-3.0-only")
    assert licences(["satweb"], []).refused == []
    assert len(licences(["satweb[fast]"], []).refused) == 1
    assert len(licences(["satweb", "satweb[fast]"], []).refused) == 1


def test_what_another_system_needs_is_left_out(installed):
    installed("satgrim", "License-Expression: GPL-3.0-only")
    assert licences(["satgrim; sys_platform == 'plan9'"], []).refused == []


def test_a_package_that_is_not_installed_is_refused_unless_it_is_known_to_be_missing():
    found = licences(["satnowhere", "onnxruntime-gpu[cuda]; extra == 'gpu'"], ["gpu"])
    assert found.refused == ["satnowhere is not installed here, so its licence is unknown"]
    assert [text.split()[0] for text in found.not_read] in ([], ["onnxruntime-gpu"])


def test_an_expression_is_taken_apart():
    text = "MPL-2.0 AND (Apache-2.0 WITH LLVM-exception OR (MIT AND Zlib))"
    assert names_in(text) == ("MPL-2.0", "Apache-2.0 WITH LLVM-exception", "MIT", "Zlib")
