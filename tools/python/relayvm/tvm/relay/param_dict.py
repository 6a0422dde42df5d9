"""tvm.relay.param_dict: weights as bytes."""
from ..runtime.params import load_param_dict, save_param_dict

__all__ = ["load_param_dict", "save_param_dict"]
