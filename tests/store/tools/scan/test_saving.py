"""Conversations that are about to be deleted are copied: whole, without secrets, once; a proof knows of the copies."""

import json
import os
import stat
from pathlib import Path

from store.memory import Memory
from store.purge.proof import find_traces
from store.tools.source import FoundTurn
from store.tools.source_import import get_source
from store.tools.transcript_scan import save_transcripts

KEY = "AKIAQ7RM3XKD2WUZ5VTN"


def transcript(folder: Path, name: str = "one", said: str = "Hello there.") -> Path:
    path = folder / ".claude" / "projects" / "-src-faro" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    message = {"role": "user", "content": said}
    turn = {"type": "user", "sessionId": name, "uuid": name, "cwd": "/src/faro", "message": message}
    path.write_text(f'{json.dumps(turn)}\nnot json {KEY}\n{{"cut": ', encoding="utf-8")
    return path


def test_a_copy_is_private_whole_and_without_secrets(tmp_path: Path) -> None:
    path = transcript(tmp_path, said=f"The key is {KEY}, ¿vale?")
    before = path.read_bytes(), path.stat().st_mtime_ns
    saved = save_transcripts([str(path), str(path)])
    (copy,) = saved.new
    assert (saved.before, saved.troubles) == (0, ())
    assert Path(copy).parent.name == "-src-faro" and stat.S_IMODE(os.stat(copy).st_mode) == 0o600
    text = Path(copy).read_text(encoding="utf-8")
    assert KEY not in text and "¿vale?" in text and len(text.splitlines()) == 3
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before, "the original is only read"
    assert os.listdir(Path(copy).parent) == [Path(copy).name]


def test_it_is_copied_once_and_again_when_it_grew(tmp_path: Path) -> None:
    path = transcript(tmp_path)
    assert len(save_transcripts([str(path)]).new) == 1
    again = save_transcripts([str(path)])
    assert (again.new, again.before) == ((), 1)
    path.write_text(path.read_text() + "\n{}\n")
    (copy,) = save_transcripts([str(path)]).new
    assert Path(copy).read_text().endswith("{}\n")


def test_what_cannot_be_read_is_said_and_the_rest_is_saved(tmp_path: Path) -> None:
    good, pipe, link = transcript(tmp_path), tmp_path / "pipe.jsonl", tmp_path / "link.jsonl"
    os.mkfifo(pipe)
    link.symlink_to(good)
    saved = save_transcripts([str(pipe), str(link), str(tmp_path / "gone.jsonl"), str(good)])
    assert len(saved.new) == 1 and len(saved.troubles) == 3


def test_a_copy_is_brought_in_like_its_original(tmp_path: Path) -> None:
    path = transcript(tmp_path, said="We chose SQLite.")
    saved = save_transcripts([str(path)])
    path.unlink()
    read = get_source("claude-code").read(os.path.dirname(saved.new[0]), [])
    turns = [one for one in read if isinstance(one, FoundTurn)]
    assert [one.text for one in turns] == ["We chose SQLite."]


def test_a_proof_looks_into_the_copies(memory: Memory, tmp_path: Path) -> None:
    save_transcripts([str(transcript(tmp_path, said="The ledger is called Zanzibar"))])
    found = find_traces(memory.database, memory.documents, ["The ledger is called Zanzibar"])
    assert not found.is_clean and any("transcripts" in one.file for one in found.files_with_text)
