"""model: show its state and its last calls, pull one, try it, choose one, and set when it is used."""

import os
import sys
from dataclasses import asdict
from time import monotonic

from store.base.clock import how_long_ago
from store.base.errors import InvalidInput, ModelFailed, NotFound
from store.config.configuration import load
from store.config.files import put, user_path
from tui.commands import Outcome, Session
from tui.commands.interrupt import STOPS, Interrupt
from tui.input.key_table import BY_ID, FIXED
from tui.render.plurals import count
from tui.theme.escape import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from store.config.configuration import Config, Value
    from store.llm.call_log import LoggedCall
    from store.llm.model_pull import PullResult, RateMeter
    from store.llm.probe import ProbeResult
    from store.llm.server_info import Installed
    from store.llm.status import ModelStatus
    from store.llm.usage_stats import ModelStats
    from tui.input.argument_parser import ParsedArguments

OFTEN = 0.1  # minimum seconds between two updates of a pull's progress
BAR = 20  # cells
FIGURES = ("asked", "by_rule", "seconds", "queued", "working")
EACH = 10  # percent between two progress lines without a terminal
MODES = {
    "fast": "asked after an answer only, and never waited for",
    "smart": "asked before an answer too, for agent.seconds at most",
    "off": "no model: answers come from the records",
}
INSTALL = (
    ("Linux", "curl -fsSL https://ollama.com/install.sh | sh"),
    ("Docker", "docker run -d -p 127.0.0.1:11434:11434 -v ollama:/root/.ollama ollama/ollama"),
    ("macOS", "brew install ollama && brew services start ollama"),
)
"""How to install Ollama, by platform."""
START = "ollama serve"
NO_CALLS = "No model was asked in the last 24 hours."
BY_RULE = "Everything works without it: search, inbox and contexts need no model."


def model(session: Session, given: "ParsedArguments") -> Outcome:
    what = given.what or "status"
    if given.name and what not in ("pull", "test", "try", "calls", "use"):
        raise InvalidInput(f"model {what} takes no name.", "memoranda model use NAME chooses a model.")
    if what in MODES:
        return _put(session, "agent.mode", what)
    acts: dict[str, Callable[[Session, str], Outcome]] = {
        "status": _status,
        "pull": _pull,
        "test": _test,
        "try": _try,
        "calls": _calls,
        "use": _use,
    }
    if what not in acts:
        raise InvalidInput(
            f"model does not know “{what[:40]}”.", f"It takes {', '.join(acts)}, and {', '.join(MODES)}."
        )
    return acts[what](session, given.name or "")


def _config(session: Session) -> "Config":
    return load(session.location, BY_ID, FIXED)


# status


def _status(session: Session, name: str) -> Outcome:
    from store.llm.status import model_status

    found, fared = model_status(_config(session)), _faring(session)
    lines = lines_of(found)
    if fared is not None and (said := fares(fared)):
        lines[2:2] = [said]
    used = None if fared is None else {name: getattr(fared, name) for name in FIGURES}
    return Outcome(lines=lines, data=lambda: {**_json(found), "use": used})


def _faring(session: Session) -> "ModelStats | None":
    """Return the statistics of the model in the memory of this folder; None if there is no memory."""
    if not os.path.lexists(session.location.path):
        return None
    from store.llm.usage_stats import model_stats
    from store.memory import Memory

    with Memory(session.location, "cli", create=False) as memory:
        return model_stats(memory.database, memory.now)


def fares(found: "ModelStats") -> str:
    """Summarise the model's statistics in a sentence; empty if it was never called and nothing waits for it."""
    words = []
    if found.asked:
        words.append(f"asked {count(found.asked, 'time')} for this memory")
    if found.by_rule:
        words.append(f"answered from the records instead {count(found.by_rule, 'time')}")
    if found.seconds is not None:
        words.append(f"the last answer took {seconds(found.seconds)}")
    if found.queued:
        words.append(f"{count(found.queued, 'turn')} {'waits' if found.queued == 1 else 'wait'} for it")
    said = ", ".join(words)
    return f"{said[0].upper()}{said[1:]}." if said else ""


