"""What a user can import."""

import sat_retriever


def test_every_public_name_can_be_imported():
    for name in sat_retriever.__all__:
        assert getattr(sat_retriever, name) is not None


def test_the_public_names_are_these_and_no_more():
    assert sorted(sat_retriever.__all__) == sorted(
        """
        Answer Candidate Column ColumnKind Content CrossEncoderReranker EmbeddingEncoder
        EmptyInputError EncoderError EngineSettings Filters FingerprintMismatchError GraphReranker
        Hit
        IndexBusyError IndexDamagedError
        IndexFormatError IndexNotFoundError IndexStorageError InputError Limits Link
        LinkReranker LinkType MissingExtraError OWNER OutputError PathNotFoundError PermissionsError
        Rule Rules SatError
        Serialization SheetAnswer SheetEncoder SheetIndex SheetIndexError SheetRecord
        SheetRetriever
        SheetTools Skipped SyncReport Table Tool TypedColumn TypedTable Visibility Workbook
        __version__ hit_text index_paths link_graph load_reranker open_index ray_cluster
        read_workbook
        """.split()
    )


def test_an_unknown_name_is_an_attribute_error():
    try:
        sat_retriever.nonsense  # noqa: B018
    except AttributeError as error:
        assert "nonsense" in str(error)
    else:
        raise AssertionError("no error")
