"""The standard definitions and tensor arrays in a module: TVM's Prelude. The module is one whose functions can be set (tvm.IRModule)."""
from .std import definitions_of_std, names_of_std
from .tensor_arrays import DTYPES, StaticTensorArrayOps, TensorArrayOps, dynamic_type, get_name, get_name_static



class Prelude:
    """The standard definitions in a module: `hd`, `map`, `foldl` ... are their GlobalVars. The definitions of tensor arrays (get_type,
    get_global_var, get_tensor_ctor, and those of static shapes) come when they are asked for."""

    def __init__(self, mod):
        self.mod = mod
        self.load_prelude()

    def load_prelude(self):
        """Adds the definitions."""
        types = {name: text for dtype in DTYPES for name, text in dynamic_type(dtype).items()}
        self.mod._define({**definitions_of_std("prelude.rly"), **types})
        for name in names_of_std("prelude.rly"):
            setattr(self, name, self.mod.get_global_var(name))

        self.mod._later = self._define_later

    def _define_later(self, name):
        """Definitions of tensor arrays, where a name is one of theirs."""
        dtype = next((dtype for dtype in DTYPES if name.startswith("tensor_") and name.endswith("_" + dtype)), None)
        if dtype is not None:
            self._dynamic(dtype)

    def _dynamic(self, dtype):
        TensorArrayOps(self, dtype).register()

    def get_name(self, canonical, dtype):
        """The name of a definition for tensors of a dtype: "tensor_array_read" of "int32" is tensor_array_read_int32."""
        return get_name(canonical, dtype)

    def get_global_var(self, canonical, dtype):
        """The GlobalVar of an operation of tensor arrays."""
        self._dynamic(dtype)
        return self.mod.get_global_var(get_name(canonical, dtype))

    def get_type(self, canonical, dtype):
        """The type of the tensors in tensor arrays: get_type("tensor_t", "float32")."""
        self._dynamic(dtype)
        return self.mod.get_global_type_var(get_name(canonical, dtype))

    def get_tensor_ctor(self, canonical, dtype):
        """A constructor of it: "tensor_nil", "tensor0" ... "tensor6", by the rank."""
        self._dynamic(dtype)
        return self.mod.get_constructor(get_name("tensor_t", dtype), get_name(canonical, dtype))

    def get_var(self, canonical, dtype):
        """As `get_tensor_ctor`."""
        return self.get_tensor_ctor(canonical, dtype)

    def get_ctor(self, ty_name, canonical, dtype):
        """A constructor of a type by both names."""
        self._dynamic(dtype)
        return self.mod.get_constructor(get_name(ty_name, dtype), get_name(canonical, dtype))

    def get_name_static(self, canonical, dtype, shape, batch_dim=None):
        """The name of a definition for tensors of a shape."""
        return get_name_static(canonical, dtype, shape, batch_dim)

    def get_global_var_static(self, canonical, dtype, shape, batch_dim=None):
        """The GlobalVar of an operation that `StaticTensorArrayOps` defined."""
        return self.mod.get_global_var(get_name_static(canonical, dtype, shape, batch_dim))

    def get_type_static(self, canonical, dtype, shape):
        """The type of the tensors of a shape."""
        return self.mod.get_global_type_var(get_name_static(canonical, dtype, shape))

    def get_tensor_ctor_static(self, name, dtype, shape):
        """A constructor of it: "tensor_nil" or "tensor_constructor"."""
        return self.mod.get_constructor(get_name_static("tensor_t", dtype, shape), get_name_static(name, dtype, shape))

    def get_ctor_static(self, ty_name, name, dtype, shape):
        """A constructor of a type by both names."""
        return self.mod.get_constructor(get_name_static(ty_name, dtype, shape), get_name_static(name, dtype, shape))

    def get_var_static(self, canonical, dtype, shape, batch_dim=None):
        """As `get_global_var_static`."""
        return self.get_global_var_static(canonical, dtype, shape, batch_dim)


__all__ = ["Prelude", "StaticTensorArrayOps", "TensorArrayOps", "get_name", "get_name_static"]
