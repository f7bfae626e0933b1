"""A secret of every family, and look-alikes, assembled at run time from a prefix that an issuer documents and a random
body that nobody issued. Neither this file nor `secrets.toml`, which holds the forms, contains a secret."""

import base64
import itertools
import random
import re
import string
import tomllib
from pathlib import Path

BODY = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3k"
UPPER = "QX7T3NB9KD2WZ5RM"
PASSWORD = "tr0ub4dor" + "-and-3"

_drawn = random.Random(20260101)


def _draw(alphabet: str, length: int) -> str:
    """Draw so many characters; letters and digits alternate as often as in random text."""
    while True:
        text = "".join(_drawn.choice(alphabet) for _ in range(length))
        borders = sum(a.isdigit() != b.isdigit() for a, b in itertools.pairwise(text))
        if borders >= max(3, length // 6) or not any(map(str.isdigit, alphabet)):
            return text


def word(length: int) -> str:
    return _draw(string.ascii_letters + string.digits, length)


def hexa(length: int) -> str:
    return _draw("0123456789abcdef", length)


def uuid() -> str:
    return "-".join(map(hexa, (8, 4, 4, 4, 12)))


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


# what stands in the place of `<name 20>` in a form
_MADE = {
    "word": word,
    "hexa": hexa,
    "HEXA": lambda length: hexa(length).upper(),
    "letters": lambda length: _draw(string.ascii_letters, length),
    "low": lambda length: _draw(string.ascii_lowercase + string.digits, length),
    "high": lambda length: _draw(string.ascii_uppercase + string.digits, length),
    "age": lambda length: _draw("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", length),
    "number": lambda length: str(_drawn.randrange(10 ** (length - 1), 10**length)),
    "uuid": lambda _: uuid(),
    "BODY": lambda length: BODY[: length or None],
    "UPPER": lambda length: UPPER[: length or None],
    "PASSWORD": lambda _: PASSWORD,
    "": lambda _: "",
}
_PLACE = re.compile(rf"<({'|'.join(_MADE)})(?: (\d+))?>")


def _made(form: str) -> str:
    """Return a form with what is drawn in its places."""
    text = _PLACE.sub(lambda found: _MADE[found[1]](int(found[2] or 0)), form)
    return re.sub("<<(.*?)>>", lambda found: encoded(found[1]), text)


_FORMS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _read(table: str, *parts: str) -> dict[str, tuple[list[str], ...]]:
    """Return the lists of each label of a table."""
    return {
        label: tuple([_made(form) for form in lists[part]] for part in parts) for label, lists in _FORMS[table].items()
    }


# label: secrets that are redacted completely, look-alikes that are kept; and before them the places for a secret
TOKENS = _read("tokens", "secrets", "kept")
CONTEXTS = _read("contexts", "places", "secrets", "kept")
# without a secret
_TEXTS = Path(__file__).with_name("sentences.toml").read_text(encoding="utf-8")
SENTENCES = [text for texts in tomllib.loads(_TEXTS).values() for text in texts]
# what is told about people, and what only looks so
PERSONAL = _read("personal", "found", "kept")
# texts about credentials, by what becomes of them; a value: what it stands in
TEXTS = {name: [_made(text) for text in texts] for name, texts in _FORMS["texts"].items()}
GIVEN = {_made(value): forms for value, forms in _FORMS["given"].items()}


def label_of(name: str) -> str:
    """Return the label: further places of one family have a number after it, so that not every secret is tried in every
    place."""
    return name.partition(" ")[0]
