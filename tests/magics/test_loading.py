"""Loading adds, unloading takes away, and a shell is afterwards what it was before."""

import subprocess
import sys

import pytest

import vistorch
from vistorch import vt


def picture(shell):
    """Everything of a shell that an extension can add to."""
    return {
        "line": dict(shell.magics_manager.magics["line"]),
        "cell": dict(shell.magics_manager.magics["cell"]),
        "classes": dict(shell.magics_manager.registry),
        "configurables": list(shell.configurables),
        "transformers": [*shell.input_transformers_cleanup, *shell.input_transformers_post],
        "matchers": list(shell.Completer.custom_matchers),
        "events": {name: list(listeners) for name, listeners in shell.events.callbacks.items()},
        "types": [dict(f.type_printers) for f in formatters(shell)],
        "names": [dict(f.deferred_printers) for f in formatters(shell)],
        "namespace": set(shell.user_ns)
        - {"_", "__", "___"},  # IPython's: it takes them away where builtins have one
        "hooks": (shell.custom_exceptions, shell.displayhook),
    }


def formatters(shell):
    own = shell.display_formatter
    return [*own.formatters.values(), own.mimebundle_formatter, own.ipython_display_formatter]


def test_what_loading_adds_unloading_takes_away(bare):
    bare.run_line_magic(
        "unload_ext", "nothing"
    )  # the shell makes its own magics when they are first asked for
    before = picture(bare)
    bare.run_line_magic("load_ext", "vistorch")
    loaded = picture(bare)
    for part in ("line", "cell", "classes", "configurables", "transformers", "matchers", "types"):
        assert loaded[part] != before[part], part
    assert loaded["namespace"] == before["namespace"]
    bare.run_line_magic("unload_ext", "vistorch")
    assert picture(bare) == before


def test_twice_is_once(bare):
    bare.run_line_magic("load_ext", "vistorch")
    once = picture(bare)
    bare.run_line_magic("load_ext", "vistorch")
    vistorch.load_ipython_extension(bare)
    assert picture(bare) == once
    vistorch.unload_ipython_extension(bare)
    vistorch.unload_ipython_extension(bare)
    assert "vt" not in bare.magics_manager.magics["line"]


def test_reloading_works_and_adds_nothing(bare, capsys):
    bare.run_line_magic("unload_ext", "nothing")
    before = picture(bare)
    bare.run_line_magic("load_ext", "vistorch")
    for _ in range(3):
        bare.run_line_magic("reload_ext", "vistorch")
    assert sum(type(one).__name__ == "VisTorch" for one in bare.configurables) == 1
    assert len(bare.Completer.custom_matchers) == len(before["matchers"]) + 1
    capsys.readouterr()
    assert bare.run_cell("%vt device").success
    assert capsys.readouterr().out.startswith("devices: ")
    bare.run_line_magic("unload_ext", "vistorch")
    assert picture(bare) == before


def test_a_magic_and_a_formatter_of_another_extension_come_back(bare):
    def theirs(line):
        return "theirs"

    def printed(tensor, include=None, exclude=None):
        return {"text/plain": "theirs"}

    bare.register_magic_function(theirs, "line", "vt")
    bare.display_formatter.mimebundle_formatter.for_type(vistorch.Tensor, printed)
    bare.run_line_magic("load_ext", "vistorch")
    assert bare.run_line_magic("vt", "") is None
    bare.run_line_magic("unload_ext", "vistorch")
    assert bare.run_line_magic("vt", "") == "theirs"
    assert bare.display_formatter.format(vistorch.ones(1))[0]["text/plain"] == "theirs"


def test_a_formatter_registered_later_is_left_alone(bare):
    def later(tensor, include=None, exclude=None):
        return {"text/plain": "later"}

    bare.run_line_magic("load_ext", "vistorch")
    bare.display_formatter.mimebundle_formatter.for_type(vistorch.Tensor, later)
    bare.run_line_magic("unload_ext", "vistorch")
    assert bare.display_formatter.format(vistorch.ones(1))[0]["text/plain"] == "later"


def test_traits_are_the_defaults_of_the_functions(shell, capsys):
    for line in (
        "size = 300",
        "map = 'ember'",
        "budget = 50_000",
        "automatic = False",
        "errors = False",
        "live = 'off'",
    ):
        assert shell.run_cell(f"%config VisTorch.{line}").success
    assert vars(vt.defaults) == {
        "size": 300,
        "map": "ember",
        "budget": 50_000,
        "automatic": False,
        "errors": False,
        "live": "off",
    }
    capsys.readouterr()
    shell.run_cell("%config VisTorch")
    text = capsys.readouterr().out
    assert all(f"VisTorch.{name}=" in text for name in vars(vt.defaults))
    vistorch.unload_ipython_extension(shell)
    assert vars(vt.defaults) == vars(type(vt.defaults)())


@pytest.mark.parametrize("line", ["size = 3", "size = 'a'", "map = 'jet'", "budget = 1", "live = 3"])
def test_a_trait_refuses_what_it_cannot_be(shell, caplog, line):
    before = dict(vars(vt.defaults))
    shell.run_cell(f"%config VisTorch.{line}")
    assert len(caplog.messages) == 1
    assert "VisTorch" in caplog.text
    assert vars(vt.defaults) == before


def test_traits_of_the_user_s_configuration_count(bare):
    bare.config.VisTorch.size = 222
    bare.run_line_magic("load_ext", "vistorch")
    assert vt.defaults.size == 222


def test_importing_vistorch_and_its_functions_imports_no_ipython():
    program = (
        "import sys, vistorch\n"
        "from vistorch import vt\n"
        "vt.device(), vt.torch(), vt.doctor()\n"
        "vt.COMMANDS['show'].parser\n"
        "heavy = {'IPython', 'ipykernel', 'ipywidgets', 'anywidget', 'traitlets', 'matplotlib', 'PIL'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_dir_offers_the_extension_without_loading_it():
    assert {"vt", "load_ipython_extension", "unload_ipython_extension"} <= set(dir(vistorch))
