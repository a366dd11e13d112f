"""Who writes files: every raw write in the package is in a table with the reason why it is not `atomic.replacing`."""

import ast
import re
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "vistorch"
METHODS = {
    "write_text",
    "write_bytes",
    "savefig",
    "tofile",
    "mkstemp",
    "NamedTemporaryFile",
    "copyfile",
    "copy2",
}
OPENS = {"open", "fdopen", "memmap", "ZipFile", "TarFile", "GzipFile", "BZ2File", "LZMAFile", "FileIO"}
MODE = re.compile(r"(?=.*[wax+])[rwaxbt+]{1,3}")
FLAGS = {"O_CREAT", "O_RDWR", "O_WRONLY", "O_APPEND", "O_TRUNC"}

ALLOWED = {
    "serialization/atomic.py": (5, "the one place where files are written and renamed"),
    "cuda/graphs.py": (1, "a graph in Graphviz's language, where the file's name is PyTorch's argument"),
    "cuda/snapshots.py": (1, "a picture of memory, where the file's name is PyTorch's argument"),
    "debug/diagnose/trial/sealed.py": (2, "/dev/null, in the place of what a copy of the program inherited"),
    "debug/bundle.py": (1, "a zip into what `atomic.whole` gave"),
    "engine/memory/memory_map.py": (
        2,
        "a shared mapping is the file, grown to the length that was asked for",
    ),
    "torch_api/files.py": (2, "`from_file(shared=True)`: the tensor's memory is the file"),
    "vision/datasets/fetching.py": (
        1,
        "a download that is resumed: it is renamed when its checksum is right",
    ),
    "vision/datasets/unpacking.py": (
        1,
        "members go into a folder of their own, and are moved when the last is whole",
    ),
    "ranks/agent.py": (2, "logs of ranks, written as the output comes"),
    "ranks/file_store.py": (2, "the file is a log that processes append to, under a lock"),
    "ranks/job_token.py": (2, "linked under its name when it is whole: the first process wins"),
    "utils/data/_workers/launch.py": (1, "a pipe to a worker"),
}


def writes_of(source):
    """The lines on which a file may be opened to be written."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [call.lineno for call in calls if _writes(call)]


def _writes(call):
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if name in METHODS:
        return True
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    parts = [part for value in given for part in ast.walk(value)]
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    flags = {getattr(part, "attr", getattr(part, "id", "")) for part in parts}
    return name in OPENS and (any(map(MODE.fullmatch, texts)) or bool(flags & FLAGS))


def test_nothing_is_written_past_the_one_place():
    found = Counter()
    for path in sorted(PACKAGE.rglob("*.py")):
        count = len(writes_of(path.read_text(encoding="utf-8")))
        if count:
            found[str(path.relative_to(PACKAGE).as_posix())] = count
    assert found == {name: count for name, (count, _) in ALLOWED.items()}


def test_the_look_finds_writes():
    for line in (
        "open(p, 'w')",
        "open(p, mode='wb')",
        "open(p, 'ab' if shared else 'rb')",
        "open(p, 'r+b')",
        "path.open('w')",
        "path.write_text('x')",
        "zipfile.ZipFile(p, 'w')",
        "os.open(p, os.O_RDWR | os.O_CREAT)",
        "figure.savefig(p)",
        "np.memmap(p, kind, 'r+')",
        "shutil.copyfile(a, b)",
    ):
        assert writes_of(line), line
    for line in (
        "open(p)",
        "open(p, 'rb')",
        "zipfile.ZipFile(p)",
        "path.open()",
        "Image.open(file)",
        "self.open()",
    ):
        assert not writes_of(line), line
