"""Questions about what stands in sheets: a value, a note, a row label, a version, or nothing."""
