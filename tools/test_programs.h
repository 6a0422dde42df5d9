// Small programs for the tests of the tools.
#pragma once

namespace relayvm::tools {

inline constexpr const char* kAdd =
    "def @main(%x: Tensor[(?, 2), float32], %y: Tensor[(2), float32]) { add(%x, %y) }\n";
inline constexpr const char* kReverse = R"(
type List[A] { Cons(A, List[A]), Nil, }
def @reverse[A](%l: List[A], %done: List[A]) -> List[A] {
  match (%l) { Cons(%h, %t) => { @reverse(%t, Cons(%h, %done)) }, Nil => { %done }, }
}
def @main(%l: List[int32]) -> (List[int32], int32) { (@reverse(%l, Nil), 3) }
)";
inline constexpr const char* kLoop = "def @main(%x: int32) -> int32 { @main(%x) }\n";

inline constexpr const char* kGuard =
    "def @main(%x: Tensor[(?), float32], %y: Tensor[(?), float32]) { add(%x, %y) }\n";
inline constexpr const char* kDeep =
    "def @main(%x: int32) -> int32 { add(@main(add(%x, 1)), 1) }\n";
inline constexpr const char* kPair =
    "def @main(%x: Tensor[(?), float32]) { (add(%x, 1f), (sum(%x), %x)) }\n"
    "def @other(%x: int32) { add(%x, 1) }\n";
inline constexpr const char* kOpen =
    "type List[A] { Cons(A, List[A]), Nil, }\n"
    "def @main[A](%x: A, %l: List[A]) -> List[A] { Cons(%x, %l) }\n";

}  // namespace relayvm::tools
