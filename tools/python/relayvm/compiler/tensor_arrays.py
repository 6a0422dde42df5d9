"""Tensor arrays: lists of tensors that programs read, write, stack and split. Definitions in Relay text, which a module gets when they
are asked for; `prelude.Prelude` has their names.

Tensors of any rank are of one type for each dtype, tensor_float32_t, whose constructors are for ranks 0 to 6; those of a static shape
are of a type of their own, static_tensor_float32_2_any_t.
"""
import re

_MAX_RANK = 6
DTYPES = ("float32", "float16", "float64", "int32", "uint8", "int64")  # whose types are there from the start


def get_name(canonical, dtype):
    """The name of a definition for tensors of a dtype."""
    return f"tensor_{dtype}_t" if canonical == "tensor_t" else f"{canonical}_{dtype}"


def _is_any(dim):
    return not isinstance(dim, int)


def _shape_name(shape):
    return "_".join("any" if _is_any(dim) else str(dim) for dim in shape) or "scalar"


def get_name_static(canonical, dtype, shape, batch_dim=None):
    """The name of a definition for tensors of a shape."""
    if canonical == "tensor_t":
        return f"static_tensor_{dtype}_{_shape_name(shape)}_t"
    batch = "" if batch_dim is None or canonical in ("tensor_constructor", "tensor_nil") else f"batch{batch_dim}_"
    return f"{canonical}_{dtype}_{batch}{_shape_name(shape)}"


def _tensor(shape, dtype):
    return f"Tensor[({', '.join('?' if _is_any(dim) else str(dim) for dim in shape)}), {dtype}]" if shape else dtype


# What is alike for both: name = the operations' suffix, tensor = the type, result = that of what is longer, longer = the suffix of its operations.
_LISTS = """
def @tensor_array_{name}(%length: int32) -> List[{tensor}] {{
  if (less(%length, 1)) {{ Nil }} else {{ Cons(tensor_nil_{name}, @tensor_array_{name}(subtract(%length, 1))) }}
}}
def @tensor_array_read_{name}(%array: List[{tensor}], %index: int32) -> {tensor} {{ @nth(%array, %index) }}
def @tensor_array_write_{name}(%array: List[{tensor}], %index: int32, %value: {tensor}) -> List[{tensor}] {{ @update(%array, %index, %value) }}
def @tensor_array_scatter_from_{name}(%array: List[{tensor}], %indices: Tensor[(?), int32], %values: List[{tensor}], %i: int32) -> List[{tensor}] {{
  match (%values) {{
    Nil => %array,
    Cons(%value, %rest) => @tensor_array_scatter_from_{name}(@update(%array, take(%indices, %i), %value), %indices, %rest, add(%i, 1))
  }}
}}
def @tensor_array_scatter_{name}(%array: List[{tensor}], %indices: Tensor[(?), int32], %values: List[{tensor}]) -> List[{tensor}] {{
  @tensor_array_scatter_from_{name}(%array, %indices, %values, 0)
}}
def @tensor_array_split_from_{name}(%array: List[{result}], %value: {tensor}, %lengths: Tensor[(?), int32], %i: int32, %begin: int32)
    -> List[{result}] {{
  if (less(%i, take(shape_of(%lengths, dtype="int32"), 0))) {{
    let %end = add(%begin, take(%lengths, %i));
    let %written = @update(%array, %i, @tensor_take_{name}(%value, %begin, %end));
    @tensor_array_split_from_{name}(%written, %value, %lengths, add(%i, 1), %end)
  }} else {{ %array }}
}}
def @tensor_array_split_{name}(%array: List[{result}], %value: {tensor}, %lengths: Tensor[(?), int32]) -> List[{result}] {{
  @tensor_array_split_from_{name}(%array, %value, %lengths, 0, 0)
}}
def @tensor_array_stack_{name}(%array: List[{tensor}]) -> {stacked} {{
  @foldr1(@tensor_concatenate_{longer}, @map(@tensor_expand_dims_{name}, %array))
}}
def @tensor_array_read_all_{name}(%array: List[{tensor}], %indices: Tensor[(?), int32], %i: int32) -> List[{tensor}] {{
  if (less(%i, take(shape_of(%indices, dtype="int32"), 0))) {{
    Cons(@nth(%array, take(%indices, %i)), @tensor_array_read_all_{name}(%array, %indices, add(%i, 1)))
  }} else {{ Nil }}
}}
def @tensor_array_gather_{name}(%array: List[{tensor}], %indices: Tensor[(?), int32]) -> {stacked} {{
  @tensor_array_stack_{name}(@tensor_array_read_all_{name}(%array, %indices, 0))
}}
"""
_UNSTACK = """
def @{function}_from(%tensor: {whole}, %i: int32) -> List[{tensor}] {{
  if (less(%i, take(shape_of(%tensor, dtype="int32"), 0))) {{
    Cons({constructor}(take(%tensor, %i, axis=0)), @{function}_from(%tensor, add(%i, 1)))
  }} else {{ Nil }}
}}
def @{function}(%tensor: {whole}) -> List[{tensor}] {{ @{function}_from(%tensor, 0) }}
"""
_STATIC = """
def @tensor_get_data_{name}(%tensor: {tensor}) -> {whole} {{ match? (%tensor) {{ tensor_constructor_{name}(%x) => %x }} }}
def @tensor_take_{name}(%tensor: {tensor}, %lower: int32, %upper: int32) -> {result} {{
  match? (%tensor) {{ tensor_constructor_{name}(%x) => tensor_constructor_{flat}(take(%x, arange(%lower, %upper, 1, dtype="int32"), axis=0)) }}
}}
def @tensor_concatenate_{name}(%a: {tensor}, %b: {tensor}) -> {result} {{
  match? (%a) {{ tensor_constructor_{name}(%x) => {{
    match? (%b) {{ tensor_constructor_{name}(%y) => tensor_constructor_{flat}(concatenate((%x, %y))) }}
  }} }}
}}
def @tensor_open_{name}(%tensor: {tensor}) -> {result} {{ match? (%tensor) {{ tensor_constructor_{name}(%x) => tensor_constructor_{flat}(%x) }} }}
def @tensor_array_concat_{name}(%array: List[{tensor}]) -> {result} {{
  @foldr1(@tensor_concatenate_{flat}, @map(@tensor_open_{name}, %array))
}}
"""
_EXPAND = """
def @tensor_expand_dims_{name}(%tensor: {tensor}) -> {stacked} {{
  match? (%tensor) {{ tensor_constructor_{name}(%x) => tensor_constructor_{longer}(expand_dims(%x, axis=0)) }}
}}
"""


