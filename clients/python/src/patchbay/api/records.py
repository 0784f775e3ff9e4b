"""Reads JSON into dataclasses: the typed results of the HTTP API."""

from __future__ import annotations

import types
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from ..errors import APIError

T = TypeVar("T")


def decode(kind: type[T], data: Any) -> T:
    """Reads a JSON value.

    Unknown members are ignored, since later versions of the gateway add some; a missing member has the default of its
    field.

    Args:
        kind: a dataclass.
        data: parsed JSON.

    Raises:
        APIError: the value has another form.
    """
    try:
        result: T = _read(kind, data)
    except (TypeError, ValueError, KeyError) as error:
        name = getattr(kind, "__name__", str(kind))
        raise APIError(
            200, "bad_answer", f"the gateway's answer is no {name}: {error}; check that its version is compatible"
        ) from error
    return result


def decode_list(kind: type[T], data: Any) -> list[T]:
    """Reads a JSON array."""
    if not isinstance(data, list):
        raise APIError(200, "bad_answer", "the gateway's answer is no list; check that its version is compatible")
    return [decode(kind, item) for item in data]


def _read(kind: Any, data: Any) -> Any:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        if data is None:
            return None
        return _read(next(option for option in get_args(kind) if option is not type(None)), data)
    if origin is list:
        return [_read(get_args(kind)[0], item) for item in data]
    if kind is Any or origin is dict or kind is dict:
        return data
    if kind is datetime:
        return datetime.fromisoformat(data)
    if kind is float and isinstance(data, int):
        return float(data)
    if is_dataclass(kind):
        return _record(kind, data)
    if isinstance(kind, type) and not isinstance(data, kind):
        raise TypeError(f"{data!r} is no {kind.__name__}")
    return data


def _record(kind: Any, data: Any) -> Any:
    if not isinstance(data, dict):
        raise TypeError("it is no object")
    values = {}
    hints = _hints(kind)
    for item in fields(kind):
        if item.name in data:
            values[item.name] = _read(hints[item.name], data[item.name])
        elif item.default is MISSING and item.default_factory is MISSING:
            raise KeyError(f"it has no {item.name!r}")
    return kind(**values)


@lru_cache(maxsize=128)
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