def headline(found: "ModelStatus") -> str:
    """Return which model is used, as a sentence."""
    if not found.model:
        return "No model is asked: answers come from the records."
    state = "in memory, and answers at once" if found.state == "ready" else "cold: it is loaded when it is asked first"
    return f"{found.model} is asked, {found.mode}; it is {state}."


def where(found: "ModelStatus") -> str:
    """Return the server, and whether it responds."""
    from store.llm import endpoint
    from store.llm.endpoint import short

    if found.look.trouble is not None:
        return found.look.trouble.message
    if not (found.look.version or found.look.models):
        return found.taken.reason
    address = found.look.address
    return f"{endpoint.server(address)} {found.look.version}".strip() + f" at {short(address)}"


def lines_of(found: "ModelStatus") -> list[str]:
    lines = [headline(found), where(found), ""]
    width = max(len(step.who) for step in found.steps)
    for step in found.steps:
        lines.append(f"{'✓' if step.taken else '·'} {step.who:<{width}}  {f'{step.reason} {step.next}'.strip()}")
    if found.look.models:
        widest = max(len(one.name) for one in found.look.models)
        lines += ["", *(f"{sign(found, one)} {one.name:<{widest}}  {about(one)}" for one in found.look.models)]
    if lacking(found):
        lines += ["", *(f"{name:<8}{line}" for name, line in installing()), "", BY_RULE]
    return [visible(line) for line in lines]


def sign(found: "ModelStatus", one: "Installed") -> str:
    return "●" if one.name == found.model else "○"


def about(one: "Installed") -> str:
    """Describe a model in a few words."""
    words = [size(one.size) if one.size else "", f"{one.parameters} {one.quantization}".strip()]
    if one.remote:
        words.append("runs on other machines: no text is sent there")
    elif not one.can_chat:
        words.append("for vectors only")
    elif one.loaded:
        words.append("in memory")
    return "  ".join(filter(None, words))


def lacking(found: "ModelStatus") -> bool:
    """Return whether no Ollama was found on this machine, where it was looked for."""
    from store.llm import endpoint
    from store.llm.endpoint import NEAR, host

    address = found.look.address
    absent = found.look.trouble is not None and found.look.trouble.kind == "absent"
    return absent and host(address) in NEAR and not endpoint.openai(address)


def installing() -> tuple[tuple[str, str], ...]:
    """Return (where to run it, the command) for each step that installs or starts Ollama on this machine."""
    from shutil import which

    if which("ollama"):
        return (("Start it", START),)
    return INSTALL[::-1] if sys.platform == "darwin" else INSTALL


def _json(found: "ModelStatus") -> dict[str, object]:
    trouble = found.look.trouble
    return {
        "model": found.model or None,
        "state": found.state,
        "mode": found.mode,
        "address": found.look.address,
        "version": found.look.version or None,
        "trouble": {"kind": trouble.kind, "message": trouble.message, "next": trouble.next} if trouble else None,
        "order": [
            {"who": step.who, "taken": step.taken, "reason": step.reason, "next": step.next} for step in found.steps
        ],
        "installed": [
            {
                "name": one.name,
                "size": one.size,
                "parameters": one.parameters,
                "quantization": one.quantization,
                "loaded": one.loaded,
            }
            for one in found.look.models
        ],
    }


# pull


def _pull(session: Session, name: str) -> Outcome:
    from store.llm import endpoint
    from store.llm.model_pull import ModelPuller, RateMeter
    from store.llm.model_selection import USUAL

    name = name or USUAL
    pace, started = RateMeter(), monotonic()
    tell = _teller(name, sys.stderr.isatty())
    total = 0
    with Interrupt() as interrupt:
        fetcher = ModelPuller(endpoint.of(_config(session)), lambda: interrupt.asked)
        try:
            for far in fetcher.pull(name):
                pace.add(far.done, far.total)
                total = far.total or total
                tell(far, pace)
        except ModelFailed:
            if not interrupt.asked:
                raise
            raise ModelFailed(
                "stopped", f"{name} is not there yet.", "Run again, it continues where it stopped."
            ) from None
        finally:
            fetcher.close()
            if sys.stderr.isatty():
                print("\r\x1b[K", end="", flush=True, file=sys.stderr)
    return Outcome(
        f"{name} is there: {size(total)}, in {seconds(monotonic() - started)}.",
        lambda: {"pulled": name, "size": total},
    )


