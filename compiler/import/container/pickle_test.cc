#include "compiler/import/container/pickle.h"

#include <doctest/doctest.h>

namespace relayvm::import {
namespace {

using namespace std::string_literals;

Result<Pickle> Read(const std::string& bytes) {
  return Pickle::Read("m.pt: data.pkl", std::as_bytes(std::span(bytes)),
                      [](std::string_view module, std::string_view name) {
                        return module == "m" && (name == "f" || name == "C");
                      });
}

// In Python's notation; calls as "m.f(...)", states behind "|".
std::string Text(const PickleValue& v) {
  using Kind = PickleValue::Kind;
  std::string items;
  for (const PickleValue* item : v.items) items += (items.empty() ? "" : ", ") + Text(*item);
  switch (v.kind) {
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return v.integer != 0 ? "True" : "False";
    case Kind::kInt:
      return std::to_string(v.integer);
    case Kind::kFloat:
      return std::to_string(v.real);
    case Kind::kText:
      return "'" + v.text + "'";
    case Kind::kBytes:
      return "b'" + v.text + "'";
    case Kind::kGlobal:
      return v.text;
    case Kind::kCall:
      return v.callee->text + Text(*v.called_with) + (items.empty() ? "" : "[" + items + "]") +
             (v.state == nullptr ? "" : "|" + Text(*v.state));
    case Kind::kTuple:
      return "(" + items + ")";
    case Kind::kList:
      return "[" + items + "]";
    default:
      return "{" + items + "}";
  }
}

TEST_CASE("what Python writes, by protocol 2 and 4") {
  const std::pair<std::string, std::string> cases[] = {
      // (None, True, [1, -2, 300, 70000, 2**40, 0.5], {'a': b'x'}, set()) by protocol 2, by hand
      {"\x80\2(N\x88](K\1J\xfe\xff\xff\xffM\x2c\1J\x70\x11\1\0\x8a\6\0\0\0\0\0\1G\x3f\xe0\0\0\0\0\0\0e}X\1\0\0\0aC\1xst."s,
       "(None, True, [1, -2, 300, 70000, 1099511627776, 0.500000], {'a', b'x'})"},
      {"\x80\4\x95\x1b\0\0\0\0\0\0\0]\x94(\x8c\2ab\x94h\1\x8f\x94(K\1\x90K\x07\x85\x94\x65."s,
       "['ab', 'ab', {1}, (7)]"},
      // m.f(1, 2), with a state, shared
      {"\x80\2(cm\nf\nq\0K\1K\2\x86Rq\1K\5bh\1h\0t."s, "(m.f(1, 2)|5, m.f(1, 2)|5, m.f)"},
      {"\x80\4\x8c\1m\x8c\1C\x93)\x81}\x8c\1kK\3sb."s, "m.C()|{'k', 3}"},
      // A dict that is a call: keys are set of it afterwards.
      {"\x80\2cm\nC\n)R(X\1\0\0\0kK\1u."s, "m.C()['k', 1]"},
      {"\x80\2(X\1\0\0\0sK\3K\4\x86Qt."s.substr(0, 2) + "X\1\0\0\0sK\3\x86Q."s, "{'s', 3}"},
  };
  for (const auto& [bytes, text] : cases) {
    const auto pickle = Read(bytes);
    REQUIRE_MESSAGE(pickle.ok(), text << ": " << pickle.status().message());
    CHECK(Text(pickle->root()) == text);
  }
}

TEST_CASE("of equal keys the last counts") {
  const auto pickle = Read("\x80\2}(X\1\0\0\0kK\1X\1\0\0\0kK\2u."s);
  REQUIRE(pickle.ok());
  CHECK(pickle->root().Find("k")->integer == 2);
  CHECK(pickle->root().Find("l") == nullptr);
}

TEST_CASE("what is refused") {
  const std::string deep = std::string(600, ']') + std::string(599, 'a');
  // Ten lists, each of ten times the one before: 10^10 values.
  std::string bomb = "]";
  for (int i = 0; i < 10; ++i)
    bomb += "q\1](" + [] {
      std::string ten;
      for (int k = 0; k < 10; ++k) ten += "h\1";
      return ten;
    }() + "e";
  const std::pair<std::string, std::string> cases[] = {
      {"\x80\2cos\nsystem\n(X\1\0\0\0xtR."s,
       "byte 2: it names the global os.system, which is not known here; nothing of a pickle is "
       "executed"},
      {"\x80\2K\1"s, "byte 4: the pickle ends before its STOP"},
      {"\x80\2X\xff\xff\xff\xffx."s, "byte 2: 4294967295 bytes are said to follow, 2 do"},
      {"\x80\2h\7."s, "byte 2: value 7 is taken, and was never kept"},
      {"\x80\2\x85."s, "byte 2: a value is taken from a stack that has none"},
      {"\x80\2e."s, "byte 2: a mark is taken, and there is none"},
      {"\x80\2K\1K\2a."s, "byte 6: values are added to an int"},
      {"\x80\2N)R."s, "byte 4: None is called with a tuple"},
      {"\x80\2]q\0h\0a."s, "a list holds itself"},
      {"\x80\2" + deep + "."s, "values are nested 599 deep; 500 are supported"},
      {"\x80\2" + bomb + "."s,
       "more than 16777216 values, those that several share counted each time"},
      {"\x80\7N."s, "byte 0: protocol 7; 2 to 5 are supported"},
      {"I1\n."s, "byte 0: opcode 0x49 is none of protocols 2 to 5, or is not supported"},
      {"", "byte 0: the pickle ends before its STOP"},
      {"\x80\2\x8a\x09xxxxxxxxx."s, "byte 2: an integer of 9 bytes; 8 are supported"},
      {"\x80\2(X\1\0\0\0ad."s, "byte 9: a key without a value"},
  };
  for (const auto& [bytes, message] : cases) {
    const auto pickle = Read(bytes);
    REQUIRE_MESSAGE(!pickle.ok(), message);
    CHECK(pickle.status().ToString() == "invalid input: m.pt: data.pkl: " + message);
  }
}

}  // namespace
}  // namespace relayvm::import
