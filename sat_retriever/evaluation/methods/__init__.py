"""Define every compared method, one file each: from an index to a `Method`."""