def _by_name(text):
    """{name: definition}, of text with many."""
    parts = re.split(r"^(?=def @|type )", text, flags=re.MULTILINE)
    return {re.match(r"(?:def @|type )(\w+)", part)[1]: part for part in parts if part.strip()}


def dynamic_type(dtype):
    """The definition of the type of tensors of any rank."""
    constructors = "".join(f"tensor{rank}_{dtype}({_tensor('?' * rank, dtype)}), " for rank in range(_MAX_RANK + 1))
    return _by_name(f"type tensor_{dtype}_t {{ tensor_nil_{dtype}, {constructors}}}\n")


def _dynamic(dtype):
    """Definitions for tensors of any rank."""
    tensor = f"tensor_{dtype}_t"

    def clauses(first, last, form):
        return ", ".join(f"tensor{rank}_{dtype}(%x{rank}) => " + form.format(r=rank, next=rank + 1, d=dtype) for rank in range(first, last + 1))

    def function(name, params, first, last, form):
        return f"def @{name}_{dtype}(%tensor: {tensor}{params}) -> {tensor} {{ match? (%tensor) {{ {clauses(first, last, form)} }} }}\n"
    text = function("tensor_take", ", %lower: int32, %upper: int32", 1, _MAX_RANK,
                    "tensor{r}_{d}(take(%x{r}, arange(%lower, %upper, 1, dtype=\"int32\"), axis=0))")
    text += function("tensor_expand_dims", "", 0, _MAX_RANK - 1, "tensor{next}_{d}(expand_dims(%x{r}, axis=0))")
    text += function("tensor_concatenate", f", %other: {tensor}", 1, _MAX_RANK,
                     "{{ match? (%other) {{ tensor{r}_{d}(%y{r}) => tensor{r}_{d}(concatenate((%x{r}, %y{r}))) }} }}")
    text += _LISTS.format(name=dtype, tensor=tensor, result=tensor, longer=dtype, stacked=tensor)
    text += f"def @tensor_array_concat_{dtype}(%array: List[{tensor}]) -> {tensor} {{ @foldr1(@tensor_concatenate_{dtype}, %array) }}\n"
    for rank in range(1, _MAX_RANK + 1):
        text += _UNSTACK.format(function=f"tensor_array_unstack_tensor{rank}_{dtype}", whole=_tensor("?" * rank, dtype), tensor=tensor,
                                constructor=f"tensor{rank - 1}_{dtype}")
    return {**dynamic_type(dtype), **_by_name(text)}


