"""Standard definitions, as programs write them: lists, options, trees, natural numbers; by TVM's names of the files."""

import re

_PRELUDE = """
type List[A] { Cons(A, List[A]), Nil }
type Option[A] { Some(A), None }
type Tree[A] { Rose(A, List[Tree[A]]) }

def @id[A](%x: A) -> A { %x }
def @compose[A, B, C](%f: fn(B) -> C, %g: fn(A) -> B) -> fn(A) -> C { fn(%x: A) -> C { %f(%g(%x)) } }
def @flip[A, B, C](%f: fn(A, B) -> C) -> fn(B, A) -> C { fn(%y: B, %x: A) -> C { %f(%x, %y) } }
def @iterate[A](%f: fn(A) -> A, %times: int32) -> fn(A) -> A {
  if (less(%times, 1)) { @id } else { @compose(%f, @iterate(%f, subtract(%times, 1))) }
}

def @hd[A](%list: List[A]) -> A { match? (%list) { Cons(%first, _) => %first } }
def @tl[A](%list: List[A]) -> List[A] { match? (%list) { Cons(_, %rest) => %rest } }
def @nth[A](%list: List[A], %index: int32) -> A {
  match? (%list) { Cons(%first, %rest) => { if (equal(%index, 0)) { %first } else { @nth(%rest, subtract(%index, 1)) } } }
}
def @update[A](%list: List[A], %index: int32, %value: A) -> List[A] {
  match? (%list) {
    Cons(%first, %rest) => {
      if (equal(%index, 0)) { Cons(%value, %rest) } else { Cons(%first, @update(%rest, subtract(%index, 1), %value)) }
    }
  }
}
def @length[A](%list: List[A]) -> int32 {
  match (%list) { Nil => 0, Cons(_, %rest) => add(1, @length(%rest)) }
}
def @map[A, B](%f: fn(A) -> B, %list: List[A]) -> List[B] {
  match (%list) { Nil => Nil, Cons(%first, %rest) => Cons(%f(%first), @map(%f, %rest)) }
}
def @foldl[A, B](%f: fn(A, B) -> A, %so_far: A, %list: List[B]) -> A {
  match (%list) { Nil => %so_far, Cons(%first, %rest) => @foldl(%f, %f(%so_far, %first), %rest) }
}
def @foldr[A, B](%f: fn(A, B) -> B, %last: B, %list: List[A]) -> B {
  match (%list) { Nil => %last, Cons(%first, %rest) => %f(%first, @foldr(%f, %last, %rest)) }
}
def @foldr1[A](%f: fn(A, A) -> A, %list: List[A]) -> A {
  match? (%list) { Cons(%only, Nil) => %only, Cons(%first, %rest) => %f(%first, @foldr1(%f, %rest)) }
}
def @sum(%list: List[int32]) -> int32 { @foldl(fn(%a: int32, %b: int32) -> int32 { add(%a, %b) }, 0, %list) }
def @concat[A](%one: List[A], %other: List[A]) -> List[A] {
  match (%one) { Nil => %other, Cons(%first, %rest) => Cons(%first, @concat(%rest, %other)) }
}
def @filter[A](%keep: fn(A) -> bool, %list: List[A]) -> List[A] {
  match (%list) {
    Nil => Nil,
    Cons(%first, %rest) => { if (%keep(%first)) { Cons(%first, @filter(%keep, %rest)) } else { @filter(%keep, %rest) } }
  }
}
def @zip[A, B](%one: List[A], %other: List[B]) -> List[(A, B)] {
  match ((%one, %other)) { (Cons(%a, %as), Cons(%b, %bs)) => Cons((%a, %b), @zip(%as, %bs)), _ => Nil }
}
def @rev[A](%list: List[A]) -> List[A] {
  @foldl(fn(%done: List[A], %next: A) -> List[A] { Cons(%next, %done) }, Nil, %list)
}
def @map_accumr[A, B, C](%f: fn(A, B) -> (A, C), %start: A, %list: List[B]) -> (A, List[C]) {
  match (%list) {
    Nil => (%start, Nil),
    Cons(%first, %rest) => {
      let %later = @map_accumr(%f, %start, %rest);
      let %now = %f(%later.0, %first);
      (%now.0, Cons(%now.1, %later.1))
    }
  }
}
def @map_accuml[A, B, C](%f: fn(A, B) -> (A, C), %start: A, %list: List[B]) -> (A, List[C]) {
  @foldl(fn(%before: (A, List[C]), %next: B) -> (A, List[C]) {
    let %now = %f(%before.0, %next);
    (%now.0, Cons(%now.1, %before.1))
  }, (%start, Nil), %list)
}
def @unfoldr[A, B](%f: fn(A) -> Option[(A, B)], %seed: A) -> List[B] {
  match (%f(%seed)) { None => Nil, Some(%next) => Cons(%next.1, @unfoldr(%f, %next.0)) }
}
def @unfoldl[A, B](%f: fn(A) -> Option[(A, B)], %seed: A) -> List[B] { @rev(@unfoldr(%f, %seed)) }
def @tmap[A, B](%f: fn(A) -> B, %tree: Tree[A]) -> Tree[B] {
  match (%tree) {
    Rose(%value, %parts) => Rose(%f(%value), @map(fn(%part: Tree[A]) -> Tree[B] { @tmap(%f, %part) }, %parts))
  }
}
def @size[A](%tree: Tree[A]) -> int32 {
  match (%tree) { Rose(_, %parts) => add(1, @sum(@map(@size, %parts))) }
}
"""
_NAT = """
type nat { zero, succ(nat) }
def @nat_double(%n: nat) -> nat { @nat_add(%n, %n) }
def @nat_add(%a: nat, %b: nat) -> nat { match (%a) { zero => %b, succ(%less) => succ(@nat_add(%less, %b)) } }
def @nat_nth[A](%list: List[A], %index: nat) -> A {
  match (%index) { zero => @hd(%list), succ(%less) => @nat_nth(@tl(%list), %less) }
}
def @nat_update[A](%list: List[A], %index: nat, %value: A) -> List[A] {
  match (%index) { zero => Cons(%value, @tl(%list)), succ(%less) => Cons(@hd(%list), @nat_update(@tl(%list), %less, %value)) }
}
def @nat_iterate[A](%f: fn(A) -> A, %times: nat) -> fn(A) -> A {
  match (%times) { zero => @id, succ(%less) => @compose(%f, @nat_iterate(%f, %less)) }
}
"""
_GRADIENT = """
type GradCell[T] { Raw(T), One(fn() -> T), Zero(fn() -> T) }
def @FromGradCell[T](%cell: GradCell[T]) -> T { match (%cell) { Raw(%value) => %value, One(%make) => %make(), Zero(%make) => %make() } }
def @AddGradCell[T](%sum: fn(T, T) -> T, %a: GradCell[T], %b: GradCell[T]) -> GradCell[T] {
  match ((%a, %b)) {
    (Zero(_), _) => %b,
    (_, Zero(_)) => %a,
    _ => Raw(%sum(@FromGradCell(%a), @FromGradCell(%b)))
  }
}
def @MultiplyGradCell[T](%product: fn(T, T) -> T, %a: GradCell[T], %b: GradCell[T]) -> GradCell[T] {
  match ((%a, %b)) {
    (Zero(%make), _) => Zero(%make),
    (_, Zero(%make)) => Zero(%make),
    (One(_), _) => %b,
    (_, One(_)) => %a,
    _ => Raw(%product(@FromGradCell(%a), @FromGradCell(%b)))
  }
}
"""
_FILES = {"core.rly": "", "gradient.rly": _GRADIENT, "nat.rly": _NAT, "prelude.rly": _PRELUDE}
_NEEDS = {"nat.rly": "prelude.rly"}


def definitions_of_std(name):
    """{name: definition} of a file of TVM's standard ones, and of those that they need."""
    if name not in _FILES:
        raise ValueError(f"import_from_std: there is no {name}; there are {', '.join(_FILES)}")
    parts = re.split(r"^(?=def @|type )", _FILES[name], flags=re.MULTILINE)
    own = {re.match(r"(?:def @|type )(\w+)", part)[1]: part for part in parts if part.strip()}
    return {**(definitions_of_std(_NEEDS[name]) if name in _NEEDS else {}), **own}


def names_of_std(name):
    """Names of the functions that a file defines."""
    return re.findall(r"def @(\w+)", _FILES[name])
