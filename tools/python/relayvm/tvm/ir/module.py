"""tvm.ir.IRModule: a module whose functions can be set."""
from ...compiler import Module, _name_of, parse
from ...compiler import relay as _relay
from ...compiler.json_graph import load_json, save_json
from ...compiler.std import definitions_of_std
from ...compiler.text import VERSION, text_of
from ...compiler.typed import infer
from ...errors import Unsupported


class _Functions(dict):
    """Functions by GlobalVar; by name too."""

    def __missing__(self, name):
        for var, function in self.items():
            if var.name_hint == _name_of(name):
                return function
        raise KeyError(name)


class IRModule(Module):
    """A module whose functions can be set, as in TVM: mod["main"] = function. What is set stays as it is until a pass or a compilation
    takes the module: then it is made a program, and what is wrong with it is said.

    functions: by `relay.GlobalVar` or name. type_definitions: `relay.TypeData` by `relay.GlobalTypeVar`, or a Module that has those that
    the functions use.
    """

    _has_calls_in_place = True

    def __init__(self, functions=None, type_definitions=None, attrs=None, global_infos=None):
        self._std = None  # what the base is made of, where that is standard definitions alone
        self._sources = {}  # texts that it was read of, by name
        self._set, self._types_set, self._vars, self._attrs = {}, {}, {}, dict(attrs or {})
        self._made = self._base = None
        if isinstance(type_definitions, Module):
            super().__init__(None, type_definitions)
            type_definitions = None
        else:
            super().__init__(functions if not hasattr(functions, "items") else None)
        for var, data in (type_definitions or {}).items():
            self[var] = data
        if hasattr(functions, "items"):
            for var, function in functions.items():
                self[var] = function

    # What Module keeps: made of what was set, when it is asked for.

    @property
    def _native(self):
        if self._made is None:
            base = self._base
            if self._types_set:
                base = self._base_with_types()
            self._made = base._made_with(self._all_set(base))
            self._with_types = self._defined = None
        return self._made

    def _base_with_types(self):
        """A module without functions that has the types of the base and those that were set."""
        definitions = [data._text() for data in {**self._base.type_definitions, **self._types_set}.values()]
        return Module(None, parse("#[version = \"0.0.5\"]\n" + "\n".join(definitions) + "\ndef @main() { () }"))

    @_native.setter
    def _native(self, native):
        self._made, self._base, self._std = native, Module(native), None
        self._base._has_calls_in_place = True

    def _all_set(self, base):
        if base is self._base:
            return self._set
        return {**{name: self._base[name] for name in self._base._names}, **self._set}

    @property
    def _names(self):
        gone = {name for name, function in self._set.items() if function is None}
        return [n for n in dict.fromkeys([*self._base._names, *self._set]) if n not in gone]

    def _changed(self):
        self._made = None
        self._with_types, self._defined, self._nodes = None, None, {}

    # TVM's ways to read and set.

    def __setitem__(self, var, value):
        if isinstance(value, _relay.TypeData):
            self._types_set[str(var)] = value
        else:
            name = _name_of(var)
            if not isinstance(value, _relay.Function):
                value = _relay.Function(_relay._free_vars(value), value)
            self._set[name] = value
            if isinstance(var, _relay.GlobalVar):
                self._vars.setdefault(name, var)
        self._changed()

    def _define_as(self, functions, variables):
        """Sets functions by name; variables: the GlobalVars of them that are there already."""
        self._set.update(functions)
        self._vars.update(variables)
        self._changed()

    _later = None  # defines functions that are asked for by name: a Prelude

    def __getitem__(self, var):
        if isinstance(var, _relay.GlobalTypeVar):
            return self.type_definitions[str(var)]
        name = _name_of(var)
        if self._set.get(name) is not None:
            return self._set[name]
        if name not in self._names and self._later is not None:
            self._later(name)
        if name not in self._names:
            raise KeyError(f"there is no function {name}; there are {', '.join(self._names)}")
        return self._base[name] if name in self._base._names else super().__getitem__(name)

    def __delitem__(self, var):
        self.remove(var)

    def remove(self, var):
        """Takes a function away."""
        self[var]
        self._set[_name_of(var)] = None
        self._changed()

    def __len__(self):
        return len(self._names)

    def __iter__(self):
        return iter(self.get_global_vars())

    @property
    def functions(self):
        """Functions by their `relay.GlobalVar`s."""
        return _Functions((self.get_global_var(name), self[name]) for name in self._names)

    def items(self):
        """Pairs of `relay.GlobalVar` and `relay.Function`."""
        return list(self.functions.items())

    def update_func(self, var, func):
        """mod[var] = func"""
        self[var] = func

    def update(self, other):
        """Takes another module's functions and types."""
        for name, data in other.type_definitions.items():
            if name not in self.type_definitions:
                self._types_set[name] = data
        for name in other._names:
            self._set[name] = other[name]
        self._changed()

    def import_from_std(self, file_to_import):
        """Adds the standard definitions of a file: "prelude.rly", "nat.rly", "gradient.rly"."""
        self._define(definitions_of_std(file_to_import))

    def _define(self, definitions):
        """Adds definitions of Relay text, by name, that it has not."""
        if not definitions:
            return
        if self._std is None and (self._base._names or self._base.type_definitions):
            more = Module(parse(VERSION + "".join(definitions.values()))._native)
            self._types_set.update((name, data) for name, data in more.type_definitions.items() if name not in self.type_definitions)
            self._set.update((name, more[name]) for name in more._names if name not in self._names)
            self._changed()
            return
        if self._std is not None and definitions.keys() <= self._std.keys():
            return
        std = {**(self._std or {}), **definitions}
        self._native = parse(VERSION + "".join(std.values()))._native
        self._std = std
        self._changed()

    def get_global_var(self, name):
        if name not in self._names:
            raise ValueError(f"there is no function {name}; there are {', '.join(self._names)}")
        if name not in self._vars:
            self._vars[name] = _relay.GlobalVar(name)
        return self._vars[name]

    def contains_global_var(self, name):
        """Whether it has a function of that name."""
        return name in self._names

    @property
    def type_definitions(self):
        return {data.header: data for data in {**self._base.type_definitions, **self._types_set}.values()}

    def get_global_type_var(self, name):
        """The `relay.GlobalTypeVar` of a type."""
        if name not in self.type_definitions:
            raise ValueError(f"there is no type {name}; there are {', '.join(self.type_definitions)}")
        return self.type_definitions[name].header

    def get_global_type_vars(self):
        """Those of all types."""
        return [data.header for data in self.type_definitions.values()]

    def get_type(self, name):
        """(the type's `relay.GlobalTypeVar`, its constructors ...)."""
        data = self.type_definitions[self.get_global_type_var(name)]
        return (data.header, *data.constructors)

    def get_constructor(self, tag, name=None):
        """A `relay.Constructor`, by its tag, or by the names of its type and its own."""
        if name is None:
            found = [c for data in self.type_definitions.values() for c in data.constructors if c.tag == tag]
            if not found:
                raise ValueError(f"there is no constructor with the tag {tag}")
            return found[0]
        for constructor in self.type_definitions[str(tag)].constructors if str(tag) in self.type_definitions else ():
            if constructor.name_hint == name:
                return constructor
        raise KeyError(f"there is no constructor {name} of a type {tag}")

    @property
    def attrs(self):
        """Attributes of the module, None where it has none."""
        return _relay.Attrs(self._attrs) if self._attrs else None

    def get_attr(self, attr_key):
        """An attribute, or None."""
        return self._attrs.get(attr_key)

    def with_attr(self, attr_key, attr_value):
        """The module with an attribute."""
        return self._with_attrs({**self._attrs, attr_key: attr_value})

    def with_attrs(self, attr_map):
        """The module with the attributes of a dict besides."""
        return self._with_attrs({**self._attrs, **attr_map})

    def without_attr(self, attr_key):
        """The module without an attribute."""
        return self._with_attrs({key: value for key, value in self._attrs.items() if key != attr_key})

    def _with_attrs(self, attrs):
        new = self._with_set(dict(self._set), is_typed=False)
        new._attrs = attrs
        return new

    @property
    def global_var_map_(self):
        """Its `relay.GlobalVar`s, by name."""
        return {var.name_hint: var for var in self.get_global_vars()}

    @property
    def global_type_var_map_(self):
        """Its `relay.GlobalTypeVar`s, by name."""
        return {var.name_hint: var for var in self.get_global_type_vars()}

    global_infos = property(lambda self: {}, doc="What all functions know: programs are Relay here, which has none.")

    def update_global_info(self, name, global_info):
        """Refused: programs are Relay here, which has none."""
        raise Unsupported("update_global_info: programs are Relay here, which has no such infos")

    @property
    def source_map(self):
        """The texts that it was read of, by their names."""
        from . import SourceMap  # which needs this class
        sources = SourceMap()
        for name, text in self._sources.items():
            sources.add(name, text)
        return sources

    def functions_items(self):
        """Pairs of `relay.GlobalVar` and `relay.Function`, by name."""
        return sorted(self.items(), key=lambda pair: pair[0].name_hint)

    def _like(self, native):
        new = type(self)(native)
        new._attrs = dict(self._attrs)
        return new

    def _for_pass(self, needs_types):
        return self._inferred() if needs_types else self

    def _inferred(self, who=""):
        """The module, its functions in the form in which they are, the nodes of which know their types."""
        functions = infer(self, self._base, self._set, who)
        return self if functions is self._set else self._with_set(functions)

    def _changed_to(self, functions, who="", infers=True):
        changed = self._with_set({**self._set, **{_name_of(name): function for name, function in functions.items()}}, infers)
        return changed._inferred(who) if infers else changed

    def _with_set(self, functions, is_typed=True):
        new = type(self)(self._base._typed if is_typed and self._base._names else self._base._native)
        new._set, new._types_set, new._vars, new._attrs = functions, dict(self._types_set), dict(self._vars), dict(self._attrs)
        new._sources = dict(self._sources)
        new._changed()
        return new

    def _with_main(self, function):
        self["main"] = function
        return self

    @classmethod
    def from_expr(cls, expr, functions=None, type_defs=None):
        """A module whose main is a function; another expression is its body, and the variables that it reads are the parameters."""
        if isinstance(type_defs, dict) or type_defs is None:
            new = cls(functions, type_defs)
        else:
            new = cls(None, type_defs)
        new["main"] = expr
        return new

    def astext(self, show_meta_data=True, annotate=None):
        """Relay text, of the functions as they were set, with the version and the metadata. annotate: a function that gives the text
        behind an expression, a comment."""
        return text_of(self, show_meta_data, annotate)

    def __str__(self):
        return text_of(self, is_whole=False)

    def __reduce__(self):
        return load_json, (save_json(self),)
