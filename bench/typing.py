"""Search as you type: the delay until a letter is echoed, and from the last letter until the hits are shown.

    python -m bench.typing [--runs 5] [--calls 15]

Every query is typed letter by letter, 200 ms apart, so that a search starts, and is interrupted, for each prefix of a
word. A letter's echo ends with the last byte before the search can start (the debounce); the hits' delay counts from
the end of the debounce to the last byte of the frame that shows them. Aims: 10 ms and 100 ms, at 100,000 records and at
300,000. Then the same queries as calls of `Search`, without a screen."""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Sequence

from bench.store import CLEAN, STOP_WORDS, Writer, heading, installed, memory, quantile, verdict
from bench.terminal import Silent, Terminal
from store.memory import Memory

SIZE = (120, 40)
DEBOUNCE = 0.12  # as in tui/widgets/inputs.py
PACE = 0.2  # seconds between letters
ECHO_AIM, FOUND_AIM, CALL_AIM = 10.0, 100.0, 100.0  # ms
SIZES = ((40_000, 60_000), (100_000, 200_000))


def queries() -> dict[str, list[str]]:
    """Return queries by class, of the large memories' own words; the first of each language are the most frequent."""
    words = Writer(0).words
    es, en = (words[language][len(STOP_WORDS[language]) :] for language in ("es", "en"))
    stop_es, stop_en = STOP_WORDS["es"], STOP_WORDS["en"]
    return {
        "rare word": [es[2400], en[2300]],
        "word of the middle": [es[300], en[300]],
        "common word": [es[0], en[0]],
        "two words": [f"{es[40]} {es[200]}", f"{en[40]} {en[200]}"],
        "question, Spanish": [f"cuándo se decidió {es[5]} para {es[90]} y {es[15]}"],
        "question, English": [f"why did we choose {en[5]} over {en[90]} in {en[15]}"],
        "one letter": ["c", "p", "s"],
        "two letters": ["co", "re"],
        "three letters": ["pro", "con"],
        "stop word": [stop_es[0], stop_en[0], stop_es[2]],
        "stop words": [f"{stop_es[0]} {stop_es[1]} {stop_es[2]}", f"{stop_en[0]} {stop_en[2]} {stop_en[1]}"],
        "no match": ["xyzzyq", "qqqq wwww"],
        "filter": [f"kind:decision {es[40]}", f"domain:work since:90d {en[40]}"],
    }


TYPED = (
    "common word",
    "question, Spanish",
    "question, English",
    "one letter",
    "stop word",
    "no match",
    "two words",
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="how often each query is typed")
    parser.add_argument("--calls", type=int, default=15, help="how often each query is called")
    options = parser.parse_args(arguments)
    programs = installed()
    paths = [memory(*size) for size in SIZES]
    asked = queries()
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        os.chdir(folder)  # outside any checkout, whose commits would be read into the memory
        time.sleep(1)
        heading("typing", f"{SIZE[0]}×{SIZE[1]}, a letter every {PACE * 1e3:.0f} ms")
        for size, path in zip(SIZES, paths, strict=True):
            print(
                f"\n{f'{sum(size):,} records: typed, ms':34} echo  p95   found   p95    max  aims (medians)",
                flush=True,
            )
            with Terminal([programs.memoranda, "--db", path], CLEAN, SIZE) as terminal:
                terminal.wait_for(r"All [\d,]{4,}", timeout=60)
                terminal.quiet(1.0)
                terminal.write("/")
                terminal.quiet(0.3)
                for name in TYPED:
                    echoes, found = [], []
                    for query in asked[name] * options.runs:
                        some, last = _type(terminal, query)
                        echoes += some
                        found.append(last)
                    print(
                        f"  {name:31} {statistics.median(echoes):5.1f} {quantile(echoes, 0.95):5.1f}"
                        f" {statistics.median(found):7.1f} {quantile(found, 0.95):5.0f} {max(found):6.0f}"
                        f"  {verdict(statistics.median(echoes), ECHO_AIM, ' ms')}"
                        f"  {verdict(statistics.median(found), FOUND_AIM, ' ms')}",
                        flush=True,
                    )
            print(f"{f'{sum(size):,} records: called, ms':32} median    p95  found  aim (p95)")
            with Memory.open(path) as opened:
                for name, some in asked.items():
                    times, totals = [], []
                    for query in some:
                        opened.search(query, limit=200)
                        for _ in range(options.calls):
                            answer = opened.search(query, limit=200)
                            times.append(answer.milliseconds)
                        totals.append(answer.total)
                    print(
                        f"  {name:30} {statistics.median(times):6.1f} {quantile(times, 0.95):6.1f} {max(totals):6,}"
                        f"  {verdict(quantile(times, 0.95), CALL_AIM, ' ms')}",
                        flush=True,
                    )


def _type(terminal: Terminal, query: str) -> tuple[list[float], float]:
    """Return (milliseconds of each letter's echo, milliseconds from the end of the debounce to the hits)."""
    _empty(terminal)
    echoes = []
    pressed = 0.0
    for letter in query:
        while (left := pressed + PACE - time.perf_counter()) > 0:
            terminal.read(left)
        while terminal.read(0):
            pass
        pressed = terminal.write(letter)
        echoes.append(_echo(terminal, pressed))
    while (left := pressed + DEBOUNCE - time.perf_counter()) > 0:
        terminal.read(left)
    before = len(terminal.output)  # earlier hits belong to an older query
    try:
        shown = terminal.wait_for(r"[\d,]+ found", timeout=10, start=before)
    except Silent:
        raise Silent(f"{query!r} gave no answer in 10 seconds") from None
    last = terminal.quiet(0.04, timeout=0.3) or shown
    return echoes, (max(shown, last) - pressed - DEBOUNCE) * 1e3


def _echo(terminal: Terminal, pressed: float) -> float:
    """Return the milliseconds to the last byte of a letter's first effect, before its search can start."""
    last = pressed
    while (left := pressed + DEBOUNCE - 0.005 - time.perf_counter()) > 0:
        if not terminal.read(min(left, 0.02 if last > pressed else left)):
            break
        last = terminal.arrivals[-1][0]
    if last == pressed:
        return DEBOUNCE * 1e3  # not shown before the search began
    return (last - pressed) * 1e3


def _empty(terminal: Terminal) -> None:
    """Clear the query, and wait until the app is idle."""
    terminal.write("\x15")
    terminal.quiet(0.25, timeout=3)


if __name__ == "__main__":
    main()
