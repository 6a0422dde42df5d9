// What the tools end with, and what they say then: a row for each command.
#include <doctest/doctest.h>

#include <cstring>

#include "bytecode/io/npy.h"
#include "bytecode/io/npz.h"
#include "tools/shell.h"
#include "tools/test_programs.h"
#include "vm/platform/sanitizers.h"

namespace relayvm::tools {
namespace {

struct Command {
  const char* command;
  int status;
  const char* message;  // part of what standard error says
};

void CheckAll(const Shell& shell, std::initializer_list<Command> commands) {
  for (const Command& c : commands) {
    CAPTURE(std::string(c.command));
    Outcome o = shell.Run(c.command);
    CAPTURE(o.err);
    CHECK(o.status == c.status);
    CHECK(o.err.find(c.message) != std::string::npos);
    // Errors say who speaks, and nothing else is said. (Wrong options are CLI11's to tell.)
    std::string speaker = "\n" + std::string(c.command, std::strcspn(c.command, " ")) + ": ";
    if (o.status > 1) CHECK(("\n" + o.err).find(speaker) != std::string::npos);
    // (relayc sums up what it made.)
    const bool sums_up = o.err.starts_with("  input ") || o.err.starts_with("  output ");
    if (o.status == 0 && *c.message == '\0' && !sums_up) CHECK(o.err == "");
  }
}

#if RELAYVM_ASAN || RELAYVM_TSAN
constexpr bool kHasSanitizer = true;
#else
constexpr bool kHasSanitizer = false;
#endif

// Whoever allocates: the compiler, LLVM, or threads that kernels are made on.
TEST_CASE("relayc without enough memory says so") {
  if (kHasSanitizer) return;  // of which the address space is
  std::string text = "def @main(%x: Tensor[(?, 64), float32]) {\n  let %v0 = %x;\n";
  for (int i = 1; i <= 24; ++i) {
    text += fmt::format(
        "  let %v{0} = nn.softmax(nn.dense(%v{1}, ones(shape=[{2}, {3}], dtype=\"float32\")));\n",
        i, i - 1, 64 + i, 63 + i);
  }
  Shell shell;
  shell.Write("deep.relay", "#[version = \"0.0.5\"]\n" + text + "  %v24\n}\n");
  int made = 0, told = 0;
  for (int kilobytes = 200'000; made < 3 && kilobytes < 4'000'000; kilobytes += 20'000) {
    CAPTURE(kilobytes);
    const Outcome o = shell.Run(
        fmt::format("ulimit -v {}; RELAYVM_CACHE=off relayc deep.relay -q -o d.vmx", kilobytes));
    CAPTURE(o.err);
    CHECK((o.status == 0 || o.status == 2));
    if (o.status == 2) CHECK(o.err.find("out of memory") != std::string::npos);
    ++(o.status == 0 ? made : told);
  }
  CHECK(made == 3);
  CHECK(told > 0);
}

TEST_CASE("exit statuses of relayc") {
  Shell shell;
  shell.Compile("add", kAdd);
  shell.Compile("pair", kPair);
  shell.Write("broken.relay", "def @main(");
  shell.Write("typed.relay",
              "#[version = \"0.0.5\"]\n"
              "def @main(%x: Tensor[(3), float32], %y: Tensor[(2), float32]) { add(%x, %y) }");
  shell.Write("empty.relay", "");
  CheckAll(
      shell,
      {
          {"relayc --help", 0, ""},
          {"relayc add.relay", 0, ""},
          {"relayc add.relay -o - >copy.vmx", 0, ""},
          {"relayc add.relay --emit relay", 0, ""},
          {"relayc add.relay --emit bytecode -o -", 0, ""},
          {"relayc add.relay --emit llvm -o add.ll", 0, ""},
          {"relayc add.relay --emit asm -O0", 0, ""},
          {"relayc pair.relay --entry other -o other.vmx", 0, ""},
          {"relayc add.relay --shape x=7x? --target x86-64-v2 --precision fp32", 0, ""},
          {"relayc add.relay --print-ir-after FuseOps", 0, "// After FuseOps"},
          {"echo 'rule @r(%x, %y) { add(%x, %y) => add(%y, %x) }' > swap.rules; "
           "relayc add.relay --rules swap.rules",
           1, "rules go on for ever"},
          {"echo 'rule @r(%x, %y) { add(%x, exp(%y)) => %x }' > miss.rules; "
           "relayc add.relay --rules miss.rules --explain-rules",
           0, "is not applied: %y: expected exp, found a parameter or a constant"},
          {"relayc add.relay --time-passes", 0, " ms  total"},
          {"relayc", 1, "INPUT"},
          {"relayc add.relay --nonsense", 1, "nonsense"},
          {"relayc add.relay pair.relay", 1, "pair.relay"},
          {"relayc add.relay -O7", 1, "-O7"},
          {"relayc add.relay --emit other", 1, "other"},
          {"relayc add.relay --target z80", 1, "z80"},
          {"relayc add.relay --precision fp3", 1, "fp3"},
          {"relayc add.relay --precision bf16 -O0", 1, "it needs -O1 or more"},
          {"relayc add.relay --precision bf16 -O1", 0, ""},
          {"relayc add.relay --weights q8 -O0", 1, "--weights q8 packs weights"},
          {"relayc add.relay --weights q5", 1, "q5"},
          {"relayc add.relay --weights q4 --precision bf16", 1, "give one of them"},
          {"relayc add.relay --weights q4", 0, ""},
          {"relayc add.relay --exact", 0, ""},
          {"relayc add.relay --check [[1,2]] --check [3,4]", 0, ""},
          {"relayc add.relay --check [[1,2]]", 1, "y"},
          {"relayc add.relay --check x=no.npy --check [3,4]", 2, "no.npy"},
          {"relayc add.relay --check - --check [3,4]", 1, "name a file, not -"},
          {"relayc add.relay --check [[1,2]] --check [3,4,5]", 2, "y"},
          {"relayc add.relay --target x86-64-v3,x86-64-v2 -o both.vmx", 0, ""},
          {"relayc add.relay --target x86-64-v3,z80", 1, "z80"},
          {"relayc add.relay --target x86-64-v3,x86-64-v2 --emit asm", 1, "found 2"},
          {"vmdump both.vmx", 0, ""},
          {"vmdump both.vmx --check --target x86-64-v3 --kernels", 0, ""},
          {"vmdump both.vmx --target z80", 2, "the file has no program for z80, it has"},
          {"vmrun both.vmx --target x86-64-v2 --input [[1,2]] --input [3,4]", 0, ""},
          {"vmrun both.vmx --target x86-64-v2 --verify --input [[1,2]] --input [3,4]", 0, ""},
          {"vmrun both.vmx --target z80 --input [[1,2]] --input [3,4]", 2, "no program for z80"},
          {"relayrun add.relay --target x86-64-v2,x86-64-v3 --input [[1,2]] --input [3,4]", 1,
           "expected one processor"},
          {"relayc --list-operators relay -o operators.md", 0, ""},
          {"relayc --list-operators caffe", 1, "caffe not in {relay,onnx,torchscript,"},
          {"relayc add.relay --layout nn.conv2d=NHWC:default", 0, "layout transforms left: 0"},
          {"relayc add.relay --layout nn.conv2d", 1, "write OPERATOR=DATA:KERNEL"},
          {"relayc add.relay --layout add=NHWC", 1, "add computes in one layout alone"},
          {"relayc --kernel 'add[(n), (n)]' --emit asm -o add.s", 0, ""},
          {"relayc --kernel 'add[(n), (n)]' --emit relay --dim n=5 -o -", 0, ""},
          {"relayc --kernel 'add[(n), (n)]' --emit time --dim n=5", 0, ""},
          {"relayc --kernel 'add[(n) float16, (n) float16]' --emit time --dim n=5", 0, ""},
          {"relayc --kernel 'add[(4), (4)]' --emit time --check [1,2,3,4] --check [1,2,3,4]", 0,
           "against -O0"},
          {"relayc --kernel 'add[(n), (n)]' --emit time", 1, "how large is n"},
          {"relayc --kernel 'add[(n), (n)]' --dim m=5", 1, "no dimension of that name"},
          {"relayc --kernel 'add[(n), ' --emit asm", 1, "expected a shape in parentheses"},
          {"relayc --kernel 'nonsense[(n)]'", 2, "nonsense"},
          {"relayc add.relay --kernel 'add[(n), (n)]'", 1, "there is an INPUT as well"},
          {"relayc add.relay --emit time", 1, "only with --kernel"},
          {"relayc add.relay --schedule tile=4x8", 1, "only with --kernel"},
          {"relayc add.relay --schedule-for add", 1, "write KERNEL=tile=8x32"},
          {"relayc add.relay --schedule-for add=tile=4", 1, "expected tile=ROWSxCOLUMNS"},
          {"relayc add.relay --schedule-for add=tile=4x8", 1, "it is no product or convolution"},
          {"relayc add.relay --schedules", 1, "--schedules"},
          {"relayc add.relay --schedules no.log", 2, "no.log"},
          {"relayc add.relay --schedules .", 2, "not a regular file"},
          {"relayc add.relay --schedules add.vmx", 2, "add.vmx:1: expected an object of JSON"},
          {"relayc add.relay --schedules add.relay", 2, "add.relay:1: expected an object of JSON"},
          {": >empty.log; relayc add.relay --schedules empty.log", 0, ""},
          {"relayc add.relay --tune", 1, "--tune"},
          {"relayc add.relay --tune 0s", 1, "--tune 0s: expected a time such as 500ms, 60s or 2m"},
          {"relayc add.relay --tune abc", 1, "--tune abc: expected a time"},
          {"relayc add.relay --tune 60", 1, "--tune 60: expected a time"},
          {"relayc add.relay --tune -1s", 1, "--tune"},
          {"relayc add.relay --tune 9999999999h", 1, "at most 24h"},
          {"relayc add.relay --tune 1s --target x86-64-v2,x86-64-v3", 1,
           "--tune: expected one --target, found 2"},
          {"relayc add.relay --tune 1s --emit relay", 1, "nothing is compiled"},
          {"relayc add.relay --tune 1s --list-passes", 1, "nothing is compiled"},
          {"relayc add.relay --tune 1s --shape-samples q=3", 1, "no open dimension has that name"},
          {"relayc add.relay --tune 1s --shape-samples q=0", 1, "--shape-samples q=0: expected"},
          {"relayc add.relay --tune 1s --tune-log .", 2, "not a regular file"},
          {"relayc add.relay --tune 1s --tune-log no/t.log", 2, "no/t.log"},
          {"relayc add.relay --tune 1s --tune-log add.relay", 2, "add.relay:1: expected an object"},
          {"relayc add.relay --tune-log t.log", 1, "--tune-log: only with --tune"},
          {"relayc add.relay --shape-samples n=3", 1, "--shape-samples: only with --tune"},
          {"relayc add.relay --tune 1s --tune-log t.log", 0, "tuning: 0 kernels have alternatives"},
          {"relayc add.relay --tune 1s -q -o - >copy.vmx", 0, ""},
          {"relayc --kernel 'add[(n), (n)]' --tune 1s --shape-samples m=3 -o add.vmx", 1,
           "--kernel has no dimension of that name"},
          {"relayc --kernel 'add[(n), (n)]' --tune 1s --shape-samples n=3 --emit time --dim n=5", 0,
           "tuning"},
          {"relayrun add.relay --tune 1s", 1, "unexpected argument"},
          {"relayrun add.relay --schedules no.log --input 1x2xf32=1 --input 2xf32=1", 2, "no.log"},
          {"relayc add.relay --shape x", 1, "write NAME=1x?x300"},
          {"relayc add.relay --shape z=1", 1, "no parameter of that name"},
          {"relayc add.relay --shape x=1x3", 1, "is declared as 2"},
          {"relayc add.relay --print-ir-after Nope", 1, "there is no pass Nope; there are "},
          {"relayc add.relay --disable-pass FuseOp", 1,
           "there is no pass FuseOp; did you mean FuseOps?; there are "},
          {"relayc no.relay", 2, "no.relay"},
          {"relayc .", 2, ". is a folder without saved_model.pb"},
          {"relayc empty.relay", 2, "empty.relay"},
          {"relayc broken.relay", 2, "broken.relay:1:"},
          {"relayc typed.relay", 2, "typed.relay:2:65: add: "},
          {"relayc add.vmx", 2, "add.vmx: expected Relay text, an ONNX model, "},
          {"relayc add.relay --entry nope", 2, "@nope"},
          {"relayc add.relay --params no.npz", 2, "no.npz"},
          {"relayc add.relay --params add.relay", 2,
           "add.relay: expected a TVM parameter file or an .npz archive, found Relay text"},
          {"relayc add.relay -o no/add.vmx", 2, "cannot create 'no/add.vmx'"},
          {"relayc add.relay -o /dev/full", 2, "cannot write '/dev/full'"},
          {"relayc add.relay --emit relay -o /dev/full", 2, "cannot write '/dev/full'"},
          {"relayc add.relay -o - >/dev/full", 2, "standard output cannot be written"},
      });
}

TEST_CASE("exit statuses of vmrun, relayrun and vmdump") {
  Shell shell;
  for (auto [name, text] : {std::pair("add", kAdd),
                            {"loop", kLoop},
                            {"guard", kGuard},
                            {"deep", kDeep},
                            {"pair", kPair},
                            {"open", kOpen}}) {
    shell.Compile(name, text);
  }
  const std::string file = shell.Read("add.vmx");
  shell.Write("broken.vmx", "RVMX");
  shell.Write("cut.vmx", file.substr(0, file.size() - 1));
  for (auto [name, at] :
       {std::pair("flip1.vmx", size_t{20}), {"flip2.vmx", 200}, {"flip3.vmx", 5000}}) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    shell.Write(name, damaged);
  }
  shell.Write("broken.relay", "def @main(");
  REQUIRE(shell.Run("vmrun pair.vmx --input '[1,2]' --output pair.npz").status == 0);
  shell.Write("cut.npz", shell.Read("pair.npz").substr(0, 100));
  REQUIRE(shell.Run("vmrun guard.vmx --input '[1,2]' --input '[0,0]' --output r.npy").status == 0);
  shell.Write("cut.npy", shell.Read("r.npy").substr(0, 130));
  shell.Write("value.txt", "[5, 6]");
  shell.Write("model.onnx", "\x08\x07\x12\x07pytorch\x1a\x03");
  REQUIRE(shell.Run("vmrun guard.vmx --input '[1,2]' --input '[3,4]' --output y.npy").status == 0);
  REQUIRE(WriteNpz(shell / "y.npz", {{"y", *ReadNpyFile(shell / "y.npy")}}).ok());
  REQUIRE(shell.Run("relayc add.relay --params y.npz -o weights.vmx").status == 0);
  std::string damaged_weights = shell.Read("weights.vmx");
  damaged_weights.back() = static_cast<char>(damaged_weights.back() ^ 1);
  shell.Write("damaged.vmx", damaged_weights);
  CheckAll(
      shell,
      {
          // 0: done.
          {"vmrun --help", 0, ""},
          {"vmrun guard.vmx --input @value.txt --input y=r.npy", 0, ""},
          {"vmrun guard.vmx --input - --input r.npy <value.txt", 0, ""},
          {"vmrun guard.vmx --input y=- --input x=r.npy <r.npy", 0, ""},
          {"vmrun pair.vmx --input '[1,2]' --expect pair.npz", 0, ""},
          {"vmrun pair.vmx --input '[1,2]' --output out1=second.npy --output all.npz", 0, ""},
          {"vmrun add.vmx --input 1x2xf32=1 --input 2xf32=1 --threads 0 --timeout 100 "
           "--memory-limit 1GB",
           0, ""},
          {"vmrun add.vmx --input 1x2xf32=1 --input 2xf32=1 --timeout 1e300", 0, ""},
          {"vmrun add.vmx --input 1x2xf32=1 --input 2xf32=1 --stats", 0, "peak memory"},
          {"vmrun add.vmx --input 1x2xf32=1 --input 2xf32=1 --profile", 0, "mean us"},
          {"vmrun add.vmx --input 1x2xf32=1 --input 2xf32=1 --trace", 0, "ret.r"},
          {"relayrun pair.relay --entry other --input 3", 0, ""},
          {"relayrun add.relay --input 1x2xf32=1 --input 2xf32=1 --executor reference --stats", 0,
           "run time"},
          {"relayrun add.relay --input 1x2xf32=1 --input 2xf32=1 --executor debug --trace-values=1",
           0, "parameter  Tensor[(1, 2), float32]  min 1  max 1  mean 1  NaN 0  Inf 0"},
          {"vmrun - --input 1x2xf32=1 --input 2xf32=1 <add.vmx", 0, ""},
          {"vmrun /dev/stdin --input 1x2xf32=1 --input 2xf32=1 <add.vmx", 0, ""},
          {"cat add.vmx | vmrun - --input 1x2xf32=1 --input 2xf32=1", 0, ""},
          {"cat add.vmx | vmdump - --check", 0, ""},
          {"relayc - -o stdin.vmx <add.relay", 0, ""},
          {"cat add.relay | relayrun - --input 1x2xf32=1 --input 2xf32=1", 0, ""},
          {"vmrun add.vmx --verify --input 1x2xf32=1 --input 2xf32=1 --stack-limit 1MiB", 0, ""},
          {"vmrun guard.vmx --input ./value.txt --input ./r.npy", 0, ""},
          {"vmdump --help", 0, ""},
          {"vmdump add.vmx", 0, ""},
          {"vmdump add.vmx --bytecode --kernels --memory --constants", 0, ""},
          {"vmdump add.vmx --bytecode --kernels --memory --constants --json", 0, ""},
          // 1: wrong usage.
          {"vmrun", 1, "MODEL"},
          {"vmrun add.vmx --nonsense", 1, "vmrun: unexpected argument --nonsense\n"},
          {"vmrun add.vmx x.npy", 1,
           "vmrun: unexpected argument x.npy; the value of a parameter is given by --input "
           "x.npy\n"},
          {"relayrun add.relay 3", 1, "relayrun: unexpected argument 3; the value of a parameter"},
          {"vmrun --input 3", 1, "vmrun: MODEL is required"},
          {"relayc", 1, "relayc: INPUT is required"},
          {"relayc add.relay extra", 1, "relayc: unexpected argument extra\n"},
          {"relayc - <add.relay", 1, "relayc: standard input has no name"},
          {"vmasm", 1, "vmasm: INPUT is required"},
          {"vmrun loop.vmx --input 1 --stack-limit x", 1,
           "--stack-limit x: expected a size such as 64MiB"},
          {"relayrun loop.relay --input 1 --executor reference --stack-limit 1MB", 1,
           "not for the reference"},
          {"vmrun add.vmx", 1, "parameter x has no --input; main takes:\n  x: Tensor[("},
          {"vmrun add.vmx --function f", 1, "the program has no function f; it has main"},
          {"vmrun add.vmx --input z=3", 1, "there is no parameter z"},
          {"vmrun add.vmx --input x=1x2xf32=1 --input x=1x2xf32=1", 1, "x has a value already"},
          {"vmrun loop.vmx --input 1 --input 2", 1, "all parameters have a value"},
          {"vmrun guard.vmx --input - --input - <value.txt", 1, "standard input is read already"},
          {"vmrun guard.vmx --input pair.npz", 1, "no array with the name of a parameter"},
          {"vmrun loop.vmx --input 1 --memory-limit x", 1, "expected a size"},
          {"vmrun loop.vmx --input 1 --timeout x", 1, "--timeout"},
          {"vmrun loop.vmx --input 1 --timeout -1", 1, "--timeout"},
          {"vmrun loop.vmx --input 1 --timeout nan", 1, "--timeout"},
          {"vmrun loop.vmx --input 1 --repeat 0", 1, "--repeat"},
          {"vmrun loop.vmx --input 1 --threads -1", 1, "--threads"},
          {"vmrun loop.vmx --input 1 --threads 100000", 1, "num_threads is 100000, above 1024"},
          {"vmrun loop.vmx --input 1 --rtol -1", 1, "--rtol"},
          {"vmrun loop.vmx --input 1 --output r.txt", 1, "must end in .npy or .npz"},
          {"relayrun", 1, "INPUT"},
          {"relayrun add.relay --executor other", 1, "other"},
          {"relayrun add.relay --function main", 1, "--function"},
          {"relayrun loop.relay --input 1 --executor reference --trace", 1,
           "not for the reference"},
          {"relayrun loop.relay --input 1 --trace-values", 1, "use --executor debug"},
          {"relayrun add.relay --shape x", 1, "write NAME"},
          {"vmdump", 1, "MODEL"},
          {"vmdump add.vmx --nonsense", 1, "nonsense"},
          // 2: bad input.
          {"vmrun no.vmx", 2, "no.vmx"},
          {"relayc add.vmx", 2, "or a Keras model, found a compiled program (.vmx): run it with"},
          {"relayc pair.npz", 2, "or a Keras model, found a zip archive, such as an .npz"},
          {"relayc r.npy", 2, "or a Keras model, found a tensor (.npy)"},
          {"relayc model.onnx", 2,
           "relayc: model.onnx: expected an ONNX model: the file is damaged"},
          {"relayrun model.onnx", 2,
           "relayrun: model.onnx: expected an ONNX model: the file is damaged"},
          {"relayc add.relay --params add.vmx", 2,
           "expected a TVM parameter file or an .npz archive, found a compiled program"},
          {"vmrun model.onnx", 2, "expected a compiled program (.vmx), found an ONNX model"},
          {"vmrun - <add.relay", 2, "expected a compiled program (.vmx), found Relay text"},
          {"vmasm add.relay", 2, "vmasm: add.relay: expected bytecode as text, found Relay text"},
          {"vmasm add.vmx", 2, "expected bytecode as text, found a compiled program"},
          {"vmrun add.vmx --input ./no.file --input 2xf32=1", 2,
           "--input x: cannot open './no.file': No such file or directory"},
          {"vmrun add.vmx --input ./add.vmx --input 2xf32=1", 2,
           "expected a tensor (.npy) or a value as text, found a compiled program (.vmx)"},
          {"vmrun damaged.vmx --verify --input 1x2xf32=1", 2, "is damaged: expected checksum 0x"},
          {"vmdump damaged.vmx --check", 2,
           "vmdump: damaged.vmx: .vmx constant 0 \"y\" is damaged"},
          {"vmrun .", 2, ".: expected a folder that 'relayc --executor graph -o' has written: "},
          {"vmrun add.relay", 2,
           "vmrun: add.relay: expected a compiled program (.vmx), found Relay text: compile it "
           "with relayc"},
          {"vmrun broken.vmx", 2, "broken.vmx"},
          {"vmrun cut.vmx", 2, "truncated"},
          {"vmrun flip1.vmx", 2, "flip1.vmx"},
          {"vmrun flip2.vmx", 2, "damaged"},
          {"vmrun flip3.vmx", 2, "is damaged: its checksum differs"},
          {"vmdump broken.vmx --memory", 2, "broken.vmx"},
          {"vmdump cut.vmx --bytecode", 2, "truncated"},
          {"vmdump flip2.vmx --json --memory", 2, "damaged"},
          {"vmdump no.vmx", 2, "no.vmx"},
          {"vmrun guard.vmx --input no.npy --input 2xf32=1", 2, "no.npy"},
          {"vmrun guard.vmx --input cut.npy --input 2xf32=1", 2, "cut.npy"},
          {"vmrun guard.vmx --input cut.npz", 2, "cut.npz"},
          {"vmrun guard.vmx --input add.npy=3 --input 2xf32=1", 1, "there is no parameter add.npy"},
          {"vmrun guard.vmx --input @no.txt --input 2xf32=1", 2, "no.txt"},
          {"vmrun guard.vmx --input - --input 2xf32=1 </dev/null", 2, "standard input: "},
          {"vmrun add.vmx --input 2x3xf32=1 --input 2xf32=1", 2, "expected Tensor[("},
          {"vmrun guard.vmx --input 1000000000000xf32=1 --input 2xf32=1", 2,
           "no memory for a tensor"},
          {"vmrun add.vmx --input 4000000000x4000000000xf32=1 --input 2xf32=1", 2, "too large"},
          {"vmrun loop.vmx --input 99999999999", 2, "out of the range of int32"},
          {"vmrun open.vmx --input 1 --input 'Cons(2.5, Nil)'", 2, "2.5 is not an integer"},
          {"vmrun pair.vmx --input '[1]' --output no/r.npz", 2, "no/r.npz"},
          {"vmrun pair.vmx --input '[1]' --output r.npy", 2, "the result has 3 tensors"},
          {"vmrun pair.vmx --input '[1]' --output z=r.npy", 2,
           "write NAME=OUT.npy; the result has out0, out1, out2"},
          {"vmrun pair.vmx --input '[1]' --expect no.npz", 2, "no.npz"},
          {"vmrun pair.vmx --input '[1]' --expect cut.npz", 2, "cut.npz"},
          {"vmrun pair.vmx --input '[1]' --profile no/p.json", 2, "no/p.json: cannot be written"},
          {"vmrun pair.vmx --input '[1]' >/dev/full", 2, "standard output cannot be written"},
          {"vmdump add.vmx >/dev/full", 2, "standard output cannot be written"},
          {"relayrun broken.relay", 2, "broken.relay"},
          {"relayrun no.relay", 2, "no.relay"},
          {"relayrun add.relay --params cut.npz", 2, "cut.npz"},
          // 3: the program failed while running.
          {"vmrun loop.vmx --input 1 --timeout 0.05", 3, "the deadline has passed"},
          {"vmrun add.vmx --input 200000x2xf32=1 --input 2xf32=1 --memory-limit 1MB", 3,
           "memory limit"},
          {"vmrun add.vmx --input 1x2xf32=1 --input 2xf32=1 --memory-limit 0", 3, "memory limit"},
          {"vmrun guard.vmx --input '[1,2]' --input '[1,2,3]'", 3, "2 and 3"},
          {"vmrun deep.vmx --input 1", 3, "raise the stack limit"},
          {"vmrun deep.vmx --input 1 --stack-limit 64KiB", 3, "in 65536 bytes"},
          {"relayrun guard.relay --input '[1,2]' --input '[1,2,3]'", 3, "broadcast"},
          {"relayrun guard.relay --input '[1,2]' --input '[1,2,3]' --executor reference", 3,
           "broadcast"},
          {"relayrun loop.relay --input 1 --timeout 0.05 --executor reference", 3, "timeout"},
          {"relayrun deep.relay --input 1 --executor reference", 3, "deep"},
          // 4: --expect did not match.
          {"vmrun pair.vmx --input '[1,3]' --expect pair.npz", 4, "out2: values differ"},
          {"vmrun pair.vmx --input '[1,2,3]' --expect pair.npz", 4,
           "out0: found Tensor[(3), float32]"},
          {"vmrun guard.vmx --input '[1,2]' --input '[0,1]' --expect r.npy", 4, "differ"},
          {"relayrun pair.relay --input '[1,3]' --expect pair.npz --executor reference", 4,
           "differ"},
      });
}

}  // namespace
}  // namespace relayvm::tools
