"""The doctor's look at agents: of each that was connected, whether its files are as we left them, and whether it sees
the memory."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace

from store.base.location import Location, checkout_root
from store.doors import memoranda_hook
from store.doors.clients.client import LOCAL, Place
from store.doors.connect import client_health, connection, git_hooks
from store.health.finding import NOTE, OK, Finding


def examine_agents(
    location: Location, cwd: str, home: str, environ: Mapping[str, str], quick: bool
) -> Iterator[Finding]:
    """Return what is found of every connected agent, for the project of a memory or a folder; `quick` asks no agent
    itself."""
    root = location.project or checkout_root(cwd) or os.path.abspath(cwd)
    for client, place in connection.connected(root, home, environ):
        again = f"connect {client.name}" + ("" if place.scope == LOCAL else f" --{place.scope}")
        plan = connection.plan(client, place)
        if plan.in_the_way:
            yield Finding(client.name, NOTE, " ".join(plan.in_the_way), f"Then: memoranda {again}", again)
        elif plan.changes:
            files = ", ".join(change.file for change in plan.changes)
            says = f"{client.title} was connected, and what connects it is not in {files} any more."
            yield Finding(client.name, NOTE, says, f"memoranda {again}", again)
        elif gone := _gone(place):
            says = f"{client.title} starts {gone}, which is not there any more."
            yield Finding(client.name, NOTE, says, f"memoranda {again}", again)
        elif place.hook and not os.path.samefile(place.hook[1], memoranda_hook.__file__):
            says = f"{client.title} runs {place.hook[1]} at each event, which is another installation's."
            yield Finding(client.name, NOTE, says, f"memoranda {again}", again)
        elif quick:
            yield Finding(client.name, OK, f"{client.title} is connected.")
        else:
            for seen in client_health.look(client, replace(place, environ=environ)):
                yield Finding(client.name, OK if seen.state == client_health.OK else NOTE, seen.says)
    checkout = checkout_root(root)
    if checkout and git_hooks.wanted(checkout):
        hooks = git_hooks.installed(checkout)
        missing = [hook for hook in git_hooks.HOOKS if hook not in hooks]
        if missing:
            yield Finding(
                "git", NOTE, f"Ours is not in {' and '.join(missing)} any more.", "memoranda connect git", "connect git"
            )
        else:
            yield Finding("git", OK, "Git's hooks tell of each commit.")


def _gone(place: Place) -> str:
    """Return the program that a client starts and that is not there any more; empty if all is."""
    for program in (place.command[0], *place.hook[:1]):
        if os.path.isabs(program) and not os.access(program, os.X_OK):
            return program
    return "".join(file for file in place.hook[1:] if not os.path.isfile(file))
