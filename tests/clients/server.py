"""A server of one tool, over standard input and output, for clients to be content with: the newer revisions need no
more than `initialize`, `tools/list` and `ping`."""

import json
import sys

if sys.argv[1:] != ["mcp"]:
    sys.exit(0)  # as a hook
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, answer = asked["method"], {"jsonrpc": "2.0", "id": asked["id"]}
    if method == "initialize":
        answer["result"] = {
            "protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "memoranda", "version": "0"},
        }
    elif method == "tools/list":
        answer["result"] = {"tools": [{"name": "memory_search", "inputSchema": {"type": "object"}}]}
    elif method == "ping":
        answer["result"] = {}
    else:
        answer["error"] = {"code": -32601, "message": "no such method"}
    print(json.dumps(answer), flush=True)
