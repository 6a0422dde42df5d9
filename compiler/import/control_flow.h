// Branches and loops over values whose types differ from turn to turn, and lists of tensors.
//
// A sequence whose length is known while the graph is built is a tuple; else a value of the type
// Sequence of the prelude, whose last element comes first. An optional value that is known to be
// there is the value itself; one that is known to be left out has the type NoneType; else it is a
// value of the type Optional. Not thread-safe. Tested by control_flow_test.cc and tests/onnx.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/import/typed_builder.h"

namespace relayvm::import {

// Relay text that defines the types and functions that follow; modules begin with it.
extern const char* const kPrelude;
// A module of these, without an entry.
ir::Module PreludeModule();
// Defines the entry: the prelude goes where nothing of it is used (UsePrelude). `result`: the
// output, or a tuple of several. Fails with the builder's error.
Status DefineEntry(TypedBuilder& b, ir::Module& module, const ir::Function& entry,
                   const Value& result);

// --- Types ---

ir::Type SequenceType(ir::Type element);
ir::Type ListType(ir::Type element);  // what hosts see of a sequence: the first element first
ir::Type OptionalType(ir::Type value);
ir::Type NoneType();
bool IsNone(const Value& v);
// The type of what a Sequence or an Optional of that type holds; null for other types.
ir::Type ElementType(const ir::Type& t, std::string_view adt);
bool IsSequence(const Value& v);  // of either form
// A type of both; null where there is none. Dims that differ are unknown.
ir::Type JoinTypes(const ir::Type& x, const ir::Type& y);
// `v` as a value of a type that JoinTypes made of its own.
Value Coerce(TypedBuilder& b, const Value& v, const ir::Type& type);
// As the type Sequence. REQUIRES: IsSequence. `element` is for a sequence that has none.
Value AsSequence(TypedBuilder& b, const Value& v, const ir::Type& element = nullptr);

// The sequence with one element more.
Value Append(TypedBuilder& b, const Value& sequence, const Value& element);
// A List of the host, as a Sequence.
Value OfList(TypedBuilder& b, const Value& list);

// --- Values of one of several types: OneOf[A, B] of the prelude (ir/one_of.h) ---

bool IsOneOf(const Value& v);
Value IsFirst(TypedBuilder& b, const Value& v);  // REQUIRES: IsOneOf, here and below
// What it holds; the program fails where it is the other one.
Value FirstOf(TypedBuilder& b, const Value& v);
Value SecondOf(TypedBuilder& b, const Value& v);
// JoinTypes, or for tensors that differ in rank or dtype a OneOf. Null where there is none.
ir::Type JoinAny(const ir::Type& x, const ir::Type& y);
// `v` as a value of a type that JoinAny made of its own.
Value CoerceAny(TypedBuilder& b, const Value& v, const ir::Type& type);

// A function of the prelude.
Value CallPrelude(TypedBuilder& b, std::string_view function, const std::vector<Value>& args,
                  const ir::Type& result);

// What a value of the type Optional holds; the program fails at one that is left out.
Value Held(TypedBuilder& b, const Value& optional);

// `v`; the program fails at this node, with the word InRange, where the scalar `holds` is false.
Value InRange(TypedBuilder& b, const Value& holds, const Value& v);

// What the program fails at when it gets there, of any type.
Value Impossible(TypedBuilder& b, ir::Type type);

// --- Loops ---

struct Turn {
  Value again;               // a scalar; none: yes
  TypedBuilder::State next;  // as many as there were
  TypedBuilder::State rows;  // of the tensors that are collected, one for each turn
};
struct CountedLoop {
  Value count;      // int64 scalar; none: without end
  Value condition;  // of the first turn, bool scalar; none: yes
  TypedBuilder::State initial;
  // May be called several times; the last counts.
  std::function<Turn(const Value& i, const TypedBuilder::State& state)> body;
};
// The last state, then the collected tensors: rows stand along their first axis. The dims of the
// state may change from turn to turn, and sequences may grow. What is collected grows in place.
TypedBuilder::State RunLoop(TypedBuilder& b, const CountedLoop& loop);

}  // namespace relayvm::import
