"""Questions that name a version."""

import pytest

from sat_retriever.links.copies.versions import version_of
from sat_retriever.questions.contents.versions import said_version


@pytest.mark.parametrize(
    "name", ["Plan v2", "Plan v1.3", "Plan final", "Plan_final2", "Plan draft", "Plan 2024-03-11"]
)
def test_a_version_is_said_so_that_it_is_read_as_the_same(name):
    version = version_of(name)[1]
    read = version_of(f"{said_version(version)} of plan")[1]
    said = (version.number or (version.stage_number,), version.stage, version.date)
    assert (read.number or (read.stage_number,), read.stage, read.date) == said
