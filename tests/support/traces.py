"""Search a folder's bytes for what a purge left, in a process independent of Memoranda's own search."""

import json
import subprocess
import sys
from pathlib import Path

SCAN = """
import base64, json, os, sys
folder, texts = json.load(sys.stdin)
def forms(text):
    raw = text.encode()
    yield "raw", raw
    yield "lower", text.lower().encode()
    yield "JSON", json.dumps(text)[1:-1].encode()
    yield "UTF-16LE", text.encode("utf-16-le")
    yield "UTF-16BE", text.encode("utf-16-be")
    for shift in range(3):
        yield "base64", base64.b64encode(b"x" * shift + raw + b"xxx")[4 if shift else 0 : -8]
found = []
for place, _, names in os.walk(folder):
    for name in names:
        with open(os.path.join(place, name), "rb") as file:
            data = file.read()
        small = data.lower()
        found += sorted({(name, form) for text in texts for form, sought in forms(text)
            if sought in (small if form == "lower" else data)})
json.dump(found, sys.stdout)
"""


def traces(folder: Path | str, *texts: str) -> list[tuple[str, str]]:
    """Return (file name, encoding) of every file below a folder that contains one of these texts, in five encodings."""
    asked = json.dumps([str(folder), texts])
    done = subprocess.run([sys.executable, "-IS", "-c", SCAN], input=asked, capture_output=True, text=True, check=True)
    return [(name, form) for name, form in json.loads(done.stdout)]
