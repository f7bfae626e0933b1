"""How long redaction takes: `python -m bench.redaction` prints microseconds per KB for five kinds of text.

The goal is 500 µs/KB for anything and 20 µs/KB for ordinary ASCII prose. Each figure is the median of RUNS passes over
a text cut into pieces of about a KB, which is the size of what agents store.
"""

import argparse
import os
import pathlib
import statistics
import sys
import sysconfig
import time

from store.redaction import findings

RUNS = 9
_TARGET_SIZE = 200_000
_PIECE = 1024

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
    """Secrets made here, so that this file holds none."""
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


def measure(text: str, runs: int = RUNS) -> tuple[float, int]:
    """Median microseconds per KB (1,024 characters), and how many secrets one pass finds."""
    pieces = _pieces(text)
    size = sum(map(len, pieces)) / 1024
    found = sum(len(findings(piece)) for piece in pieces)  # also compiles the patterns
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        for piece in pieces:
            findings(piece)
        times.append(time.perf_counter() - start)
    return statistics.median(times) / size * 1e6, found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.redaction", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args().runs
    load = " ".join(f"{value:.2f}" for value in os.getloadavg())
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"redaction: Python {version}, {os.cpu_count()} CPUs, load {load}, median of {runs} runs")
    print(f"{'text':<24}{'µs/KB':>8}{'secrets':>9}")
    kinds = {
        "prose": _PROSE,
        "source code": _source(),
        "commit messages": _COMMITS,
        "Spanish with accents": _SPANISH,
        "dense with secrets": _dense(),
    }
    for name, text in kinds.items():
        each, found = measure(text, runs)
        print(f"{name:<24}{each:>8.1f}{found:>9}")


if __name__ == "__main__":
    main()