def _teller(name: str, terminal: bool) -> "Callable[[PullResult, RateMeter], None]":
    """Return a function that shows a pull's progress on standard error: on one line of a terminal, else a line now and
    then."""
    status, percent, moment = "", -EACH, -OFTEN  # last shown

    def tell(far: "PullResult", pace: "RateMeter") -> None:
        nonlocal status, percent, moment
        now = 100 * far.done // far.total if far.total else 0
        if terminal and (monotonic() - moment >= OFTEN or far.status == "success"):
            print(f"\r\x1b[K{visible(how_far(far, pace))}", end="", flush=True, file=sys.stderr)
        elif not terminal and (now >= percent + EACH or (not far.total and far.status != status)):
            print(visible(f"{name}: {how_far(far, pace, 0)}"), flush=True, file=sys.stderr)
        else:
            return
        status, percent, moment = far.status, now, monotonic()

    return tell


def how_far(far: "PullResult", pace: "RateMeter", cells: int = BAR) -> str:
    """Format progress as `▇▇▇▇░░░░ 41 %  812 MB of 1.9 GB  12 MB/s  1 min 35 s left`; without a total, as the current
    step."""
    if not far.total:
        return far.status
    words = [f"{100 * far.done // far.total:>3} %", f"{size(far.done)} of {size(far.total)}"]
    if far.done == far.total:
        words.append(far.status)
    if pace.rate:
        words.append(f"{size(pace.rate)}/s")
    if pace.left:
        words.append(f"{seconds(pace.left)} left")
    filled = cells * far.done // far.total
    bar = f"{'▇' * filled}{'░' * (cells - filled)} " if cells else ""
    return bar + "  ".join(words)


def size(number: float) -> str:
    """Format bytes as `68 B`, `812 MB`, `1.9 GB`."""
    for unit, step in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= step:
            few = number / step
            return f"{few:.1f} {unit}" if few < 10 else f"{few:.0f} {unit}"
    return f"{number:.0f} B"


def seconds(number: float) -> str:
    """Format seconds as `0.8 s`, `42 s`, `1 min 35 s`, `2 h 5 min`."""
    if number < 10:
        return f"{number:.1f} s"
    whole = round(number)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


# trial


def _test(session: Session, name: str) -> Outcome:
    from store.llm.probe import probe
    from store.llm.status import model_status

    config = _config(session)
    tried = probe(config, model_status(config), name)
    return Outcome(
        lines=[visible(line) for line in trial_lines(tried)],
        data=lambda: {
            "model": tried.model,
            "answer": tried.answer,
            "seconds": round(tried.seconds, 3),
            "loading": round(tried.loading, 3),
            "cold": tried.cold,
            "tokens": tried.tokens,
            "per_second": None if tried.rate is None else round(tried.rate, 1),
        },
    )


def _try(session: Session, name: str) -> Outcome:
    """Ask the model ten built-in questions, and report how many it answered correctly and the time of one; where ^C
    stops it, of those that it answered. Raises ModelFailed."""
    from store.librarian.trial import TrialResult
    from store.librarian.trial import questions as trial_questions
    from store.librarian.trial import run_trial as trial_of_model
    from store.llm.model_selection import named_chat

    config, every, found = _config(session), trial_questions(), list[TrialResult]()
    with Interrupt() as interrupt:
        chat = named_chat(config, name, lambda: interrupt.asked)
        try:
            results = trial_of_model(chat, float(config["agent.patience"]))
            while len(found) < every:
                session.wait(f"{chat.name} answers {len(found) + 1} of {every} …  {STOPS}")
                found.append(next(results))
        except ModelFailed:
            if not (found and interrupt.asked):
                raise
        finally:
            session.wait("")
            chat.close()
    right, spent = sum(one.right for one in found), sum(one.seconds for one in found)
    lines = [f"{'right' if one.right else 'wrong':6}{one.seconds:6.1f} s  {one.question}" for one in found]
    left = f"; stopped before the other {every - len(found)}" if len(found) < every else ""
    lines.append(f"{chat.name}: {right} of {len(found)} right, {seconds(spent / len(found))} each{left}.")
    return Outcome(
        lines=[visible(line) for line in lines],
        data=lambda: {
            "model": chat.name,
            "right": right,
            "asked": len(found),
            "of": every,
            "seconds": round(spent, 3),
            "questions": [one._asdict() for one in found],
        },
    )


