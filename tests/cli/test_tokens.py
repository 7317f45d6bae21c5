"""`sat tokens`: made once, kept as hashes in a private file, listed and revoked by name."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from datetime import UTC, datetime, timedelta

import pytest

OLD = """# by hand
[[token]]
token = "a-token-that-somebody-wrote"
groups = ["sales"]
[[token]]
token = "another-one-of-that-length"
owner = true
"""


def listed(sat, file) -> dict[str, dict]:
    return {
        each["name"]: each
        for each in json.loads(sat("tokens", "list", "--tokens", file, "--json").out)["tokens"]
    }


def test_a_token_is_printed_once_and_kept_as_a_hash_in_a_private_file(sat, tmp_path):
    file = tmp_path / "tokens.toml"
    made = sat("tokens", "add", "Zoë [x]", "--groups", "hr", "--groups", "a, b", "--tokens", file)
    secret = made.out.strip()
    assert made.code == 0 and secret.startswith("sat_") and len(secret) > 40
    assert secret not in made.err and "it is not shown again" in made.err
    text = file.read_text()
    assert secret not in text and hashlib.sha256(secret.encode()).hexdigest() in text
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    known = listed(sat, file)["Zoë [x]"]
    assert (known["groups"], known["owner"], known["expired"]) == (["a, b", "hr"], False, False)
    assert known["ends_with"] == secret[-4:]
    left = datetime.fromisoformat(known["expires"]) - datetime.now(UTC)
    assert timedelta(days=89) < left <= timedelta(days=90)
    shown = sat("tokens", "list", "--tokens", file).out
    assert "Zoë [x]" in shown and f"…{secret[-4:]}" in shown and secret not in shown


def test_tokens_end_when_it_is_said(sat, tmp_path):
    file = tmp_path / "tokens.toml"
    for name, expires in (("a", "12h"), ("b", "8w"), ("c", "2999-12-31"), ("d", "never")):
        words = ("--owner", "--expires", expires, "--tokens", file)
        assert sat("tokens", "add", name, *words).code == 0
    known = listed(sat, file)
    ends = {name: each["expires"] for name, each in known.items()}
    assert ends["c"] == "2999-12-31T23:59:59+00:00" and ends["d"] is None
    assert datetime.fromisoformat(ends["b"]) > datetime.fromisoformat(ends["a"])
    assert all(each["owner"] for each in known.values())


def test_an_older_file_keeps_its_tokens_and_gets_new_ones(sat, tmp_path):
    file = tmp_path / "tokens.toml"
    file.write_text(OLD)
    file.chmod(0o600)
    assert sat("tokens", "add", "ada", "--tokens", file).code == 0
    assert list(listed(sat, file)) == ["token 1", "token 2", "ada"]
    assert sat("tokens", "revoke", "token 2", "--tokens", file).code == 0
    known = listed(sat, file)
    assert list(known) == ["token 1", "ada"] and known["token 1"]["ends_with"] == "rote"
    assert "a-token-that-somebody-wrote" in file.read_text()
    assert "another-one" not in file.read_text()
    assert sat("tokens", "revoke", "token 1", "--tokens", file).code == 0
    assert sat("tokens", "revoke", "ada", "--tokens", file).code == 0
    assert listed(sat, file) == {}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "ada"), "has a token called 'ada' already"),
        (("add", " eve"), "a token is called ' eve'"),
        (("add", "eve", "--groups", ""), "a group is called ''"),
        (("add", "eve", "--groups", "hr", "--owner"), "exclude each other"),
        (("add", "eve", "--expires", "90"), "is no time; give 12h, 90d"),
        (("add", "eve", "--expires", "0d"), "is no time; give 12h, 90d"),
        (("add", "eve", "--expires", "2020-01-01"), "is over"),
        (("revoke", "eve"), "has no token called 'eve'; there are: ada"),
    ],
    ids=str,
)
def test_what_cannot_be_done_is_told_and_changes_nothing(sat, tmp_path, words, said):
    file = tmp_path / "tokens.toml"
    assert sat("tokens", "add", "ada", "--tokens", file).code == 0
    before = file.read_bytes()
    run = sat("tokens", *words, "--tokens", file)
    assert (run.code, run.out) == (2, "") and said in run.err
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[token]]\n", "needs a text as token"),
        ('[[token]]\ntoken = "a-token-of-some-length"\n', "needs a text as token"),
        ('[[token]]\nhash = "12"\ngroups = []\n', "needs a text as token"),
        (f'[[token]]\nhash = "{"a" * 64}"\ntoken = "{"t" * 20}"\ngroups = []\n', "needs a text"),
        (f'[[token]]\nhash = "{"a" * 64}"\ngroups = []\nexpires = 2027-01-01\n', "with its zone"),
        (f'[[token]]\nhash = "{"a" * 64}"\ngroups = "hr"\n', "are not a list"),
        (f'[[token]]\nhash = "{"a" * 64}"\ngroups = []\n' * 2, "lists a token twice"),
        (OLD + f'[[token]]\nname = "token 1"\nhash = "{"a" * 64}"\ngroups = []\n', "a name twice"),
        ("tokens = 1\n", "lists no tokens"),
        ("[[token\n", "cannot read the tokens"),
    ],
    ids=range(10),
)
def test_a_file_of_anything_but_tokens_is_refused(sat, tmp_path, text, said):
    file = tmp_path / "tokens.toml"
    file.write_text(text)
    file.chmod(0o600)
    run = sat("tokens", "list", "--tokens", file)
    assert run.code == 2 and said in run.err
    file.chmod(0o644)
    assert "chmod 600" in sat("tokens", "list", "--tokens", file).err
    file.unlink()
    assert "make one: sat tokens add" in sat("tokens", "list", "--tokens", file).err
