"""Hostile files by number, and a run over them: `python -m tests.serialization.corpus --files 5000`.

Each file is a function of its number: a good file of some kind with bits flipped, parts cut, moved or put elsewhere,
members swapped, packed a thousandfold, or a pickle, a JSON or a state made by hand. They are read in child processes,
which are watched: what they run, how long they take, how much memory, what they raise and what they leave.
"""

import argparse
import io
import json
import random
import subprocess
import sys
import time
import zipfile
from collections import Counter

KINDS = "pt pt legacy safetensors recording watch watch unpack idx picture batch state".split()
FAULTS = ("executed", "crashed", "hung", "over time", "over memory", "raw exception", "half loaded")
SECONDS, HANG, AT_ONCE = 10, 150, 250  # of a file's first megabyte; each more may take a second more


# ---- one file ------------------------------------------------------------------------------------------------------
def spoiled(r, data):
    """Bytes with something wrong in them."""
    data = bytearray(data)
    for _ in range(r.choice((1, 1, 1, 2, 5))):
        at, to, size = r.randrange(len(data) + 1), r.randrange(len(data) + 1), r.choice((1, 4, 16, 200, 3000))
        how = r.randrange(9)
        if how == 0:
            del data[at:]
        elif how <= 2:
            for _ in range(r.choice((1, 1, 3, 20))):
                if data:
                    data[r.randrange(len(data))] ^= 1 << r.randrange(8)
        elif how == 3:
            data[at : at + size] = data[to : to + size]
        elif how == 4:
            data[at:at] = data[to : to + size]
        elif how == 5:
            data[at : at + 4] = r.choice(
                (b"\xff" * 4, b"\xff\xff\xff\x7f", b"\0" * 4, b"\0\0\0\x80", b"\1\0\0\0")
            )
        elif how == 6:
            data[at : at + 8] = r.choice((b"\xff" * 8, b"\xff" * 7 + b"\x7f", b"\0" * 8, b"\0\0\0\0\1\0\0\0"))
        elif how == 7:
            data[at : at + size] = r.randbytes(size)
        else:
            del data[at : at + size]
    return bytes(data)


def rezipped(r, data):
    """A zip whose members are exchanged, renamed, doubled, left out, packed or spoiled inside."""
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        members = [[name, z.read(name)] for name in z.namelist()]
    for _ in range(r.choice((1, 1, 2))):
        a, b = r.choice(members), r.choice(members)
        how = r.randrange(7)
        if how == 0:
            a[1], b[1] = b[1], a[1]
        elif how == 1:
            a[0] = r.choice(("../x", "/x", "x" * 300, "a\0b", "", b[0], a[0] + "/", "\\x"))
        elif how == 2 and len(members) > 1:
            members.remove(a)
        elif how == 3:
            a[1] = r.choice((bytes(60 << 20), b"[" * (20 << 20), b"}" * (30 << 20), b'{"a":' * (4 << 20)))
        elif how == 4:
            members.append([f"{a[0]}{r.randrange(9)}", a[1]])
        else:
            a[1] = spoiled(r, a[1])
    out = io.BytesIO()
    method = r.choice(
        (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2)
    )
    with zipfile.ZipFile(out, "w", method) as z:
        for name, content in members:
            info = zipfile.ZipInfo("x")
            info.filename = name
            z.writestr(info, content, method)
    return out.getvalue()


def random_pickle(r, canary):
    """Instructions in any order, among them whole pieces made with a plan."""
    from . import hostile as h

    groups = (h.REDUCERS, h.BUILDERS, h.STACKS, h.CALLS, h.TENSORS, h.STORAGES)
    made = b""
    for _ in range(r.choice((1, 2, 4, 10))):
        how = r.randrange(6 if len(made) < 3_000_000 else 4)
        if how <= 2:
            piece = r.choice(list(r.choice(groups).values()))
            made += piece(canary) if callable(piece) else piece
        elif how == 3:
            made += bytes(
                [r.choice(b"()]}\x8f0125NGKMJ\x88\x89t\x85\x86\x87lueasRbQ.\x90\x91\x93\x94qhrj")]
            ) + r.randbytes(r.choice((0, 1, 4)))
        elif how == 4:
            made += bytes([r.choice(b"()]}\x8fN\x85\x86K")]) * r.choice((10, 1000, 3_000_000))
        else:
            made += r.randbytes(r.randrange(20))
    return made


