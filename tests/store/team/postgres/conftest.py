from support.postgres import address, filled, server, shared

__all__ = ["address", "filled", "server", "shared"]
