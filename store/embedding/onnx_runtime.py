"""ONNX Runtime, imported so that it is silent and sends nothing of its own."""

import os
from typing import Any

# Its wheels send events to Microsoft unless told not to (1.32 on Linux does), and leave a device's number and a
# database in the user's cache. Hugging Face's client, which fastembed downloads models with, says what it runs on.
NO_TELEMETRY = {"ORT_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}


def load() -> Any:
    """Import ONNX Runtime, without the warning about graphics cards that it writes to standard error as it is loaded
    (its issue 27092: nothing turns that off). Raise ImportError where there is none."""
    os.environ.update(NO_TELEMETRY)  # read as it is loaded
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        import onnxruntime as runtime

        runtime.disable_telemetry_events()
        return runtime
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
