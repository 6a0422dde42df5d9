// From text to a program: for tests, for experiments and as the reverse of the disassembler.
//
//   .version 1
//   .source "model.relay"                      ; entries of each table are numbered from 0
//   .message "dims differ"                     ; m0
//   .data "List" 1                             ; data 0: name, number of type parameters
//     .constructor "Nil" ()                    ; #0
//     .constructor "Cons" (var 0, data 0(var 0))
//   .image "x86-64-v3"                         ; CPU features; then the bytes, or `elided`
//     .hex 7f454c46...
//   .kernel "fused_add" scalars 2 s1=7 buffers (float32[s0, 8], out float32[s0*8] over 0) 0x1000
//                                              ; k0: one entry an image, or `builtin`; scalar 1 is 7;
//                                              ; buffer 1 is written, maybe in buffer 0's memory
//   .kernel "sum" scalars 1 buffers (int64[s0], out int64[]) units floordiv(s0, 2) scratch 64 0x2000
//   .region "main_0" engine "dnnl" constants (c0) symbols 1 json "{...}"   ; region 0, of another engine
//   .kernel "dnnl:main_0" scalars 5 s0=0 s1=11 s2=1 buffers (...) units 1 builtin region 0
//   .host "fetch" (int64[], data 0(bool[?])) -> (float32[?, 128])  ; a function of the host
//   .type float32[1, 300]                      ; t0
//   .constant float32[2] "weight" elided       ; c0: or bytes by .hex
//   .constant float32[1, 16, 1, 2, 8] "w" recipe "winograd_weights_2" ()   ; c1: a builtin, its parameters
//     .input float32[8, 2, 3, 3] elided        ; or bytes by .hex
//   .export "id" vars 1 f0 ("x": var 0) -> var 0     ; `vars N`: type parameters, if it has any
//   .export "main" f0 ("x": float32[?"n", 3]) -> (int32[], data 0(float32[?])) "out0" "out1"
//   .function "main" scalars 0 objects 1 captured 0 registers 3 4 returns object arena 128
//     .slot 0 64                               ; s0: offset, bytes
//   L0:
//     .at 0 3 5                                ; file, line, column of the code from here on
//     add.i i0, i1, i2
//     br.cmp.i lt, i0, i1, L0
//     kernel.1 k0, [i0], [r0!, c0, s0]         ; r0!: taken
//     adt.new r1, #1, [r0!, r2]
//     ret.r r1!
//   .end
//
// Types: float32[...] with dims that are numbers or `?`, each with a name in quotes if it has one;
// (t, ...) for tuples; data N(t, ...); fn; ref(t); var N.
// Thread-safe. Tested by assembler_test.cc.
#pragma once

#include <string_view>

#include "bytecode/base/status.h"
#include "bytecode/program.h"

namespace relayvm {

// Errors are kInvalidInput and name the line. The program is not verified (verifier.h). Where the
// text says `elided`, the bytes are those of the same constant or image of `data`, which must then
// be given.
Result<Program> Assemble(std::string_view text, const Program* data = nullptr);

}  // namespace relayvm
