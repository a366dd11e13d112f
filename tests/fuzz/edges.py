"""Lines at the edges of what programs usually do: templates as in `program.py`, each family by its name.

Invariant: what a line leaves behind is a tensor of floats, whatever types it went through.
"""

# a leaf that is reshaped in place, alone or with aliases
LEAVES = (
    "with L.no_grad(): {a}.t_()",
    "with L.no_grad(): {a}.transpose_(0, -1)",
    "with L.no_grad(): {a}.unsqueeze_(0)",
    "with L.no_grad(): {a}.squeeze_()",
    "with L.no_grad(): {a}.swapaxes_(0, -1); {a}.mul_(1.5)",
    "{n} = {a}.detach()",
    "{n} = {a}[0]",
    "{n} = {a} * 2",
    "with L.no_grad(): {n} = {a}.view(-1)",
    "{n} = L.nn.Parameter({x}.detach().clone())",
    "{n} = L.nn.Parameter({x}.detach())\nwith L.no_grad(): {n}.t_()",
    "{a}.grad = None; {a}.data = {a}.data.t()",
)
# operands without dims, and results without dims that are written
ZERO_DIMS = (
    "{n} = {x}.sum(); {n}.addcmul_({x}.mean(), {x}.sum().detach())",
    "{n} = {x}.mean(); {n}.addcdiv_({x}.sum(), {x}.sum().detach().abs() + 1)",
    "{n} = L.tensor(0.5, dtype=L.float64).addcmul_(L.tensor(2.0).double(), L.tensor(3.0).double()) * {x}",
    "{n} = L.lerp({x}, {y}, L.tensor(0.3, dtype={x}.dtype))",
    "{n} = {x}.sum().lerp_({x}.mean(), 0.3)",
    "{n} = {x} * {x}.sum()",
    "{n} = {x}.clamp({x}.min().detach(), {x}.max().detach())",
    "{n} = {x}.masked_fill({x} > 0, {x}.sum())",
    "{n} = {x}.sum().mul_(2).add_({x}.mean()).sub_(0.5)",
    "{n} = {x}.sum().clone().pow_(2).div_({y}.detach().abs().sum() + 1)",
    "{n} = L.where({x} > {x}.mean(), {x}, {x}.sum())",
    "{n} = {x}.sum().scatter_add(0, L.tensor(0), {x}.mean())",
    "{n} = {x}.sum().index_select(0, L.tensor([0])).squeeze()",
    "{n} = L.atan2({x}.sum(), {y}) + L.maximum({x}.mean(), {y})",
    "{n} = {x}.sum().cumsum(0) * {x}.mean().softmax(0)",
    "{x}.copy_({x}.sum().detach())",
    "{x}.mul_({x}.detach().mean())",
    "{x}[{i}] = {x}.detach().sum()",
    "{x}.fill_({x}.detach().mean())",
)
INFERENCE = (
    "with L.inference_mode(): {n} = {x} * 2",
    "with L.inference_mode(): {n} = L.func.grad(lambda v: (v * v).sum())({x})",
    "with L.inference_mode(): {n} = L.func.grad(lambda v: (v * v * {y}).sum())({x})",
    "with L.inference_mode(): {n} = L.func.vjp(lambda v: v.sin(), {x})[1]({x})[0]",
    "with L.inference_mode(): {n} = L.func.jacrev(lambda v: v.sum() * v.mean())({x})",
    "{n} = L.func.grad(lambda v: (v * v * {y}).sum())({x})",
    "with L.no_grad(): {n} = L.func.grad(lambda v: (v * v * {y}).sum())({x})",
    "with L.inference_mode(): {n} = {x}.detach(); {m} = {n} + 1",
    "with L.inference_mode(): {x}.add_(0.5)",
    "with L.inference_mode(False): {n} = {x} * 3",
    "{n} = L.autograd.functional.vjp(lambda v: v * v, {x}, L.ones_like({x}))[1].clone()",
)
HOOKS = (
    "{n} = ({x} * 3).sum(); {n}.register_hook(lambda g: (g.mul_(2), None)[1]); {n}.backward(retain_graph=True)",
    "{n} = {x}.sum() * {x}.mean(); {n}.register_hook(lambda g: (g.add_(1), None)[1]); {n}.backward(retain_graph=True)",
    "{n} = {x}.sum(); {n}.grad_fn; {n}.register_hook(lambda g: g.mul_(2)); {n}.view(()).backward(retain_graph=True)",
    "{n} = ({x} * {y}).sum(); {n}.retain_grad(); {n}.register_hook(lambda g: (g.neg_(), None)[1]); "
    "{n}.backward(retain_graph=True)",
)
COMPLEX = (
    "{n} = ({x} * (1 + 2j)).abs()",
    "{n} = ({x} + 1j).real * 2",
    "{n} = (({x} * 1j) * ({y} + 2j)).imag.clone()",
    "{n} = L.complex({x}.clone(), {x} * 2).abs()",
    "{n} = L.lerp({x}.sum(), {x}.mean(), L.tensor(0.3 + 0.5j, dtype=L.complex128)).abs()",
    "{n} = ({x} * (2 - 1j)).sum().abs()",
    "{n} = ({x}.to(L.complex128) @ {x}.to(L.complex128).mH).real.clone()",
    "{n} = (({x} + 0.5j) * ({y} - 1j).conj()).real.clone()",
    "{n} = ({x}.to(L.complex128) / (1 + {y} * {y} + 1j)).imag.clone()",
    "{n} = ({x} * 1j).exp().real.clone()",
    "{n} = (({x} * {x} + 1) ** (0.5 + 0j)).abs()",
    "{n} = ({x} * (1 + 1j)).mul_(2 - 1j).add_(1j).abs()",
)
CAST = "with L.autocast('cpu', dtype=L.bfloat16): L.manual_seed(1); "
AUTOCAST = tuple(
    CAST + line
    for line in (
        "{n} = ({x}.float() @ {x}.float().transpose(0, -1)).double()",
        "{n} = L.nn.Linear({x}.shape[-1], 2)({x}.float()).double()",
        "{n} = L.nn.LSTM({x}.shape[-1], 2)(L.nn.Linear({x}.shape[-1], {x}.shape[-1])({x}.float()))[0].double()",
        "{n} = L.nn.GRU({x}.shape[-1], 2)(L.nn.Linear({x}.shape[-1], {x}.shape[-1])({x}.float()))[0].double()",
        "{n} = L.nn.RNN({x}.shape[-1], 2)({x}.float())[0].double()",
        "{n} = L.nn.functional.softmax({x}.float(), -1).double()",
        "{n} = L.nn.Conv1d(1, 2, 2)({x}.float().reshape(1, 1, -1)).double()",
        "{n} = L.nn.functional.mse_loss({x}.bfloat16(), {x}.bfloat16() * 2).double()",
        "{n} = L.nn.LayerNorm({x}.shape[-1])(L.nn.Linear({x}.shape[-1], {x}.shape[-1])({x}.float())).double()",
        "{n} = {x} @ {x}.t()",
    )
)
FAMILIES = (LEAVES, ZERO_DIMS, INFERENCE, HOOKS, COMPLEX, AUTOCAST)
