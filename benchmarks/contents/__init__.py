"""Search by what stands in the cells of sheets."""
