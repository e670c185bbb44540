# The surroundings of the program below: files, read, shown, fail and math.
import math
import os as _os
import sys as _sys

_sys.stdout.reconfigure(encoding="utf-8", newline="\n")
_sys.stderr.reconfigure(encoding="utf-8", newline="\n")
_root = _sys.argv[1] if len(_sys.argv) > 1 else "."
_own = _os.path.realpath(__file__)


def fail(text):
    _sys.stdout.flush()
    _sys.stderr.write(text + "\n")
    _sys.exit(3)


def files():
    found = []
    for folder, folders, names in _os.walk(_root):
        folders[:] = [f for f in folders if not f.startswith(".")]
        for name in names:
            path = _os.path.join(folder, name)
            if name.startswith(".") or _os.path.islink(path) or not _os.path.isfile(path) or _os.path.realpath(path) == _own:
                continue
            slash = _os.path.relpath(path, _root).replace(_os.sep, "/")
            try:
                slash.encode("utf-8")
            except UnicodeEncodeError:
                continue
            found.append(slash)
    return sorted(found)


def read(name):
    path = _os.path.join(_root, *name.split("/"))
    if _os.path.getsize(path) > 32 << 20:
        fail(shown(name) + " is larger than 32 MiB; give a smaller file")
    with open(path, "rb") as file:
        data = file.read()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _plain(c):
    n = ord(c)
    hidden = n < 0x20 or 0x7F <= n <= 0x9F or n == 0xAD or 0x200B <= n <= 0x200F or 0x2028 <= n <= 0x202E
    hidden = hidden or 0x2060 <= n <= 0x206F or n == 0xFEFF or 0xFFF9 <= n <= 0xFFFB or 0xE0000 <= n <= 0xE0FFF
    return "?" if hidden else c


def shown(text):
    short = "".join([_plain(c) for c in text[:60]])
    return short + "..." if len(text) > 60 else short


# The program:
