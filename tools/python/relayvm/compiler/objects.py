"""What all that programs are made of has, as TVM's Object and Node."""


class Object:
    """A thing of the compiler's: two are the same where they are one object."""

    __slots__ = ()

    def same_as(self, other):
        """Whether it is the same object."""
        return self is other


class Node(Object):
    """A part of a program, which has text."""

    __slots__ = ()

    def script(self, **config):
        """Relay text for people. config: how TVM writes TVMScript, which is not read."""
        return str(self)

    def show(self, style=None, black_format=None, **config):
        """Prints it."""
        print(self.script())
