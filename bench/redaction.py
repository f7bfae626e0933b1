"""Redaction: how long it takes, what it cuts out of ordinary source, and how many of labelled secrets it finds.

    python -m bench.redaction [--runs 9] [--data DIR] [--source DIR ...]

Time: microseconds per KB for five kinds of text, each line by line and in pieces of about a KB, the sizes of what
people and agents store; the best of RUNS passes, in processor time, which the machine's load only increases. False
findings: Python's standard library, and the files of other folders, file by file; check them by hand, as some are
passwords of tests. Recall and precision: the lines of `dev.jsonl.gz.b64` in DIR, each labelled 1 (it contains a secret)
or 0, with its family and whether that is one of the core; a line counts as found if anything in it is redacted. The
families are also measured in two halves, by a digest of their names: the rules are written for the first alone, and the
second evaluates them on unseen families. Without --data this part is skipped, and the exit status is 3. No line of the
data is printed.

Aims: 50 µs/KB for prose, source, messages and Spanish, short or long; 0.5 false findings per MB; recall .95 at
precision .90."""

import argparse
import base64
import gzip
import hashlib
import json
import os
import pathlib
import sys
import sysconfig
import time
from collections import Counter

from bench.store import verdict
from store.redaction.redactor import find_secrets

RUNS = 9
DATA = "dev.jsonl.gz.b64"
UNMEASURED = 3
_AIM_US, _AIM_PER_MB, _AIM_RECALL, _AIM_PRECISION = 50, 0.5, 0.95, 0.90
_TARGET_SIZE = 200_000
_DENSE = "dense with secrets"
_PIECE = 1024
_SOURCE = tuple(".py .js .ts .go .rs .java .rb .c .h .sh .toml .yml .yaml .json .md".split())

_PROSE = """We moved the ageing of facts out of the query and into a nightly pass, because the reader of a list
should not pay for what only the inbox shows. The first attempt kept a token count beside each fact; that turned out to
be the key mistake, since the count went stale whenever somebody edited a file by hand. The second keeps nothing and
asks again. It is slower by a hair, and it is right. Nobody has missed the old column so far, and the migration drops
it: two fewer things to keep true. What remains open is the order of two facts equally old and equally sure.
"""

_COMMITS = """fix(auth): refresh the token before it expires

The session kept a password hash in memory; compare digests instead. Closes #412.
Co-authored-by: Ada <ada@example.org>
feat(store): keyset pagination for decisions (#97)
chore: bump redis client to 5.0.4, drop postgres 12 from the matrix
docs: say how api_key = "<your-api-key>" is read from the environment
refactor!: risk-based ordering of task-queue entries, disk-usage in `doctor`
Merge pull request #1203 from someone/skip-empty-payload
revert: "perf: cache the key of every row" (a1b2c3d4e5f60718293a4b5c6d7e8f9012345678)
"""

_SPANISH = """Decisión: la migración se hará de noche, porque el índice tarda más de lo que soñábamos y la aplicación no
debería notarlo. El año pasado perdimos una mañana entera por la contraseña caducada del entorno de pruebas; además,
nadie sabía dónde estaba la clave. Según Íñigo, «lo urgente no deja tiempo para lo importante»: quizá tenga razón…
Acción: escribir el guión, probarlo con datos pequeños y después con los del cliente. ¿Quién lo revisa? El 2.º equipo.
"""


def _dense() -> str:
    """Generate secrets, so that this file contains none."""
    body = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7d"
    lines = [
        "aws: " + "AKIA" + "QX7T" * 4,
        "key " + "sk-" + "ant-" + body,
        "key " + "sk-" + body,
        "push with " + "ghp" + "_" + body[:36],
        "bot " + "xoxb" + "-" + body,
        "maps " + "AIza" + body[:35],
        "db " + "postgres" + "://app:" + body[:12] + "@db.internal:5432/main",
        "bearer " + ".".join(("eyJ" + body, "eyJ" + body, body)),
        "api_" + 'key = "' + body + '"',
        "and an ordinary line between two secrets, as there would be",
    ]
    return "\n".join(lines) + "\n"


def _source() -> str:
    library = pathlib.Path(sysconfig.get_path("stdlib"))
    names = ("argparse.py", "http/client.py", "urllib/request.py", "getpass.py", "secrets.py", "tokenize.py")
    return "".join((library / name).read_text(encoding="utf-8") for name in names)