def random_state(r, state, arrays):
    """A state of a watched run as JSON, with wrong things in some places."""
    text = json.dumps(state)
    wrong = r.choice(
        (
            None,
            True,
            -1,
            2**70,
            0.5,
            "x",
            [],
            {},
            {"npy": 0},
            {"npy": -1},
            {"npy": None},
            {"float": "nan"},
            {"float": []},
            [{"npy": 0}] * 2000,
        )
    )
    made = json.loads(text)
    for _ in range(r.choice((1, 1, 3))):
        at, parent, key = made, None, None
        while isinstance(at, (dict, list)) and at and (parent is None or r.random() < 0.85):
            parent, key = at, r.choice(list(at) if isinstance(at, dict) else range(len(at)))
            at = at[key]
        if parent is not None:
            if r.random() < 0.2:
                del parent[key]
            else:
                parent[key] = json.loads(json.dumps(wrong))
    return json.dumps(made).encode()


def made(number, good, canary):
    """A file: its kind and its bytes."""
    r = random.Random(number)
    kind = KINDS[number % len(KINDS)]
    if kind == "state":
        return kind, r.randbytes(8)
    data = r.choice(good[kind])
    is_zip = data[:2] == b"PK"
    how = r.random()
    if kind in ("pt", "legacy", "batch") and how < 0.45:
        from . import hostile as h

        pickle = random_pickle(r, canary)
        if kind == "batch":
            return kind, h.PROTO + pickle + h.p.STOP
        return kind, h.legacy(pickle) if kind == "legacy" else h.archive(pickle)
    if kind == "watch" and how < 0.4:
        with zipfile.ZipFile(io.BytesIO(data)) as z:
            arrays = [z.read(name) for name in z.namelist()[1:]]
            text = random_state(r, json.loads(z.read("watch.json")), arrays)
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
            z.writestr("watch.json", text)
            for i, a in enumerate(arrays):
                z.writestr(f"{i}.npy", a)
        return kind, out.getvalue()
    if is_zip and how < 0.7:
        return kind, rezipped(r, data)
    return kind, spoiled(r, data)


# ---- a run ---------------------------------------------------------------------------------------------------------
def child(first, last):
    """Read files one after the other in this process, and print a line for each."""
    import resource

    from .corpus_readers import Readers

    readers = Readers()
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30,) * 2)  # of this process, which ends with its files
    for number in range(first, last):
        print("begin", number, flush=True)
        print("end", number, json.dumps(readers.read(number)), flush=True)


def watched(first, last, found):
    """Read files in a child; where it dies, note it and go on after that file."""
    while first < last:
        command = [sys.executable, "-m", "tests.serialization.corpus", "--child", str(first), str(last)]
        process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        begun = None
        for line in process.stdout.splitlines():
            word, number, *rest = line.split(" ", 2)
            if word == "begin":
                begun = int(number)
            elif word == "end":
                result, begun = json.loads(rest[0]), None
                found.append((int(number), result))
        if begun is None:
            return
        fault = "hung" if process.returncode == 1 else "crashed"
        found.append(
            (begun, {"kind": KINDS[begun % len(KINDS)], "fault": fault, "why": str(process.returncode)})
        )
        first = begun + 1


def run(files, first=0):
    """Read so many files; the results by number."""
    found = []
    for start in range(first, first + files, AT_ONCE):
        watched(start, min(start + AT_ONCE, first + files), found)
    return found


def table(found):
    """The faults by kind."""
    kinds = sorted({result["kind"] for _, result in found})
    lines = [f"{'kind':<12}{'files':>7}{'read':>7}{'refused':>9}" + "".join(f"{f:>15}" for f in FAULTS)]
    for kind in [*kinds, "all"]:
        mine = [result for _, result in found if kind in (result["kind"], "all")]
        count = Counter(result.get("fault") or result["how"] for result in mine)
        lines.append(
            f"{kind:<12}{len(mine):>7}{count['read']:>7}{count['refused']:>9}"
            + "".join(f"{count[f]:>15}" for f in FAULTS)
        )
    return "\n".join(lines)


def main():
    """Run and print; the exit says whether there was a fault."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--child", type=int, nargs=2)
    given = parser.parse_args()
    if given.child:
        child(*given.child)
        return 0
    began = time.monotonic()
    found = run(given.files, given.first)
    faults = [(number, result) for number, result in found if result.get("fault")]
    for number, result in faults:
        print(f"{number}: {result['kind']}: {result['fault']}: {result.get('why', '')}")
    print(table(found))
    print(f"{len(found)} files in {time.monotonic() - began:.0f} s, {len(faults)} faults")
    return bool(faults) or len(found) != given.files


if __name__ == "__main__":
    sys.exit(main())
