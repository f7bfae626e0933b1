"""The application in a web browser: the server (`memoranda serve`), its page, and the driver of what it starts.

Nothing of the application is imported here: each tab is a process of its own."""

# set for the processes that the server starts
SERVED_VARIABLE = "MEMORANDA_SERVED"
INSTALL_HINT = "Install it with its extra, serve: pip install '.[serve]' in a checkout, 'WHEEL[serve]' of a wheel."
LOOPBACK = ("127.0.0.1", "::1", "localhost")
