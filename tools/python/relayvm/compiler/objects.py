"""What all that programs are made of has, as TVM's Object and Node."""


class Object:
    """A thing of the compiler's: two are the same where they are one object."""

    __slots__ = ()

    def same_as(self, other):
        """Whether it is the same object."""
        return self is other


class VirtualDevice(Object):
    """A device, the target that programs for it are made for, and a place in its memory; there is the processor alone."""

    def __init__(self, device=None, target=None, memory_scope=""):
        self.device, self.target, self.memory_scope = device, target, memory_scope

    @property
    def device_type(self):
        """The number of the device's kind, -1 where it has none."""
        return -1 if self.device is None else self.device.device_type

    device_type_int = device_type

    @property
    def virtual_device_id(self):
        """The device's number, -1 where it has none."""
        return -1 if self.device is None else self.device.device_id

    def __repr__(self):
        return f"VirtualDevice({self.device!r}, {self.target!r})"


ANYWHERE = VirtualDevice()


class Node(Object):
    """A part of a program, which has text."""

    __slots__ = ()

    def script(self, **config):
        """Relay text for people. config: how TVM writes TVMScript, which is not read."""
        return str(self)

    def show(self, style=None, black_format=None, **config):
        """Prints it."""
        print(self.script())
