"""Every compared method, one file each: an index to what finds and orders its sheets."""
