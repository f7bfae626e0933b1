"""Remapping of keys by the configuration, `[keys]`."""

from collections.abc import Mapping

from tui.input.key import NAMES, show
from tui.input.key_table import ALWAYS, BY_ID, PLACES, remapped


def remap(wanted: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Remap ids for all later uses of keys; return what `resolve` does."""
    changed, problems = resolve(wanted)
    remapped.clear()
    remapped.update(changed)
    return changed, problems


def resolve(wanted: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return (the keys of ids that differ from their defaults by `wanted`, sentences about remappings that failed).

    Of two ids with one key in the same place, the first in the table gets it. ctrl+q and ctrl+p cannot be remapped."""
    if not wanted:
        return {}, []
    keys = {id: _split(wanted.get(id, key.keys)) for id, key in BY_ID.items()}
    problems: list[str] = []
    for owner, always in ALWAYS.items():
        for id, own in keys.items():
            if id != owner and always in own:
                problems.append(f"{always} is {owner}, whatever else is set; {id} cannot have it.")
                own.remove(always)
        if always not in keys[owner]:
            keys[owner].append(always)
    for place in PLACES:
        holders: dict[str, str] = {}
        for key in place:
            for one in keys[key.id].copy():
                holder = holders.setdefault(one, key.id)
                if holder != key.id and (holder in wanted or key.id in wanted):
                    problems.append(f"{show(one)} would be {holder} and {key.id}; {holder} keeps it.")
                    keys[key.id].remove(one)
    for id in wanted:
        if id in keys and not keys[id]:  # restore its defaults, unless others took them
            others = {one for place in PLACES if BY_ID[id] in place for key in place for one in keys[key.id]}
            keys[id] = [one for one in _split(BY_ID[id].keys) if one not in others]
    changed = {id: ",".join(own) for id, own in keys.items() if own != _split(BY_ID[id].keys)}
    return changed, list(dict.fromkeys(problems))


def _split(keys: str) -> list[str]:
    """Convert keys to Textual's names, so that `/` and `slash` are one key."""
    return [_CODES.get(key, key) for key in keys.split(",")]


_CODES = {sign: name for name, sign in NAMES.items() if len(sign) == 1 and sign.isascii()}
