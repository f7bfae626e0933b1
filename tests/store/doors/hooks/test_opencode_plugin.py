"""The plugin that OpenCode runs, in Node: what it tells our hook, and what it hands the model."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from store.doors.client import OPENCODE_PLUGIN_FILE, PLUGIN_COMMAND

NODE = shutil.which("node")
SESSION = """
import { Memoranda } from "./plugin.mjs"
const client = { session: { get: async () => ({ data: {} }), messages: async () => ({ data: [] }) } }
const both = [await Memoranda({ client, directory: "." }), await Memoranda({ client, directory: "." })]
for (const cut of [false, true]) {
  const output = { system: [] }
  for (const one of both) {
    if (cut) await one["experimental.session.compacting"]({ sessionID: "s" })
    await one["experimental.chat.system.transform"]({ sessionID: "s" }, output)
  }
  console.log(JSON.stringify(output.system))
}
"""


@pytest.mark.skipif(NODE is None, reason="Node is not installed, so the plugin cannot be run")
def test_a_session_is_told_once_in_a_process_and_again_when_it_was_cut_or_gone_on_with(tmp_path: Path) -> None:
    assert NODE is not None
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\n(cat; echo) >> "{tmp_path}/told"\necho \'{{"context": "known"}}\'\n')
    program.chmod(0o755)
    source = Path(OPENCODE_PLUGIN_FILE).read_text(encoding="utf-8")
    source = source.replace(PLUGIN_COMMAND, json.dumps([str(program)]), 1)
    (tmp_path / "plugin.mjs").write_text(source)
    (tmp_path / "session.mjs").write_text(SESSION)
    for _ in range(2):
        done = subprocess.run([NODE, "session.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines() == ['["known","known"]'] * 2
    told = [json.loads(line) for line in (tmp_path / "told").read_text().splitlines()]
    starts = [one["id"] for one in told if one["event"] == "start"]
    assert len(starts) == 8 and len(set(starts)) == 4
