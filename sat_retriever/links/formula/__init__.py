"""Links from formulas and declared sources to the sheets that they refer to."""
