"""Index a corpus: workbooks in, candidates out."""
