import subprocess
import sys
from pathlib import Path

import pytest

from sat_retriever.records.formats import FORMATS
from sat_retriever.workbook import formats
from sat_retriever.workbook.formats.kind import module_of, sniff

FOLDER = Path(formats.__file__).parent


@pytest.mark.parametrize("entry", FORMATS, ids=lambda entry: entry.module)
def test_the_module_of_every_format_recognises_and_reads(entry):
    module = module_of(entry)
    assert callable(module.recognise)
    assert callable(module.messages)
    assert module.__doc__.partition(":")[0].replace(" and", ",").split(", ") == list(entry.names)


def test_every_module_that_recognises_a_format_is_in_the_registry():
    sources = [*FOLDER.glob("*.py"), *FOLDER.glob("*/__init__.py")]
    found = {
        path.parent.name if path.name == "__init__.py" else path.stem
        for path in sources
        if "\ndef recognise(" in path.read_text(encoding="utf-8")
    }
    assert found == {entry.module for entry in FORMATS}


@pytest.mark.parametrize(
    "start", [b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"\x1f\x8b", b"a"]
)
def test_every_file_is_of_some_kind_or_named_as_none(tmp_path, start):
    path = tmp_path / "file"
    path.write_bytes(start + bytes(range(256)) * 9)
    kind = sniff(path)
    assert kind.format or (kind.reason and kind.message)


def test_a_folder_is_walked_without_the_libraries_that_read_workbooks():
    program = (
        "import sys; import sat_retriever.index.sync.local_plan;"
        "from sat_retriever.workbook.formats.kind import sniff; from pathlib import Path;"
        "sniff(Path(sys.executable), named=False);"
        "print({'openpyxl', 'python_calamine', 'msoffcrypto'} & sys.modules.keys())"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"
