"""ONNX files: exported, compacted, checked and run."""
