"""cupy's memory pools in Python: addresses without memory, arenas per stream as cupy's are.

Invariant: memory that was freed is given again on the stream it was made on and on no other, first to who asks first.
"""

UNIT = 512


class OutOfMemoryError(MemoryError):
    """As cupy's: made of numbers, or of no sentence."""

    def __init__(self, size, total, limit=0):
        super().__init__(f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes).")


class DriverError(RuntimeError):
    """What the runtime raises."""


def make_memory(runtime, current_stream, capacity=1 << 40):
    """A module that stands in for cupy.cuda.memory."""
    import types

    held = {}
    module = types.SimpleNamespace(
        OutOfMemoryError=OutOfMemoryError, held=held, capacity=capacity, given=[], taken=[]
    )
    addresses = iter(range(1 << 44, 1 << 60, 1 << 36))

    class BaseMemory:
        __slots__ = ("__weakref__", "device_id", "ptr", "size")

    class Memory(BaseMemory):
        def __init__(self, size):
            device = runtime.device
            if held.get(device, 0) + size > module.capacity:
                raise DriverError("cudaErrorMemoryAllocation: out of memory")
            held[device] = held.get(device, 0) + size
            self.ptr, self.size, self.device_id = next(addresses), size, device
            module.taken.append((self.ptr, size))
            import weakref

            weakref.finalize(self, self._freed, device, self.ptr, size)

        @staticmethod
        def _freed(device, ptr, size):
            held[device] -= size
            module.given.append((ptr, size))

    class MemoryPointer:
        def __init__(self, mem, offset):
            self.mem, self.offset = mem, offset

        @property
        def ptr(self):
            return self.mem.ptr + self.offset

        @property
        def device_id(self):
            return self.mem.device_id

    class Pooled(BaseMemory):
        __slots__ = ("chunk", "pool")

        def __init__(self, chunk, pool):
            segment, start, size, _ = self.chunk = chunk
            self.ptr, self.size, self.device_id, self.pool = (
                segment.ptr + start,
                size,
                segment.device_id,
                pool,
            )

        def __del__(self):
            self.pool.free.append(self.chunk)

    class MemoryPool:
        def __init__(self, allocator):
            self.allocator, self.free = allocator, []

        def malloc(self, size):
            if not size:
                empty = BaseMemory()
                empty.ptr, empty.size, empty.device_id = 0, 0, runtime.device
                return MemoryPointer(empty, 0)
            size = -(-size // UNIT) * UNIT
            stream = current_stream().ptr
            for chunk in self.free:
                segment, start, length, made_on = chunk
                if made_on == stream and segment.device_id == runtime.device and length >= size:
                    self.free.remove(chunk)
                    if length > size:
                        self.free.insert(0, (segment, start + size, length - size, made_on))
                    return MemoryPointer(Pooled((segment, start, size, made_on), self), 0)
            try:
                segment = self.allocator(size).mem
            except DriverError:
                self.free_all_blocks()
                try:
                    segment = self.allocator(size).mem
                except DriverError:
                    raise OutOfMemoryError(size, held.get(runtime.device, 0)) from None
            return MemoryPointer(Pooled((segment, 0, size, stream), self), 0)

        def free_all_blocks(self):
            self.free[:] = [chunk for chunk in self.free if chunk[2] != chunk[0].size]

    for cls in (BaseMemory, Memory, MemoryPointer, MemoryPool):
        setattr(module, cls.__name__, cls)
    module.allocator = MemoryPool(lambda size: MemoryPointer(Memory(size), 0)).malloc  # cupy's own
    return module
