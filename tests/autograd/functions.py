"""Custom functions that several tests use."""


def square(lib):
    class Square(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x * 2

    return Square


def made(lib, forward, backward, **more):
    """A Function from two plain functions."""
    space = {"forward": staticmethod(forward), "backward": staticmethod(backward), **more}
    return type(lib.autograd.Function)("Made", (lib.autograd.Function,), space)


def inplace(lib):
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    return made(lib, forward, lambda ctx, g: g * 2)
