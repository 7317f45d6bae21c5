"""The index of a corpus: workbooks in, candidates out."""
