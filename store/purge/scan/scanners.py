"""What a scan looks for in all stored text, and cuts out: secrets, or data about people."""

import json
from collections.abc import Callable

from store.database.values import clean, clean_tree
from store.redaction.personal_data import masked, personal
from store.redaction.redactor import markers, replaced


def dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _without_people(text: str) -> str:
    return replaced(text, personal(text))


def _mapped(tree: object, change: Callable[[str], str]) -> object:
    """Return a copy of a JSON value with every string changed; the names in objects are kept."""
    if isinstance(tree, str):
        return change(tree)
    if isinstance(tree, list):
        return [_mapped(item, change) for item in tree]
    if isinstance(tree, dict):
        return {name: _mapped(item, change) for name, item in tree.items()}
    return tree


class Scanner:
    """A way to find what is to be cut: in a text, and in a JSON value string by string."""

    def __init__(self, clean: Callable[[str], str], clean_tree: Callable[[object], object]) -> None:
        self._clean = clean
        self._clean_tree = clean_tree

    def cut(self, text: str, as_json: bool) -> str:
        """Return the text as it is to be stored."""
        if as_json:
            try:
                tree = json.loads(text)
            except ValueError:
                return self._clean(text)
            cut = self._clean_tree(tree)
            return text if cut == tree else dumped(cut)
        return self._clean(text)

    def cut_line(self, line: str) -> str:
        """Return a line of the spool as it is to be stored."""
        try:
            tree = json.loads(line)
        except ValueError:
            return self._clean(line)
        cut = self._clean_tree(tree)
        return line if cut == tree else json.dumps(cut, ensure_ascii=True, separators=(",", ":"))

    def found(self, text: str, as_json: bool) -> dict[str, list[str]]:
        """Return what a field contains, by rule: for each match a masked text, or an empty one where nothing may be
        shown."""
        after = self.cut(text, as_json)
        if after == text:
            return {}
        before = markers(text)
        found = {rule: count - before.get(rule, 0) for rule, count in markers(after).items()}
        return {rule: [""] * count for rule, count in found.items() if count > 0}


class _People(Scanner):
    def __init__(self) -> None:
        super().__init__(_without_people, lambda tree: _mapped(tree, _without_people))

    def found(self, text: str, as_json: bool) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}

        def note(name: str) -> str:
            for one in personal(name):
                found.setdefault(one.label, []).append(masked(one.label, name[one.start : one.end]))
            return name

        try:
            _mapped(json.loads(text) if as_json else text, note)
        except ValueError:
            note(text)
        return found


SECRETS = Scanner(clean, clean_tree)
PEOPLE = _People()
"""E-mails, phones and the like: cut only when a person says so."""
