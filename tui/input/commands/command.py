"""One command: its summary, its arguments and its handler; and arguments that several commands have."""

from tui.input.argument_parser import Argument, ParsedArguments


class Verb:
    """One verb: its summary, its arguments, and `handler`, a `module.function` below `tui.commands`.

    `opens`: `memory` needs the file, `new` may create it (both pass an open Memory to the handler), `nothing` passes
    none. `reads`: a one-shot command first syncs the timeline with git for a limited time. `frees`: on a full disk it
    may use the space of the ballast. `apart`: it touches no memory, or only in a child process, and in the application
    it does not block writes. `looks`: it makes no memory; where there is none it answers as of an empty one, unless the
    argument `but` is given. With `--dry-run` any command does so."""

    __slots__ = ("apart", "arguments", "but", "frees", "handler", "looks", "name", "opens", "reads", "slash", "summary")

    def __init__(
        self,
        name: str,
        summary: str,
        handler: str,
        *arguments: Argument,
        opens: str = "new",
        reads: bool = False,
        frees: bool = False,
        apart: bool = False,
        looks: bool = False,
        but: str = "",
        slash: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.summary = summary
        self.handler = handler
        self.arguments = arguments
        self.opens = opens
        self.reads = reads
        self.frees = frees
        self.apart = apart
        self.looks = looks
        self.but = but
        self.slash = slash

    @property
    def can_be_tried(self) -> bool:
        """Return whether it takes `--dry-run`."""
        return any(one.name == "dry-run" for one in self.arguments)

    def makes_none(self, given: ParsedArguments) -> bool:
        """Return whether it makes no memory, called so."""
        if self.can_be_tried and given.dry_run:
            return True
        return self.looks and not (self.but and getattr(given, self.but))


LIMIT = Argument("limit", "value", "N", "how many at the most (50)", 50, whole=True)
DRY_RUN = Argument("dry-run", "flag", "", "only show what would change, record by record")
MOMENTS = "2026-11-01, 2d, 3w, last monday, v1.0"
SINCE = Argument("since", "value", "T", MOMENTS, "")
ITERATION = Argument("iteration", "value", "I", "only what belongs to this iteration, I#5")
YES = Argument("yes", "flag", "", "do it without asking")
