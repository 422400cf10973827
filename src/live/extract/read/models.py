# The event model: every kind of event, and every model inside one.

from pydantic import AliasChoices, ValidationError


def takes(cls, key, value):
    """Whether the model has nothing against `value` under `key`, whatever else is missing."""
    try:
        cls.model_validate({key: value})
    except ValidationError as error:
        return all(e["loc"][:1] != (key,) for e in error.errors())
    except Exception:  # before 1.58.0 a null where an object with a kind belongs escapes as another error
        return False
    return True


def constants(cls):
    """The strings that the class' own code and its module could compare with: only candidates, each is then tried."""
    found = set()
    for base in cls.__mro__:
        if base.__module__.startswith("openhands."):
            values = list(vars(base).values()) + list(vars(sys.modules[base.__module__]).values())
            for value in values:
                items = value if isinstance(value, (tuple, frozenset, set, list)) else (value,)
                found.update(item for item in items if isinstance(item, str) and 0 < len(item) < 40)
    return sorted(found)


def spellings(cls, name, info):
    """The keys that a field is read from, the first one as it is written."""
    alias = info.validation_alias or info.alias
    if isinstance(alias, AliasChoices):
        keys = [choice for choice in alias.choices if isinstance(choice, str)]
    else:
        keys = [alias or name]
    config = cls.model_config
    if keys[0] != name and (config.get("populate_by_name") or config.get("validate_by_name")):
        keys.append(name)
    written = info.serialization_alias or info.alias
    return sorted(dict.fromkeys(keys), key=lambda key: key != written) if written in keys else keys


def field_line(cls, name, info):
    keys = spellings(cls, name, info)
    of = word(info.annotation, info.metadata)
    if of == "str":
        reserved = [text for text in constants(cls) if not takes(cls, keys[0], text)]
        need(len(reserved) < 2, f"{cls.__name__}.{name} refuses {len(reserved)} words")
        of = f"str(not={reserved[0]})" if reserved else of
    line = f"{keys[0]}{'' if info.is_required() else '?'}: {of}"
    if len(keys) > 1:
        line += f" or {keys[1]}"
    if of == "any" or "|any" in of:
        return line
    if not of.endswith("?") and takes(cls, keys[0], None):
        line += " or-null"
    if of.split("<")[0] in ("list", "seq", "set", "dict") and takes(cls, keys[0], "a"):
        line += " or-str"
    return line


def model(name, cls):
    fields, unread = [], []
    for field, info in cls.model_fields.items():
        try:
            fields.append(field_line(cls, field, info))
        except Exception as error:
            unread.append({"field": field, "message": f"{type(error).__name__}: {error}"[:200]})
    extra = cls.model_config.get("extra") or "ignore"
    found = {"name": name, "extra": extra, "frozen": bool(cls.model_config.get("frozen")), "fields": fields}
    if not cls.__module__.startswith("openhands."):
        found["of"] = cls.__module__.split(".")[0]
    if extra == "forbid":
        known = set(cls.model_fields)
        candidates = [text for text in constants(cls) if text.isidentifier() and text not in known and text != "kind"]
        found["drops"] = [text for text in candidates if takes(cls, text, 1)]
    if unread:
        found["unread"] = unread
    return found


def finds_kind_by(cls):
    try:
        cls.model_validate({"kind": []})
    except TypeError:
        return "hash"
    except Exception:
        return "comparison"
    raise LookupError("a list is taken for a kind")


def event_model():
    """All families and models that `Event` leads to, as a process that imported only the SDK has them."""
    from openhands.sdk.event import Event

    family_name(Event)
    families, models, standing = {}, {}, True
    while standing:
        standing = False
        for name, root in list(ROOTS.items()):
            if name not in families:
                standing = True
                members = kinds(root)
                families[name] = {
                    "name": name,
                    "finds_kind_by": finds_kind_by(root),
                    "extra": root.model_config.get("extra") or "ignore",
                    "kinds": list(members),
                }
                for kind, cls in members.items():
                    models[kind] = model(kind, cls)
        for name, cls in list(MODELS.items()):
            if name not in models:
                standing = True
                models[name] = model(name, cls)
    return {"families": sorted(families.values(), key=lambda f: f["name"]), "models": sorted(models.values(), key=lambda m: m["name"])}


def plain_input_is_reported():
    from openhands.sdk.event import Event

    try:
        Event.model_validate("text")
    except ValidationError:
        return True
    except (AttributeError, TypeError):
        return False
    raise LookupError("a string is taken for an event")


def delta_class():
    """The delta's class wherever the SDK keeps it, or nothing."""
    for name in ("openhands.sdk.event", "openhands.sdk.event.streaming_delta", "openhands.sdk"):
        module = module_of(name)
        cls = getattr(module, "StreamingDeltaEvent", None)
        if cls is not None:
            return cls
    return None


def delta():
    from openhands.sdk.event import Event

    cls = delta_class()
    if cls is None:
        return None
    fields = [name for name in cls.model_fields if name != "kind"]
    kind = cls(content="a").model_dump().get("kind")
    return {"kind": kind, "is_event": issubclass(cls, Event), "fields": fields}
