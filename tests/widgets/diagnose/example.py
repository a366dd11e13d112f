"""Records of diagnoses: three findings, drawn proofs, an exception, nothing found, markup in names."""

from vistorch.debug.diagnose.finding import BAD, DOUBTFUL, EXACT, LINEAGE, MEASURED, WRONG, Finding
from vistorch.debug.diagnose.pictures import samples_of
from vistorch.debug.diagnose.record import DiagnoseRecord
from vistorch.debug.diagnose.trial import Tried
from vistorch.debug.line_lookup import Line

RULES = [("used twice", "gradients used twice", True), ("same batch", "batches that repeat", False)]


def line(number, text, cell=5):
    return Line("<ipython-input-5-example>", number, "<module>", text, cell)


def record(findings, count=None, **more):
    return DiagnoseRecord(
        "cell [5]",
        findings,
        len(findings) if count is None else count,
        RULES,
        64,
        64,
        [2.3, float("nan")],
        **more,
    )


def three():
    return record(
        [
            Finding(
                "cleared",
                WRONG,
                EXACT,
                "Every gradient is cleared before opt.step() can use it.",
                line(8, "opt.zero_grad()"),
                "clears it",
                related=[(line(7, "loss.backward()"), "makes it"), (line(9, "opt.step()"), "finds nothing")],
                proof=[("steps", 64), ("steps that found cleared gradients", 64)],
                confirm=("next(net.parameters()).grad", "None"),
                cure=[(8, "-", "opt.zero_grad()"), (9, "+", "opt.zero_grad()")],
                advice="Clear gradients before the backward pass.",
                tried=Tried(
                    "mean losses of five parts of the first 64 steps",
                    [2.23, 2.11, 1.87, 1.6, 1.21],
                    [2.23, 2.24, float("nan"), 2.22, 123456.0],
                    "With it the finding is gone. The loss falls.",
                ),
            ),
            Finding(
                "soft twice",
                WRONG,
                LINEAGE,
                "cross_entropy takes scores, and is given the result of softmax.",
                line(3, "nn.Softmax(dim=1)", 4),
                "softmax",
                layer="net[3]",
                proof=[("passes", 64)],
                unless="bounded scores are wanted.",
                cure=[(3, "-", "    nn.Softmax(dim=1),")],
                tried=Tried(refused="the program writes log.txt"),
            ),
            Finding(
                "dead units",
                DOUBTFUL,
                MEASURED,
                "94 % of the units of relu are 0 for every sample.",
                None,
                layer="net[1]",
                proof=[("share", "94 %")],
            ),
        ],
        5,
    )


def failed():
    return record(
        [
            Finding(
                "shapes",
                BAD,
                EXACT,
                "net[1] takes 84 features, 16 arrive.",
                line(6, "out = net(x)"),
                "does not fit",
            )
        ]
    )


def labels():
    return record(
        [
            Finding(
                "out of range",
                BAD,
                EXACT,
                "Label 4 is no class: there are 4, from 0 to 3.",
                line(9, "loss = F.cross_entropy(out, y + 1)"),
                "takes classes",
                proof=[("first such sample of the batch", 5), ("labels", "1 to 4"), ("classes", 4)],
                samples=samples_of([1, 2, 3, 1, 2, 4, 4, 1, 2, 3, 4, 1], [5, 6, 10]),
            ),
            Finding(
                "big start",
                WRONG,
                MEASURED,
                "The model is given numbers from 0 to 255 as they are.",
                line(4, "net(x)"),
                "not scaled",
                proof=[("root mean square of the inputs", "147"), ("as layers expect", "about 1")],
            ),
            Finding(
                "sorted",
                WRONG,
                MEASURED,
                "Batches are sorted by class.",
                line(4, "net(x)"),
                "keeps the order",
                proof=[("entropy of labels in a batch", "0.17"), ("in shuffled batches", "2.02 to 2.21")],
            ),
        ]
    )


def evil():
    name = "<img src=x onerror=alert(1)>"
    return record(
        [
            Finding(
                "not held",
                WRONG,
                EXACT,
                f"{name} is in no optimizer.",
                line(2, name),
                name,
                layer=name,
                proof=[(name, name)],
                confirm=(name, name),
                unless=name,
                advice=name,
            )
        ],
        failures=[name],
    )


EXAMPLES = {"three": three, "labels": labels, "failed": failed, "nothing": lambda: record([]), "evil": evil}
