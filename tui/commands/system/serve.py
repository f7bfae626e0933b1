"""serve."""

import errno
import socket
import sys

from store.base.errors import Conflict, InvalidInput, StorageError
from tui.browser import EXTRA
from tui.browser.access import Access, local
from tui.commands import Outcome, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

    from tui.input.argument_parser import ParsedArguments

PORT = 8000
OPEN = (
    "Whoever has the address with its token can read, change and erase this memory from any machine that reaches it.",
    "Nothing on the way is encrypted. For your own use from elsewhere leave --host out, and forward the port with ssh.",
)
HOW = "That stays until it is ended: run memoranda serve in a terminal of its own."


def serve(session: Session, given: "ParsedArguments") -> Outcome:
    """Return a document: the address, and then the server runs until ^C. Raises InvalidInput, Conflict and
    StorageError."""
    import json

    try:
        from tui.browser.server import BrowserServer, application
    except ImportError:
        raise InvalidInput("What shows the application in a browser is not installed.", EXTRA) from None
    if not local(given.host) and not given.yes and not session.ask(f"Listen on {given.host}?", OPEN):
        return Outcome("Nothing was started.")
    listening = _listen(given.host, given.port) if given.port else _usual(given.host)
    port = listening.getsockname()[1]
    access = Access(given.host, port)
    place = session.location
    options = [*(["--db", place.path] if place.kind == "option" else []), *(["--look"] if place.look else [])]
    server = BrowserServer(application(*options), listening, access, f"{place.name} - Memoranda")
    name = f"[{given.host}]" if ":" in given.host else given.host
    address = f"http://{name}:{port}/?token={access.token}"

    def document() -> "Generator[str, None, None]":
        told = f"Open {address}\nin a browser on this machine; ^C ends it."
        yield json.dumps({"address": address}) + "\n" if session.json else f"{told}\n"
        sys.stdout.flush()
        server.run()

    return Outcome(document=document)


def _usual(host: str) -> socket.socket:
    try:
        return _listen(host, PORT)
    except Conflict:
        return _listen(host, 0)


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on a port; on any free one for 0."""
    if port > 65535:
        raise InvalidInput("--port is a number up to 65535.", "memoranda serve --port 8765")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(128)
        except BaseException:
            listening.close()
            raise
    except socket.gaierror:
        raise InvalidInput(f"{host} is no address of this machine.", "Leave --host out: 127.0.0.1.") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise Conflict(f"Port {port} is taken by another program.", "Without --port a free one is taken.") from None
        if error.errno == errno.EADDRNOTAVAIL:
            raise InvalidInput(f"{host} is no address of this machine.", "Leave --host out: 127.0.0.1.") from None
        raise StorageError(f"{host}:{port} cannot be listened on: {error.strerror}.", "Name another --port.") from None
    return listening
