"""Frozen classes of fields, as `dataclasses` makes them, in a fiftieth of the time.

`dataclasses` takes 12 ms of a hook to import, and 1 ms for each class, since it compiles six functions; the functions
here are the same for all classes. `replace`, `asdict` and `fields` work on them. There is no `field()`, no
`__post_init__` and no inheritance of fields.
"""

__all__ = ["changed", "record"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass as record
    from dataclasses import replace as changed
else:

    def record(*, frozen, slots):
        """Return a decorator. Both arguments are True; type checkers read them as those of `dataclass`."""
        return _made

    def changed(one, **fields):
        """Return a copy of a record with other values in these fields: `replace`, without its import."""
        made = type(one)
        return made(**{**{name: getattr(one, name) for name in made.__match_args__}, **fields})


class _Fields:
    """The fields of a class as `dataclasses` describes them, made when one of its functions first asks."""

    __slots__ = ("_class",)

    def __init__(self, original: type) -> None:
        self._class = original

    def __get__(self, instance: object, owner: type) -> object:
        from dataclasses import dataclass

        found = dataclass(self._class).__dataclass_fields__  # type: ignore[attr-defined]  # which dataclass adds
        owner.__dataclass_fields__ = found  # type: ignore[attr-defined]  # for the next time
        return found


def _made(original: type) -> type:
    names = tuple(original.__annotations__)
    kept = {key: value for key, value in vars(original).items() if key not in (*names, "__dict__", "__weakref__")}
    defaults = {name: vars(original)[name] for name in names if name in vars(original)}
    made = type(
        original.__name__,
        original.__bases__,
        {**_METHODS, **kept, "__slots__": names, "__match_args__": names, "__dataclass_fields__": _Fields(original)},
    )
    made._defaults = defaults  # type: ignore[attr-defined]  # of this class alone
    made._setters = tuple(vars(made)[name].__set__ for name in names)  # type: ignore[attr-defined]
    return made


def _init(self, *values, **named):  # type: ignore[no-untyped-def]  # of every class
    made = self.__class__
    names, defaults = made.__match_args__, made._defaults
    if len(values) != len(names):
        if len(values) > len(names) or not named.keys() <= set(names[len(values) :]):
            raise TypeError(f"{made.__name__}() takes {', '.join(names)}")
        try:
            values += tuple(named[name] if name in named else defaults[name] for name in names[len(values) :])
        except KeyError as missing:
            raise TypeError(f"{made.__name__}() lacks {missing}") from None
    elif named:
        raise TypeError(f"{made.__name__}() takes {', '.join(names)}")
    for put, value in zip(made._setters, values, strict=True):
        put(self, value)


def _values(self: object) -> tuple[object, ...]:
    return tuple([getattr(self, name) for name in type(self).__match_args__])  # type: ignore[attr-defined]


def _equal(self: object, other: object) -> bool:
    return _values(self) == _values(other) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: object) -> int:
    return hash(_values(self))


def _repr(self: object) -> str:
    pairs = zip(type(self).__match_args__, _values(self), strict=True)  # type: ignore[attr-defined]
    return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in pairs)})"


def _refuse(self: object, name: str, *value: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to or delete field {name!r}")


def _reduce(self: object) -> tuple[type, tuple[object, ...]]:
    return type(self), _values(self)


_METHODS = {
    "__init__": _init,
    "__eq__": _equal,
    "__hash__": _hash,
    "__repr__": _repr,
    "__setattr__": _refuse,
    "__delattr__": _refuse,
    "__reduce__": _reduce,
}
