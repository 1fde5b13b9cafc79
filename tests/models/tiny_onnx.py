"""ONNX files written by hand: just enough of the protocol buffers' wire format for models of a few nodes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

FLOAT, INT64 = 1, 7


def _varint(value: int) -> bytes:
    out = b""
    while True:
        value, low = value >> 7, value & 0x7F
        if not value:
            return out + bytes([low])
        out += bytes([low | 0x80])


def number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def message(field: int, body: bytes | str) -> bytes:
    body = body.encode() if isinstance(body, str) else body
    return _varint(field << 3 | 2) + _varint(len(body)) + body


def value_info(name: str, kind: int, shape: Sequence[str | int]) -> bytes:
    dims = b"".join(message(1, message(2, d) if isinstance(d, str) else number(1, d)) for d in shape)
    tensor = number(1, kind) + message(2, dims)
    return message(1, name) + message(2, message(1, tensor))


def initializer(name: str, shape: Sequence[int], values: Sequence[float]) -> bytes:
    dims = b"".join(number(1, d) for d in shape)
    return dims + number(2, FLOAT) + message(8, name) + message(9, struct.pack(f"<{len(values)}f", *values))


def attribute(name: str, ints: Sequence[int] = (), one: int | None = None) -> bytes:
    if one is not None:
        return message(1, name) + number(3, one) + number(20, 2)
    return message(1, name) + b"".join(number(8, i) for i in ints) + number(20, 7)


def node(kind: str, inputs: Sequence[str], output: str, attributes: Sequence[bytes] = ()) -> bytes:
    names = b"".join(message(1, i) for i in inputs) + message(2, output)
    return names + message(4, kind) + b"".join(message(5, a) for a in attributes)


def write(
    file: Path,
    nodes: Sequence[bytes],
    inputs: Sequence[bytes],
    outputs: Sequence[bytes],
    constants: Sequence[bytes] = (),
):
    graph = b"".join(message(1, n) for n in nodes) + message(2, "tiny") + b"".join(message(5, c) for c in constants)
    graph += b"".join(message(11, i) for i in inputs) + b"".join(message(12, o) for o in outputs)
    file.write_bytes(number(1, 8) + message(7, graph) + message(8, number(2, 11)))
