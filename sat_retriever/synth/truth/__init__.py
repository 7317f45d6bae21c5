"""What an index must find in made workbooks, told by what they were made from."""

from sat_retriever.synth.truth.keys import true_keys
from sat_retriever.synth.truth.links import true_links
from sat_retriever.synth.truth.records import sheet_id, true_records
from sat_retriever.synth.truth.siblings import true_siblings

__all__ = ["sheet_id", "true_keys", "true_links", "true_records", "true_siblings"]
