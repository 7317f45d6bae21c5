"""Plan the size of a corpus and the houses of its workbooks."""
