"""Safe reading of arrays from a ``.npz`` file of unknown origin.

The headers of all arrays are checked before any values are read, and only as much is read as the header declares.
Numpy's own reader evaluates the headers as Python literals; here they must have the exact form that numpy writes.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hideseek.errors import FileFormatError
from hideseek.schema import ArrayRule, check_array_names, check_shape, check_values, parsed_dtype

__all__ = ["read_archive"]

_MAGIC, _VERSIONS = b"\x93NUMPY", {1: "<H", 2: "<I"}
_LONGEST_HEADER = 10_000
_HEADER = re.compile(
    r"\{'descr': '([^']{1,40})', 'fortran_order': (True|False), 'shape': \(((?:\d{1,18}, ?)*(?:\d{1,18})?)\), \} *\n?"
)
_MOST_EXPANSION = 1032
"""Largest number of bytes that one compressed byte can expand to."""

_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ArithmeticError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    ValueError,
)


class _Header(NamedTuple):
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    order: str


def read_archive(content: bytes, rules: Mapping[str, ArrayRule]) -> dict[str, NDArray[Any]]:
    """Return the arrays in the content of a file, after checking them against the rules.

    Raises:
        FileFormatError: The content is not a valid file, or its arrays break the rules.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _arrays(archive, rules)
    except FileFormatError:
        raise
    except _UNREADABLE as error:
        raise FileFormatError(f"it is not a whole .npz file ({type(error).__name__})") from error


def _arrays(archive: zipfile.ZipFile, rules: Mapping[str, ArrayRule]) -> dict[str, NDArray[Any]]:
    members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
    if len(members) < len(archive.infolist()):
        raise FileFormatError("it has two arrays of the same name")
    check_array_names(list(members), rules)
    sizes: dict[str, int] = {}
    headers = {name: _header(archive, name, member) for name, member in members.items()}
    for name, header in headers.items():
        check_shape(name, header, rules[name], sizes)
    arrays = {name: _values(archive, members[name], header) for name, header in headers.items()}
    for name, array in arrays.items():
        check_values(name, array, rules[name])
    return arrays


def _header(archive: zipfile.ZipFile, name: str, member: zipfile.ZipInfo) -> _Header:
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or member.flag_bits & 1:
        raise FileFormatError(f"array {name!r} is encrypted or compressed in an unknown way")
    if member.file_size > _MOST_EXPANSION * (member.compress_size + 1):
        raise FileFormatError(f"array {name!r} declares more bytes than its compressed data can hold")
    with archive.open(member) as file:
        start, text = _header_text(file)
    found = _HEADER.fullmatch(text)
    dtype = parsed_dtype(found[1]) if found else None
    if found is None or dtype is None or dtype.kind == "O":
        raise FileFormatError(f"array {name!r} has an invalid header, or contains objects")
    shape = tuple(int(size) for size in re.findall(r"\d+", found[3]))
    if start + prod(shape) * dtype.itemsize != member.file_size:
        raise FileFormatError(f"array {name!r} does not have the number of bytes that its header declares")
    return _Header(dtype, shape, "F" if found[2] == "True" else "C")


def _header_text(file: Any) -> tuple[int, str]:
    """Return the position where the values begin, and the header text before them."""
    magic = file.read(len(_MAGIC) + 2)
    if len(magic) < len(_MAGIC) + 2 or magic[:-2] != _MAGIC or magic[-2] not in _VERSIONS:
        raise FileFormatError("it has a member that is not an array")
    form = _VERSIONS[magic[-2]]
    (length,) = struct.unpack(form, file.read(struct.calcsize(form)))
    if length > _LONGEST_HEADER:
        raise FileFormatError(f"it has an array with a header of {length} bytes")
    return len(magic) + struct.calcsize(form) + length, file.read(length).decode("latin1")


def _values(archive: zipfile.ZipFile, member: zipfile.ZipInfo, header: _Header) -> NDArray[Any]:
    size = prod(header.shape) * header.dtype.itemsize
    content = archive.read(member)  # the size in the directory was checked against the header
    values = bytearray(memoryview(content)[len(content) - size :])
    return np.ndarray(header.shape, header.dtype, values, order="F" if header.order == "F" else "C")
