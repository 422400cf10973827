# Reads the OpenHands packages that this interpreter has, and prints one JSON document `skewlab.package/1`.
# The files of this folder run as one script, in this order: head, words, models, client, server, webhook, end.
#
# What a package can be asked or made to do is asked and run; only what is left is read off its syntax tree, and says so.
# Names, types and numbers are kept. Nobody's text is.

import ast
import asyncio
import enum
import hashlib
import importlib
import importlib.metadata
import importlib.util
import inspect
import json
import logging
import os
import pathlib
import sys
import threading
import time
import types
import typing
import uuid

OUT = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # whatever a package prints is no part of the document

# A folder that is laid over the environment and is not used would make every answer that of the environment.
for place in filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)):
    laid = list(pathlib.Path(place, "openhands").glob("*/__init__.py"))
    if not laid:
        sys.exit(f"{place} holds no package of `openhands`")
    for init in laid:
        spec = importlib.util.find_spec(f"openhands.{init.parent.name}")
        if spec is None or not os.path.samefile(spec.origin, init):
            sys.exit(f"openhands.{init.parent.name} does not come from {place}, which is laid over the environment")

FACTS = {}
FAULTS = []


def fact(name, how):
    """Keeps what the function returns under `name`; a package that will not answer is a fault, and no answer."""

    def note(function):
        try:
            value = function()
        except BaseException as error:  # a package may even call sys.exit
            if isinstance(error, KeyboardInterrupt):
                raise
            FAULTS.append({"fact": name, "message": f"{type(error).__name__}: {error}"[:300]})
        else:
            FACTS[name] = {"is": value, "how": how}
        return function

    return note


def need(condition, message):
    if not condition:
        raise LookupError(message)


def module_of(name):
    """The module, or nothing if the package has none of that name."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if name == error.name or name.startswith(f"{error.name}."):
            return None
        raise


def tree(module):
    return ast.parse(pathlib.Path(module.__file__).read_text(encoding="utf-8"))


def called(node):
    """The last name of what a call calls."""
    function = node.func
    return getattr(function, "attr", getattr(function, "id", None))


def package(name):
    """Version and fingerprint of a distribution; of its files where it is laid over another one."""
    distribution = importlib.metadata.distribution(name)
    home = pathlib.Path(importlib.import_module("openhands." + name.removeprefix("openhands-").replace("-", "_")).__file__).parent
    record = distribution.read_text("RECORD")
    if record and home.is_relative_to(pathlib.Path(str(distribution.locate_file(""))).resolve()):
        # Lines that the installer adds differ between machines; those of the package do not.
        lines = [line for line in record.splitlines() if line.startswith("openhands/") and "sha256=" in line]
        text = "\n".join(sorted(lines)).encode()
    else:
        files = sorted(home.rglob("*.py"))
        text = b"".join(str(f.relative_to(home)).encode() + b"\0" + f.read_bytes() for f in files)
    return {"version": distribution.version, "sha256": hashlib.sha256(text).hexdigest()}
