"""Put the manual page into the wheel, as share/man/man1/memoranda.1; hatchling runs this while it builds one."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ManualPage(BuildHookInterface):
    """Makes the page from the table of commands, which needs nothing but Python."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        sys.path.insert(0, self.root)
        try:
            from tui.input.man_page import manual_page
        finally:
            sys.path.remove(self.root)
        self._folder = tempfile.TemporaryDirectory()
        path = Path(self._folder.name) / "memoranda.1"
        path.write_text(manual_page(self.metadata.version), encoding="utf-8")
        build_data["shared_data"][str(path)] = "share/man/man1/memoranda.1"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._folder.cleanup()
