"""An attribute of an operator for as long as a `with` lasts."""
from ...ir import Op


class TempOpAttr:
    """with TempOpAttr("nn.conv2d", "FTVMLegalize", function): ..."""

    def __init__(self, op_name, attr_key, attr_value):
        self.op, self.attr_key, self.attr_value = Op.get(op_name), attr_key, attr_value

    def __enter__(self):
        self.before = self.op.get_attr(self.attr_key)
        self.op.set_attr(self.attr_key, self.attr_value)
        return self

    def __exit__(self, *_):
        self.op.reset_attr(self.attr_key)
        if self.before is not None:
            self.op.set_attr(self.attr_key, self.before)
