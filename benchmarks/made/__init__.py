"""Make corpora, compare them with published ones, and measure their cost."""
