"""The general model: its corpora, its training, its model card."""