def _pieces(text: str) -> list[str]:
    whole = text * -(-_TARGET_SIZE // len(text))
    whole = whole[:_TARGET_SIZE]
    return [whole[at : at + _PIECE] for at in range(0, len(whole), _PIECE)]


def _lines(text: str) -> list[str]:
    return [line for piece in _pieces(text) for line in piece.splitlines() if line]


def measure(pieces: list[str], runs: int = RUNS) -> tuple[float, int]:
    """Return the best microseconds per KB (1,024 characters) of some passes, and the secrets found by one pass."""
    size = sum(map(len, pieces)) / 1024
    found = sum(len(find_secrets(piece)) for piece in pieces)  # also compiles the patterns
    times = []
    for _ in range(runs):
        start = time.process_time()
        for piece in pieces:
            find_secrets(piece)
        times.append(time.process_time() - start)
    return min(times) / size * 1e6, found


def _time(runs: int) -> None:
    print(f"{'text':<24}{'lines µs/KB':>13}{'pieces µs/KB':>14}{'secrets':>9}")
    kinds = {
        "prose": _PROSE,
        "source code": _source(),
        "commit messages": _COMMITS,
        "Spanish with accents": _SPANISH,
        _DENSE: _dense(),
    }
    slowest = 0.0
    for name, text in kinds.items():
        short, _ = measure(_lines(text), runs)
        each, found = measure(_pieces(text), runs)
        if name != _DENSE:
            slowest = max(slowest, short, each)
        print(f"{name:<24}{short:>13.1f}{each:>14.1f}{found:>9}")
    print(f"{'slowest':<24}{slowest:>13.1f}  {verdict(slowest, _AIM_US, ' µs')} (without the dense)")


def _false_findings(name: str, folder: pathlib.Path) -> None:
    """Measure what is redacted from source code without secrets."""
    size = 0
    found: Counter[str] = Counter()
    start = time.process_time()
    for path in sorted(folder.rglob("*")):
        if path.suffix not in _SOURCE or not path.is_file() or "site-packages" in path.relative_to(folder).parts:
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except (UnicodeDecodeError, OSError):
            continue  # a test of encodings
        size += len(text)
        found.update(finding.label for finding in find_secrets(text))
    each = (time.process_time() - start) / size * 1024 * 1e6
    per_mb = sum(found.values()) / size * 1e6
    print(f"\n{name}, {size / 1e6:.1f} MB: {sum(found.values())} findings, {each:.0f} µs/KB")
    for label, number in found.most_common():
        print(f"  {label:<24}{number:>6}")
    print(f"  {'per MB':<24}{per_mb:>6.2f}  {verdict(per_mb, _AIM_PER_MB, '')}")


def _labelled(folder: str) -> None:
    path = pathlib.Path(folder) / DATA
    rows = [json.loads(line) for line in gzip.decompress(base64.decodebytes(path.read_bytes())).splitlines()]
    print(f"\n{len(rows):,} labelled lines of {path}")
    print(f"  {'family':<24}{'lines':>6}{'secrets':>9}{'found':>7}{'recall':>8}{'false':>7}{'precision':>11}")
    core = [row for row in rows if row["core"]]
    for family in sorted({row["family"] for row in core}):
        _row(family, [row for row in core if row["family"] == family])
    _row("the core", core)
    _row("all others", [row for row in rows if not row["core"]])
    for half, name in enumerate(("half looked at", "half not looked at")):
        _row(name, [row for row in rows if hashlib.sha256(str(row["family"]).encode()).digest()[0] % 2 == half])
    recall, precision = _row("all", rows)
    missed = [
        f"{name} {value:.3f} < {aim}"
        for name, value, aim in (("recall", recall, _AIM_RECALL), ("precision", precision, _AIM_PRECISION))
        if value < aim
    ]
    print(f"  all: {'within the aims' if not missed else 'MISSES ' + ', '.join(missed)}")


def _row(name: str, rows: list[dict[str, object]]) -> tuple[float, float]:
    """Print a line of the table; return (recall, precision), 1.0 if there is nothing to find or nothing was found."""
    secrets = sum(bool(row["label"]) for row in rows)
    cut = [bool(row["label"]) for row in rows if find_secrets(str(row["text"]))]
    found = sum(cut)
    recall = found / secrets if secrets else 1.0
    precision = found / len(cut) if cut else 1.0
    print(f"  {name:<24}{len(rows):>6}{secrets:>9}{found:>7}{recall:>8.3f}{len(cut) - found:>7}{precision:>11.3f}")
    return recall, precision


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.redaction", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--data", metavar="DIR", help=f"a folder that holds labelled lines, {DATA}")
    parser.add_argument("--source", metavar="DIR", nargs="*", default=[], help="folders of source without secrets")
    options = parser.parse_args()
    load = " ".join(f"{value:.2f}" for value in os.getloadavg())
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"redaction: Python {version}, {os.cpu_count()} CPUs, load {load}, best of {options.runs} runs")
    _time(options.runs)
    _false_findings("the standard library", pathlib.Path(sysconfig.get_path("stdlib")))
    for folder in options.source:
        _false_findings(folder, pathlib.Path(folder))
    if not options.data:
        print("\nRecall and precision were not measured: name a folder of labelled lines with --data DIR.")
        return UNMEASURED
    _labelled(options.data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
