"""What holds for every kind of view: its files are there, and its examples travel, are drawn and are shown as they say.

A kind is found by its folder: one that was added a minute ago is tested here.
"""

import json
import re
import subprocess
import typing
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from docs.making import generated, page_types
from js import front
from tests.widgets.every import each, examples, has_examples, made
from tests.widgets.travelled import wrong
from vistorch import vt
from vistorch.widgets import kinds
from vistorch.widgets._frame.display import Display
from vistorch.widgets._frame.kinds import painter
from vistorch.widgets._frame.wire import pack, unpack

ROOT = Path(__file__).parents[2]
KINDS = pytest.mark.parametrize("kind", kinds())


def missing(kind):
    """What a kind of view lacks: the files to add."""
    wanted = {
        f"vistorch/widgets/{kind}/picture.py": "with `MIME` and `paint(record, theme)`",
        f"js/src/{kind}/page.ts": "the page, `export default page(check, css, show)`",
        f"tests/widgets/{kind}/example.py": "with `EXAMPLES`, what makes records by name",
    }
    return [f"add {name}: {what}" for name, what in wanted.items() if not (ROOT / name).is_file()]


@KINDS
def test_a_kind_has_its_files(kind):
    assert missing(kind) == []
    assert has_examples(kind) and examples(kind)


def test_a_kind_that_lacks_a_file_is_reported_which():
    assert [line.partition(":")[0] for line in missing("nothing")] == [
        "add vistorch/widgets/nothing/picture.py",
        "add js/src/nothing/page.ts",
        "add tests/widgets/nothing/example.py",
    ]


def test_every_folder_of_a_page_is_a_kind():
    assert {path.parent.name for path in (ROOT / "js" / "src").glob("*/page.ts")} == {*kinds()}


def test_a_command_is_not_called_as_a_file_of_vt():
    files = {path.stem for path in (ROOT / "vistorch" / "vt").iterdir()}
    assert not files & {row.function.__name__ for row in vt.COMMANDS.values() if row.function}


def test_what_is_generated_is_not_stale():
    assert generated.stale() == [], "run `make generated`"


@each
def test_the_same_record_gives_the_same_bytes(kind, name):
    record = made(kind, name)
    assert record.kind == kind
    paint = painter(kind).paint
    for theme in ("light", "dark"):
        drawn = paint(record, theme)
        assert drawn == paint(record, theme)
        if painter(kind).MIME == "image/svg+xml":
            ET.fromstring(drawn)  # well formed
    assert Display(record).payload() == Display(record).payload()
    assert record.text().strip()


@each
def test_what_travels_is_what_the_type_says(kind, name):
    of, state = unpack(Display(made(kind, name)).payload())
    assert of == kind
    assert wrong(page_types.state_of(kind), state, kind) == []


def damaged(state, hint, path):
    """States with one field of another type, or without it, and the path of the field."""
    fields = page_types.hints(hint)
    for field in list(state):
        if field not in fields or not fields[field][1] or field == "text":
            continue
        without = {name: value for name, value in state.items() if name != field}
        if not wrong(fields[field][0], None, ""):
            yield {**state, field: [[[]]]}, f"{path}.{field}"
        else:
            yield without, f"{path}.{field}"
    for field, value in state.items():
        one = typing.get_args(fields[field][0])
        if isinstance(value, list) and value and isinstance(value[0], dict) and typing.is_typeddict(one[0]):
            for inner, where in damaged(value[0], one[0], f"{path}.{field}[0]"):
                yield {**state, field: [inner, *value[1:]]}, where


@KINDS
def test_a_page_says_which_field_is_wrong(kind, tmp_path):
    """The checks of the page, run by node over records that are right, and over each with one field that is wrong."""
    hint = page_types.state_of(kind)
    cases = []
    for name in examples(kind):
        _, state = unpack(Display(made(kind, name)).payload())
        cases.append((pack(kind, state), ""))
        cases += [(pack(kind, other), path) for other, path in damaged(state, hint, kind)]
    for number, (payload, _) in enumerate(cases):
        (tmp_path / f"{number}.bin").write_bytes(payload)
    said = said_by_the_page(kind, tmp_path, len(cases))
    assert len(cases) > 3
    for (_, path), sentence in zip(cases, said, strict=True):
        if path:
            assert re.match(re.escape(path) + r"[\w.\[\]]*: expected ", sentence), (path, sentence)
        else:
            assert sentence == ""


PROGRAM = """
import {{ readFileSync }} from "node:fs";
import {{ check }} from {types};
import {{ unpack }} from {payload};
const said = [];
for (let i = 0; i < {count}; i++) {{
  const {{ kind, state }} = unpack(readFileSync({folder} + "/" + i + ".bin"));
  try {{ check(state, kind); said.push(""); }} catch (error) {{ said.push(error.message); }}
}}
console.log(JSON.stringify(said));
"""


def said_by_the_page(kind, folder, count):
    node, environment = front.install(front.JS)
    text = PROGRAM.format(
        types=json.dumps(str(ROOT / "js" / "src" / kind / "types.ts")),
        payload=json.dumps(str(ROOT / "js" / "src" / "shared" / "payload.ts")),
        folder=json.dumps(str(folder)),
        count=count,
    )
    (folder / "program.ts").write_text(text)
    esbuild = str(front.JS / "node_modules" / ".bin" / "esbuild")
    made = [
        esbuild,
        str(folder / "program.ts"),
        "--bundle",
        "--platform=node",
        f"--outfile={folder / 'program.cjs'}",
    ]
    subprocess.run([*made, "--log-level=error"], env=environment, check=True)
    done = subprocess.run(
        [node, str(folder / "program.cjs")], env=environment, check=True, capture_output=True
    )
    return json.loads(done.stdout)


def test_numbers_are_no_words():
    assert wrong(float, "nan", "x") == [] and wrong(float, "many", "x") != []
    assert wrong(int, True, "x") != [] and wrong(int, 1.0, "x") != []
    assert wrong(list[int], [1, "2"], "x") == ["x[1]: expected <class 'int'>, got '2'"]
    assert wrong(page_types.state_of("flow"), {}, "flow")[0] == "flow.title: it is not there"
    assert wrong(typing.Annotated[np.ndarray, page_types.Dims(1)], np.zeros((2, 2)), "x") != []
