"""Real git repositories for tests: single commits, or thousands by `git fast-import`.

Independent of the user's git configuration, identity and clock, so the same call gives the same shas anywhere."""

import os
import random
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

FIRST_COMMIT_AT = 1_767_225_600  # 2026-01-01T00:00:00Z
YEAR = 365 * 24 * 3600
AUTHORS = (
    "Lucía Fernández <lucia@example.org>",
    "Íñigo Muñoz <inigo@example.org>",
    "Begoña Peña <begona@example.org>",
    "Grace Hopkins <grace@example.org>",
    "Tom O'Neill <tom@example.org>",
)

_FOLDERS = ("src/billing", "src/search", "src/sync", "src/web", "tests", "docs")
_STEMS = ("cache", "index", "invoice", "ledger", "parser", "queue", "report", "router", "session", "worker")
_SUBJECTS = (
    ("feat", "add retries to the {} queue"),
    ("feat", "permite filtrar el {} por fecha"),
    ("feat", "expose {} metrics on /health"),
    ("fix", "close the {} file when parsing fails"),
    ("fix", "corrige el redondeo de céntimos en {}"),
    ("fix", "stop {} from reading stale rows after a rollback"),
    ("refactor", "split {} into reading and writing"),
    ("refactor", "extrae la validación de {} a su propio módulo"),
    ("docs", "explain how {} is configured"),
    ("docs", "documenta el formato de {}"),
    ("test", "cover the empty {} case"),
    ("perf", "read {} in batches of 500"),
    ("chore", "bump the {} dependencies"),
)
_BODIES = (
    "The old code held the lock while it waited for the network, so a slow\n"
    "peer froze everybody else. The lock is now taken only to publish.\n\n"
    "Measured with 200 clients: p95 from 840 ms to 35 ms.",
    "Se decidió mantener el formato antiguo durante una versión más porque\n"
    "los clientes móviles tardan en actualizarse.\n\nRefs: #482",
    "- keep the order of rows stable\n- say which column is wrong\n- añade una prueba con datos vacíos",
    "Reverts part of the previous attempt: the index was never used by the\nplanner because of the cast.",
)


