"""The minimum cost of the screen: an empty Textual application, a list of 100,000 rows, the same with a preview.

    python -m bench.screen_floor [--presses 60] [--starts 7]

Compare figures of one run only. Every number ends at the last byte in the pseudo-terminal."""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Hashable, Sequence

from bench.terminal import Terminal, first_paint, key_latency

SIZE = (120, 40)
ROWS = 100_000
EMPTY = "from textual.app import App\nclass Empty(App):\n    pass\nEmpty().run()"
# the list as Memoranda runs it, and on Textual's own screen
APPS = {
    "list": "import gc; gc.disable()\nfrom bench.screen_floor import demo\ndemo()",
    "list and preview": "import gc; gc.disable()\nfrom bench.screen_floor import demo\ndemo(preview=True)",
    "the same, Textual's screen": "from bench.screen_floor import demo\ndemo(preview=True, responsive=False)",
}
KEYS = {"down": "\x1b[B", "page down": "\x1b[6~"}


class DemoRows:
    """`ROWS` generated facts."""

    def __len__(self) -> int:
        return ROWS

    def lines(self, index: int, width: int) -> list[list[tuple[str, str]]]:
        text = f" F#{index} the deployment may not depend on an external service"
        return [[("●", "glyph-fresh"), (" decisions  ", "dim"), (text, ""), (f"  {index % 300} d", "dim")]]

    def selectable(self, index: int) -> bool:
        return True

    def key(self, index: int) -> int:
        return index

    def index_of(self, key: Hashable) -> int | None:
        return key if isinstance(key, int) else None


def demo(preview: bool = False, responsive: bool = True) -> None:
    """Run a list of `ROWS` rows, with a preview that follows the cursor, on our screen or on Textual's."""
    from textual.app import App, ComposeResult
    from textual.containers import Horizontal
    from textual.filter import LineFilter
    from textual.screen import Screen
    from textual.widgets import Static

    from tui.screens.base import ResponsiveScreen, forget_startup
    from tui.theme.line_filters import StripControls, escaped_content
    from tui.widgets.record_list import RecordList

    strip_controls = StripControls()

    class Demo(App[None]):
        CSS = "#preview { width: 40; height: 100%; padding: 1; }"

        def get_default_screen(self) -> Screen[None]:
            return ResponsiveScreen(id="_default") if responsive else Screen(id="_default")

        def get_line_filters(self) -> Sequence[LineFilter]:
            return [*super().get_line_filters(), strip_controls]

        def compose(self) -> ComposeResult:
            with Horizontal():
                yield RecordList(DemoRows())
                if preview:
                    yield Static(id="preview")

        def on_ready(self) -> None:
            if responsive:
                forget_startup()

        def on_record_list_highlighted(self, message: RecordList.Highlighted) -> None:
            if preview:
                text = escaped_content(f"F#{message.key}\n" + "One file, no service, nothing to deploy. " * 8)
                self.query_one("#preview", Static).update(text, layout=not responsive)

    Demo().run()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presses", type=int, default=60)
    parser.add_argument("--starts", type=int, default=7)
    options = parser.parse_args(arguments)
    load = " ".join(f"{value:.2f}" for value in os.getloadavg())
    print(
        f"{os.cpu_count()} cores, load {load}, Python {sys.version.split()[0]}, {SIZE[0]}×{SIZE[1]}, {ROWS:,} rows\n"
    )

    paints: dict[str, list[float]] = {name: [] for name in ("empty", *APPS)}
    for _ in range(options.starts):  # alternating, so that a change of load affects all
        for name, code in {"empty": EMPTY, **APPS}.items():
            marker = None if name == "empty" else f"F#{SIZE[1] - 1} "
            paints[name].append(first_paint([sys.executable, "-c", code], size=SIZE, marker=marker) * 1e3)
    floor = statistics.median(paints["empty"])
    print(f"{'first paint, ms':28} median    max   × empty")
    for name, times in paints.items():
        middle = statistics.median(times)
        print(f"{name:28} {middle:6.1f} {max(times):6.1f} {middle / floor:9.2f}")

    print(f"\n{'key to last byte, ms':28} key        median    p95    max")
    for name, code in APPS.items():
        for word, key in KEYS.items():
            with Terminal([sys.executable, "-c", code], size=SIZE) as terminal:
                terminal.wait_for("F#1 ")
                terminal.quiet(0.5)
                times = sorted(key_latency(terminal, key) * 1e3 for _ in range(options.presses))
            p95 = times[int(len(times) * 0.95)]
            print(f"{name:28} {word:10} {statistics.median(times):6.2f} {p95:6.2f} {times[-1]:6.2f}")


if __name__ == "__main__":
    main()
