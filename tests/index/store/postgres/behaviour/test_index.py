"""The tests of `tests/index/test_index.py` with an index in PostgreSQL."""

from tests.index.store.postgres.mapped import in_postgres, without  # noqa: F401
from tests.index.test_index import *  # noqa: F403

without(
    globals(),
    (
        "test_what_is_written_to_a_file_that_was_deleted_and_made_anew_is_refused",
        "test_a_file_that_is_no_index_is_refused",
        "test_another_program_s_database_is_refused_and_left_as_it_is",
        "test_the_log_of_a_deleted_index_does_not_come_back_in_a_new_one",
        "test_a_new_index_may_be_read_by_whom_the_system_s_rules_allow",
        "test_an_index_whose_texts_were_made_otherwise_is_refused",
        "test_an_index_of_a_newer_version_is_refused",
        "test_a_second_writer_waits_and_is_then_told_who_is_in_the_way",
        "test_a_read_only_index_can_be_searched_but_not_written",
        "test_a_full_disk_is_a_clear_error_and_loses_nothing",
        "test_an_index_of_texts_that_were_split_otherwise_is_refused",
        "test_no_example_is_written_to_a_metadata_only_index",
    ),
)
