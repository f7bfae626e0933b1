"""The agent's tasks and the librarian on 190 Spanish and English cases: by rule, and with a real Qwen2.5.

    python -m bench.agent [--model 1.5b|0.5b|NAME] [--held] [--task NAME …] [--limit N] [--kept FILE] [--show] [--keys]

The cases of `bench/cases/agent.jsonl`, and the librarian's memory, were written before the prompts, and split: prompts
are tuned on `dev`, and `--held` evaluates them. The last 36 questions, also held out, were written later by a person
who had seen the memory only. `--show` prints the failures, never those of the held-out half. Without `--model` rules
alone answer. `1.5b` and `0.5b` are downloaded (`tests.live`) and run on one thread; if OLLAMA_HOST names a real Ollama,
its models are used. `--kept` caches the model's answers in a file, so that an interrupted run resumes; `--keys`
measures the latency of a key in the application while the model works.

*Found*: facts of a turn that are remembered or proposed; *false*: stored facts that are neither expected nor anything
else that the turn states; *quiet*: turns without facts, from which nothing was stored. *Grounded*: each number, with
its unit, each name and most words of the output occur in its sources, and it negates only what they negate. *Cited*:
sentences of the librarian that a record supports, without presenting a rejected option as the chosen one. *Valid*:
answers of the model in the required format. *Answered*: questions whose answer cites a record that contains it;
*refused*: questions about unrecorded topics that were answered as such."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bench import agent_asking as asking
from bench.agent_asking import Heard
from bench.store import heading, quantile

CASES = os.path.join(os.path.dirname(__file__), "cases", "agent.jsonl")
Case = dict[str, Any]
AIMS = (
    ("valid", 1.0, "of the model's answers are of the form it was told"),
    ("grounded", 1.0, "of what was shown of facts and summaries rests on what was said"),
    ("found", 0.7, "of the facts in turns were found"),
    ("quiet", 0.9, "of the turns that hold nothing gave nothing"),
    ("false", -0.1, "of what was found is not what the turns tell"),
    ("cited", 1.0, "of the Librarian's sentences cite a record, and rest on it"),
    ("answered", 0.7, "of the questions were answered from the records that hold it"),
    ("refused", 0.95, "of the questions about nothing recorded were told so"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.agent", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", metavar="NAME", help="1.5b, 0.5b, or what OLLAMA_HOST has (none)")
    parser.add_argument("--held", action="store_true", help="the half that was held back")
    parser.add_argument("--task", action="append", choices=sorted(asking.TASKS), help="only this one")
    parser.add_argument("--limit", type=int, default=10_000, metavar="N", help="so many cases of each task")
    parser.add_argument("--kept", metavar="FILE", help="keep what the model said there, and do not ask it again")
    parser.add_argument(
        "--show", action="store_true", help="print what went wrong, of the half prompts are made with"
    )
    parser.add_argument(
        "--keys", action="store_true", help="measure a key while the model works, and nothing else"
    )
    options = parser.parse_args(arguments)
    split = "held" if options.held else "dev"
    with open(CASES, encoding="utf-8") as file:
        cases = [case for line in file if (case := json.loads(line))["split"] == split]
    with served(options.model) as heard:
        if options.keys:
            from bench.agent_keys import beside

            return beside(heard)
        if heard and options.kept:
            heard.keep(options.kept)
        heading("agent", f"{len(cases)} cases, {split}" + (f", {heard.name}" if heard else ", rules alone"))
        total: dict[str, Counter[str]] = {"rules": Counter(), "model": Counter()}
        with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
            for name in options.task or asking.TASKS:
                task = asking.TASKS[name]
                mine = [case for case in cases if case["kind"] == name][: options.limit]
                for column in ("rules", "model") if heard else ("rules",):
                    show = options.show and not options.held
                    with task.ready(folder, heard if column == "model" else None) as ask:
                        count = _scored(task, mine, ask, show)
                    total[column] += count
                    print(f"{name:12}{column:7}{_told(count)}", flush=True)
    _aims(total["rules"], total["model"] if heard else None)
    if heard:
        _latency(heard)
    return 0


def _scored(task: asking.Task, cases: Sequence[Case], ask: Callable[[Case], Any], show: bool) -> Counter[str]:
    count: Counter[str] = Counter()
    for case in cases:
        given = ask(case)
        mine = task.score(case, given)
        count.update(mine)
        unsound = mine["grounded"] < mine["shown"] or mine["cited"] < mine["sentences"]
        if show and (mine["wrong"] or mine["missed"] or mine["false"] or unsound):
            print(f"  {case.get('text') or case.get('question') or case.get('facts') or case.get('turns')!r}")
            print(f"      gave {given}")
    return count


def _told(count: Counter[str]) -> str:
    """Format the counts of a task, each with its total."""
    parts = []
    for name, whole in asking.COUNTED.items():
        if count[whole]:
            parts.append(f"{name} {count[name]:3} of {count[whole]:3}")
    return "   ".join(parts)


def _rates(count: Counter[str]) -> dict[str, float | None]:
    return {name: count[name] / count[whole] if count[whole] else None for name, whole in asking.COUNTED.items()}


def _aims(rules: Counter[str], model: Counter[str] | None) -> None:
    print(f"\n{'':10}{'rules':>9}{'model':>9}   aim")
    ruled, modelled = _rates(rules), _rates(model) if model is not None else {}
    for name, aim, words in AIMS:
        cells = [
            f"{value:9.1%}" if value is not None else f"{'–':>9}" for value in (ruled[name], modelled.get(name))
        ]
        best = modelled.get(name) if model is not None else ruled[name]
        met = "" if best is None else "met" if (best >= aim if aim > 0 else best <= -aim) else "NOT MET"
        print(f"{name:10}{''.join(cells)}   {'≤' if aim < 0 else '≥'} {abs(aim):4.0%} {met:8} {words}")


def _latency(heard: Heard) -> None:
    print(f"\n{'seconds of an answer':24}{'asked':>6}{'median':>8}{'p95':>8}{'failed':>8}")
    for name, times in heard.seconds.items():
        failed = heard.failed[name]
        print(f"{name:24}{len(times):6}{statistics.median(times):8.1f}{quantile(times, 0.95):8.1f}{failed:8}")


@contextlib.contextmanager
def served(name: str | None) -> Iterator[Heard | None]:
    """Yield the model of that name; end the program with a sentence and status 3 if it is not available."""
    if name is None:
        yield None
        return
    from tests.live.fetching import MODELS, Unavailable
    from tests.live.starting import serving

    with contextlib.ExitStack() as stack:
        if name in MODELS and not os.environ.get("OLLAMA_HOST"):
            try:
                os.environ["OLLAMA_HOST"] = stack.enter_context(serving((name,), "--cached"))
            except Unavailable as error:
                print(f"Not measured: {error}", file=sys.stderr)
                raise SystemExit(3) from None
            name = MODELS[name].name
        os.environ["MEMORANDA_MODEL"] = name
        from store.config.configuration import Config
        from store.librarian.model_selection import open_selected_model, read_model_status

        chat = open_selected_model(Config())
        if chat is None or chat.name != name:
            print(f"Not measured: {read_model_status(Config()).chosen_step.reason}", file=sys.stderr)
            raise SystemExit(3)
        stack.callback(chat.close)
        yield Heard(chat)


if __name__ == "__main__":
    sys.exit(main())
