"""Run commands, or the application's panes, in one process: `python runner.py verbs|panes FOLDER < lines.json`.

Reads a JSON list (command lines for `verbs`, keys for `panes`) and prints one JSON list with what each gave. A process
of its own, so that it can be started without the right to write where the modes forbid it, and so that nothing of the
test's own process stands in.
"""

import asyncio
import contextlib
import io
import json
import os
import sys
import traceback


class Output(io.TextIOWrapper):
    """Standard output or error, kept."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="replace", write_through=True)

    @property
    def text(self) -> str:
        raw = self.buffer
        assert isinstance(raw, io.BytesIO)
        return raw.getvalue().decode("utf-8", "replace")


def run_verbs(lines: list[list[str]]) -> list[dict[str, object]]:
    """(status, out, err, traceback) of each command line, one after the other."""
    from tui import cli

    given = []
    for words in lines:
        out, err, raised, status = Output(), Output(), "", None
        sys.stdin = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = cli.run_command(words)
            except BaseException:
                raised = traceback.format_exc()
        given.append({"words": words, "status": status, "out": out.text, "err": err.text, "raised": raised})
    return given


async def run_panes(keys: list[str], folder: str) -> list[dict[str, object]]:
    """The screen's lines and the messages after each key; what it ended with, where it ended by itself."""
    from textual.pilot import WaitForScreenTimeout

    from store.projects.locating import locate
    from tui.app import Memoranda

    given: list[dict[str, object]] = []
    app = Memoranda(locate(None, os.environ, folder), folder)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        for key in ("", *keys):
            if key and not app._exit:
                await pilot.press(*key.split())
            for _ in range(3):
                if app._exit:
                    break
                with contextlib.suppress(Exception):  # a worker that failed says so on the screen
                    async with asyncio.timeout(20):
                        await app.workers.wait_for_complete()
                with contextlib.suppress(WaitForScreenTimeout, TimeoutError):  # it may be ending
                    async with asyncio.timeout(5):
                        await pilot.pause(0.05)
            if app._exit:
                given.append({"key": key, "lines": [], "said": [str(one) for one in app._exit_renderables]})
                break
            lines = [strip.text.rstrip() for strip in app.screen._compositor.render_strips(app.size)]
            given.append({"key": key, "lines": lines, "said": [notice.message for notice in app._notifications]})
    return given


def main() -> None:
    what, folder = sys.argv[1:]
    wanted = json.loads(sys.stdin.read())
    printer = os.fdopen(os.dup(1), "w")
    os.chdir(folder)
    given = run_verbs(wanted) if what == "verbs" else asyncio.run(run_panes(wanted, folder))
    printer.write(json.dumps(given))
    printer.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
