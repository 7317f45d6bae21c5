"""Export, compact, check and run ONNX files."""
