"""The fixtures that the tests of all LlamaIndex distributions share."""

from tests.integrations.llamaindex import (  # noqa: F401
    encoder,
    event_loop_of_the_thread,
    heard,
    index,
    index_file,
    workbooks,
)
