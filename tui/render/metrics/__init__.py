"""The lines and small charts of metrics."""
