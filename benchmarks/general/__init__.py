"""Build the general model: its corpora, its training, its model card."""