def git(path: str | Path, *arguments: str, stdin: bytes | None = None, when: int = FIRST_COMMIT_AT) -> str:
    """Run git in `path` without the user's configuration; return its standard output, stripped."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "LC_ALL": "C"}
    environment |= {"GIT_AUTHOR_NAME": "Lucía Fernández", "GIT_AUTHOR_EMAIL": "lucia@example.org"}
    environment |= {"GIT_COMMITTER_NAME": "Lucía Fernández", "GIT_COMMITTER_EMAIL": "lucia@example.org"}
    environment |= {"GIT_AUTHOR_DATE": f"@{when} +0000", "GIT_COMMITTER_DATE": f"@{when} +0000"}
    own = "commit.gpgsign=false core.autocrlf=false gc.auto=0 core.compression=0 protocol.file.allow=always".split()
    command = ["git", "-C", str(path), *(word for setting in own for word in ("-c", setting)), *arguments]
    done = subprocess.run(command, input=stdin or b"", env=environment, capture_output=True, check=False)
    if done.returncode:
        raise AssertionError(f"git {' '.join(arguments)}: {done.stderr.decode(errors='replace')}")
    return done.stdout.decode(errors="replace").strip()


def create(path: str | Path) -> None:
    """Create a repository without commits on branch `main`; do nothing if there is one."""
    Path(path).mkdir(parents=True, exist_ok=True)
    if not (Path(path) / ".git").exists():
        git(path, "init", "--quiet", "--initial-branch=main", "--template=")


def commit(
    path: str | Path,
    message: str,
    files: Mapping[str, str | bytes] | None = None,
    *,
    remove: Sequence[str] = (),
    amend: bool = False,
    when: int | None = None,
) -> str:
    """Write and remove files, commit everything (even nothing), and return the new sha.

    `when` is in Unix seconds; without it each commit is a minute after the previous one, starting at
    FIRST_COMMIT_AT."""
    create(path)
    for name, content in (files or {}).items():
        target = Path(path) / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    for name in remove:
        (Path(path) / name).unlink()
    git(path, "add", "--all")
    if when is None:
        when = FIRST_COMMIT_AT + 60 * int(git(path, "rev-list", "--count", "--all"))
    options = ("--quiet", "--allow-empty", "--allow-empty-message", "--cleanup=verbatim", "--no-verify", "--file=-")
    git(path, "commit", *options, *(["--amend"] if amend else []), stdin=message.encode(), when=when)
    return git(path, "rev-parse", "HEAD")


def lose(path: Path, revision: str, content: bytes | None = None) -> tuple[Path, bytes]:
    """Delete the object that a revision means, or write rubbish over it; return where it was, and what."""
    sha = git(path, "rev-parse", revision)
    file = path / ".git" / "objects" / sha[:2] / sha[2:]
    kept = file.read_bytes()
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    return file, kept


def fast_import(path: str | Path, stream: bytes) -> None:
    """Run a `git fast-import` stream, for content that no porcelain command would write."""
    create(path)
    git(path, "fast-import", "--quiet", "--force", stdin=stream)


def build_repository(path: str | Path, commits: int = 20_000, merges: int = 200, seed: int = 7) -> str:
    """Create a year of work as `commits` commits, `merges` of them merges; return the sha of HEAD on `main`.

    Each merge adds a branch of two commits, so three commits per merge must fit (`commits > 3 * merges`)."""
    if commits <= 3 * merges:
        raise ValueError("each merge takes three commits, and the first commit is none of them")
    fast_import(path, b"".join(_stream(commits, merges, random.Random(seed))))
    git(path, "reset", "--quiet", "--hard")
    return git(path, "rev-parse", "HEAD")


def _stream(commits: int, merges: int, chance: random.Random) -> Iterator[bytes]:
    files: dict[str, list[str]] = {}
    for folder in _FOLDERS:
        for stem in _STEMS:
            files[f"{folder}/{stem}.py"] = [f"{stem}_{n} = {n * 7}" for n in range(chance.randint(40, 200))]
    turns = commits - 3 * merges  # commits of the main line that are not merges
    branching = set(chance.sample(range(1, turns), merges)) if merges else set()

    mark = 0

    def entry(parents: Sequence[int], paths: Sequence[str], subject: str, body: str) -> bytes:
        nonlocal mark
        at = FIRST_COMMIT_AT + mark * YEAR // commits
        mark += 1
        who = f"{AUTHORS[chance.randrange(len(AUTHORS))]} {at} +0100".encode()
        message = (f"{subject}\n\n{body}\n" if body else f"{subject}\n").encode()
        parts = [b"commit refs/heads/main\nmark :%d\nauthor %b\ncommitter %b\n" % (mark, who, who)]
        parts.append(b"data %d\n%b" % (len(message), message))
        parts += [b"%b :%d\n" % (b"merge" if place else b"from", parent) for place, parent in enumerate(parents)]
        for name in paths:
            content = "\n".join(files[name]).encode() + b"\n"
            parts.append(b"M 100644 inline %b\ndata %d\n%b\n" % (name.encode(), len(content), content))
        return b"".join(parts)

    def change(number: int) -> tuple[list[str], str, str]:
        paths = chance.sample(sorted(files), chance.choice((1, 1, 1, 2, 2, 3, 5)))
        for name in paths:
            lines = files[name]
            for _ in range(chance.randint(1, 4)):
                place = chance.randrange(len(lines))
                if chance.random() < 0.3 and len(lines) > 20:
                    del lines[place]
                elif chance.random() < 0.5:
                    lines[place] = f"changed_{number} = {chance.randrange(10_000)}"
                else:
                    lines.insert(place, f"added_{number} = {chance.randrange(10_000)}")
        kind, text = chance.choice(_SUBJECTS)
        folder, stem = paths[0].rsplit("/", 1)
        subject = f"{kind}({folder.split('/')[-1]}): {text.format(stem.removesuffix('.py'))}"
        return paths, subject, chance.choice(_BODIES) if chance.random() < 0.3 else ""

    yield entry((), sorted(files), "chore: first commit", "")
    for turn in range(1, turns):
        paths, subject, body = change(turn)
        yield entry([mark], paths, subject, body)
        if turn in branching:
            base, touched = mark, set[str]()
            for step in range(2):
                paths, subject, body = change(turn)
                touched |= set(paths)
                yield entry([base if step == 0 else mark], paths, subject, body)
            yield entry([base, mark], sorted(touched), f"Merge branch 'topic-{turn}'", "")