def trial_lines(tried: "ProbeResult") -> list[str]:
    """Format the result of a trial: its duration, the model's speed, and its answer."""
    rate = f", {tried.rate:.0f} a second" if tried.rate else ""
    lines = [f"{tried.model} answers: {count(tried.tokens, 'token')} in {seconds(tried.seconds)}{rate}."]
    if tried.cold:
        took = f"It was cold, and took {seconds(tried.loading)} of that to be loaded"
        lines.append(f"{took}; the next answers come at once.")
    return [*lines, f"“{tried.answer}”"]


# calls


def _calls(session: Session, name: str) -> Outcome:
    """List the calls of the last day, or show one of them whole."""
    if not os.path.lexists(session.location.path):
        return Outcome(NO_CALLS, list)
    from store.llm.call_log import recent as model_calls
    from store.memory import Memory

    with Memory(session.location, "cli", create=False) as memory:
        now = memory.now
        found = model_calls(memory.database, now)
    if name:
        found = [one for one in found if str(one.id) == name]
        if not found:
            raise NotFound(
                f"There is no call {visible(name[:20])}.", "memoranda model calls lists those of the last day."
            )
        lines = call_lines(found[0], now)
    else:
        lines = [call_line(one, now) for one in found] or [NO_CALLS]
    return Outcome(lines=[visible(line) for line in lines], data=lambda: [asdict(one) for one in found])


def call_line(call: "LoggedCall", now: str) -> str:
    """Format a call in one line: `12  summarize  3 min ago  4.2 s  used`."""
    return (
        f"{call.id:>4}  {call.task:<16}  {how_long_ago(now, call.at):<10}  {seconds(call.seconds):>7}  {outcome(call)}"
    )


def call_lines(call: "LoggedCall", now: str) -> list[str]:
    """Format a call whole."""
    lines = [f"{call.task}, {call.model}, {how_long_ago(now, call.at)}, {seconds(call.seconds)}"]
    lines += [f"Dropped: {call.dropped}"] if call.dropped else []
    lines += [f"Used instead: {call.fallback}."] if call.fallback else []
    return [*lines, "", *(call.answer.splitlines() or ["No answer came."])]


def outcome(call: "LoggedCall") -> str:
    """Return in a few words what became of the answer of a call."""
    if call.fallback:
        return f"{call.dropped.rstrip('.')}; instead: {call.fallback}" if call.dropped else f"instead: {call.fallback}"
    return call.dropped or "used"


# choice


def _use(session: Session, name: str) -> Outcome:
    if not name:
        raise InvalidInput("Which model?", "memoranda model use NAME, as memoranda model lists them; auto is none.")
    return _put(session, "agent.model", "" if name == "auto" else name)


def _put(session: Session, setting: str, value: str) -> Outcome:
    """Write a setting to the user's own file, and report its effect."""
    from store.llm.status import model_status

    put(user_path(), setting, value)
    config = _config(session)
    found = model_status(config)
    said = chosen(config, found, setting, value)
    return Outcome(said, lambda: {"name": setting, "value": value, "written": user_path(), **_json(found)})


def chosen(config: "Config", found: "ModelStatus", setting: str, value: str) -> str:
    """Report the effect of a choice in a sentence."""
    if other := overruled(config.find(setting), value):
        return other
    if setting == "agent.mode":
        return f"The agent's model is {value} now: {MODES[value]}."
    if found.model == value or not (value or found.look.trouble):
        return headline(found)
    first = found.steps[0] if found.steps[0].taken else found.steps[min(1, len(found.steps) - 1)]
    why = found.look.trouble.message if found.look.trouble is not None else f"{first.reason} {first.next}".strip()
    return f"agent.model is {value or 'empty'} now. {why} {headline(found)}"


def overruled(now: "Value | None", value: str) -> str:
    """Report that the project's file overrides the value that was just set; empty if it does not."""
    if now is None or now.value == value:
        return ""
    said = now.value or "nothing"
    return f"{now.name} is {value or 'empty'} in your file, but {now.path} says {said}, which counts here."
