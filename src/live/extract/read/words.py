# Types in the words of scenarios/vocabulary/python.toml.

import collections.abc

from pydantic import BaseModel

MODELS = {}  # by name: the class, for every model that a word mentions
ROOTS = {}  # by name: the class that a family descends from


def is_family(cls):
    """Whether values of the class are told apart by their `kind`."""
    from openhands.sdk.utils.models import DiscriminatedUnionMixin

    if not issubclass(cls, DiscriminatedUnionMixin):
        return False
    import abc

    return inspect.isabstract(cls) or abc.ABC in cls.__bases__


def kinds(cls):
    """The concrete classes below, each once, by name."""
    found = {}
    for sub in cls.__subclasses__():
        found.update(kinds(sub))
        if not is_family(sub):
            found[sub.__name__] = sub
    return dict(sorted(found.items()))


def model_name(cls):
    """A name of its own for each class: the mcp package also has `ToolAnnotations`."""
    name = cls.__name__
    if MODELS.get(name, cls) is not cls:
        name = cls.__module__.split(".")[0].capitalize() + name
    MODELS[name] = cls
    return name


def bounds(metadata):
    found = {}
    for item in metadata:
        for key, word in (("ge", "min"), ("le", "max"), ("min_length", "min")):
            value = getattr(item, key, None)
            if value is not None:
                found[word] = f"{value:g}"
        for inner in getattr(item, "metadata", None) or ():
            found.update(bounds([inner]))
    return found


def word(of, metadata=()):
    origin, inside = typing.get_origin(of), typing.get_args(of)
    if isinstance(of, typing.TypeAliasType):
        return word(of.__value__, metadata)
    if origin is typing.Annotated:
        return word(inside[0], tuple(metadata) + tuple(inside[1:]))
    if origin in (typing.Union, types.UnionType):
        rest = [member for member in inside if member is not type(None)]
        words = list(dict.fromkeys(word(member, metadata) for member in rest))
        null = len(rest) < len(inside) and words != ["any"]
        return "|".join(words) + ("?" if null else "")
    if origin is typing.Literal:
        return f"one_of({'|'.join(map(str, inside))})"
    if origin is type:
        if isinstance(inside[0], type) and issubclass(inside[0], BaseModel) and is_family(inside[0]):
            return f"kind<{family_name(inside[0])}>"
        return "class"
    for base, name in ((list, "list"), (set, "set"), (collections.abc.Sequence, "seq")):
        if origin is base or of is base:
            return f"{name}<{word(inside[0]) if inside else 'any'}>"
    if origin in (dict, collections.abc.Mapping) or of is dict:
        value = word(inside[1]) if inside else "any"
        return "dict" if value == "any" else f"dict<{value}>"
    return plain(of if origin is None else origin, bounds(metadata))


def plain(of, bounded):
    limits = f"({','.join(f'{k}={v}' for k, v in bounded.items())})" if bounded else ""
    for base in (bool, int, float, str):
        if of is base:
            return base.__name__ + ("" if base is bool else limits)
    if of in (typing.Any, object):
        return "any"
    if isinstance(of, typing.TypeVar):
        return plain(of.__bound__ or typing.Any, bounded)
    if isinstance(of, type) and issubclass(of, enum.Enum):
        return f"enum({'|'.join(str(member.value) for member in of)})"
    if isinstance(of, type) and issubclass(of, BaseModel):
        return family_name(of) if is_family(of) else model_name(of)
    return "class" if of is type else "instance"


def family_name(cls):
    ROOTS[cls.__name__] = cls
    return cls.__name__