def _static_type(dtype, shape):
    name = f"{dtype}_{_shape_name(shape)}"
    return f"type static_tensor_{name}_t {{ tensor_nil_{name}, tensor_constructor_{name}({_tensor(shape, dtype)}) }}\n"


def _static(dtype, shape, is_whole=True):
    """Definitions for tensors of a shape. is_whole: with those for stacks of them."""
    longer = ["?", *shape]
    names = dict(name=f"{dtype}_{_shape_name(shape)}", tensor=get_name_static("tensor_t", dtype, shape), whole=_tensor(shape, dtype),
                 longer=f"{dtype}_{_shape_name(longer)}", stacked=get_name_static("tensor_t", dtype, longer))
    definitions = _by_name(_static_type(dtype, shape) + _static_type(dtype, longer) + _EXPAND.format(**names))
    if shape:
        flat = ["?", *shape[1:]]
        names.update(flat=f"{dtype}_{_shape_name(flat)}", result=get_name_static("tensor_t", dtype, flat))
        definitions |= _by_name(_static_type(dtype, flat) + _static_type(dtype, shape[1:]) + _STATIC.format(**names))
        definitions |= _by_name(_UNSTACK.format(function=get_name_static("tensor_array_unstack", dtype, shape), whole=names["whole"],
                                                tensor=get_name_static("tensor_t", dtype, shape[1:]),
                                                constructor=get_name_static("tensor_constructor", dtype, shape[1:])))
        if is_whole and flat != list(shape):
            definitions |= _static(dtype, flat, False)
    else:
        definitions |= _by_name(_STATIC.format(**names, flat="", result="").split("def @tensor_take")[0])
    if is_whole:
        lists = _by_name(_LISTS.format(**{"result": "", **names}))
        definitions |= {name: text for name, text in lists.items() if shape or "array_split" not in name}
        definitions |= _static(dtype, longer, False)
    return definitions


class TensorArrayOps:
    """The definitions for tensors of a dtype and any rank, to `register` in a prelude's module."""

    def __init__(self, prelude, dtype):
        self.prelude, self.dtype = prelude, dtype

    def get_name(self, canonical):
        """The name of a definition."""
        return get_name(canonical, self.dtype)

    def get_global_var(self, canonical):
        """The GlobalVar of an operation."""
        return self.prelude.mod.get_global_var(self.get_name(canonical))

    def register(self):
        """Adds the definitions that the module has not."""
        self.prelude.mod._define(_dynamic(self.dtype))


class StaticTensorArrayOps:
    """The definitions for tensors of a dtype and shape, to `register` in a prelude's module. Each takes as many tensors, indices and lengths
    as there are."""

    def __init__(self, prelude, dtype, shape, batch_dim=None):
        self.prelude, self.dtype, self.shape, self.batch_dim = prelude, dtype, list(shape), batch_dim

    def get_name(self, canonical):
        """The name of a definition."""
        return get_name_static(canonical, self.dtype, self.shape)

    def get_global_var(self, canonical):
        """The GlobalVar of an operation."""
        return self.prelude.mod.get_global_var(self.get_name(canonical))

    def get_ctor(self, canonical):
        """A constructor: "tensor_nil" or "tensor_constructor"."""
        return self.prelude.get_tensor_ctor_static(canonical, self.dtype, self.shape)

    def register(self):
        """Adds the definitions that the module has not."""
        self.prelude.mod._define(_static(self.dtype, self.shape))

    def define_tensor_array_scatter(self, indices_shape=None, force_update=False):
        """As `register`."""
        self.register()

    def define_tensor_array_split(self, value_shape=None, lengths_shape=None, force_update=False):
        """As `register`."""
        self.register()

    def define_tensor_array_gather(self, indices_shape=None, force_update=False):
        """As `register`."""
        self.register()

    def define_tensor_get_data(self, shape=None):
        """As `register`."""
        self.register()
