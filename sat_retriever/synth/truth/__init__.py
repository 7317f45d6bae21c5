"""Derive from the templates what an index must find in made workbooks."""

from sat_retriever.synth.truth.keys import true_keys
from sat_retriever.synth.truth.links import facts_in_time, true_links, true_siblings
from sat_retriever.synth.truth.records import sheet_id, true_records

__all__ = ["facts_in_time", "sheet_id", "true_keys", "true_links", "true_records", "true_siblings"]
