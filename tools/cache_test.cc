// relayc --cache: what was compiled before is found again.
#include <doctest/doctest.h>

#include <string>

#include "tools/shell.h"

namespace relayvm::tools {
namespace {

TEST_CASE("kernels that were compiled before are found again") {
  const Shell shell;
  shell.Write("add.relay",
              "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(?, 4), float32]) { add(%x, %x) }\n");
  auto compile = [&](const std::string& command) {
    Outcome outcome = shell.Run(command + " --time-passes");
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    return outcome.err.find("1 of 1 objects were there already") != std::string::npos;
  };
  CHECK(!compile("relayc add.relay -o a.vmx --cache kept"));
  CHECK(compile("relayc add.relay -o b.vmx --cache kept"));
  CHECK(shell.Read("a.vmx") == shell.Read("b.vmx"));
  CHECK(compile("RELAYVM_CACHE=kept relayc add.relay"));
  CHECK(!compile("RELAYVM_CACHE=kept relayc add.relay --cache off"));
  CHECK(!compile("RELAYVM_CACHE=off relayc add.relay"));
  CHECK(!compile("RELAYVM_CACHE=kept relayc add.relay --target x86-64-v2"));
  CHECK(shell.Run("RELAYVM_CACHE=kept relayc add.relay --emit asm -o -").out.find("add_0") !=
        std::string::npos);
  CHECK(!compile("env -u RELAYVM_CACHE XDG_CACHE_HOME=$PWD/x relayc add.relay"));
  CHECK(compile("relayc add.relay --cache x/relayvm"));

  // One that cannot be used is an error where it is named, and none where it is not.
  shell.Write("file", "");
  CHECK(!compile("RELAYVM_CACHE=file relayc add.relay"));
  Outcome refused = shell.Run("relayc add.relay --cache file");
  CHECK(refused.status == 2);
  CHECK(refused.err.find("the folder file for compiled kernels") != std::string::npos);
  CHECK(shell.Run("chmod o+w kept").status == 0);
  CHECK(!compile("RELAYVM_CACHE=kept relayc add.relay"));
  refused = shell.Run("relayc add.relay --cache kept");
  CHECK(refused.status == 2);
  CHECK(refused.err.find("chmod go-w") != std::string::npos);
}

TEST_CASE("a model that was compiled before is made anew of nothing") {
  const Shell shell;
  const std::string text =
      "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(?, 4), float32]) { add(%x, %x) }\n";
  shell.Write("add.relay", text);
  // What is said but for the time.
  const auto compile = [&](const std::string& more) {
    const Outcome outcome = shell.Run("relayc add.relay --cache kept " + more);
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    return outcome.err.substr(0, outcome.err.rfind("; "));
  };
  const auto executables = [&] { return shell.Run("ls kept/*.executable | wc -l").out; };
  const std::string said = compile("-o a.vmx");
  CHECK(executables() == "1\n");
  CHECK(said.find("1 operators in 1 kernels") != std::string::npos);
  CHECK(shell.Run("cp kept/*.executable found").status == 0);
  CHECK(shell.Read("found") == shell.Read("a.vmx"));
  CHECK(compile("-o a.vmx") == said);
  CHECK(shell.Read("found") == shell.Read("a.vmx"));
  CHECK(shell.Run("relayc -q add.relay --cache kept -o - > piped").status == 0);
  CHECK(shell.Read("found") == shell.Read("piped"));
  for (const std::string to : {"first", "second"})
    CHECK(shell.Run("relayc -q - --cache kept < add.relay -o " + to).status == 0);
  CHECK(shell.Read("first") == shell.Read("second"));
  CHECK(shell.Read("first") != shell.Read("found"));  // which says where it comes from

  const std::string kept = executables();
  // What prints or writes something else takes the long way, and keeps no executable.
  compile("-o a.vmx --time-passes");
  compile("-o a.vmx --print-ir-after FuseOps");
  compile("-o a.txt --emit bytecode");
  compile("-o a.html --emit graph.html");
  compile("-o a_graph --executor graph --shape x=2x4");
  CHECK(shell.Run("relayc add.relay --cache off -o a.vmx").status == 0);
  CHECK(shell.Run("RELAYVM_CACHE=off relayc add.relay -o a.vmx").status == 0);
  CHECK(executables() == kept);
  // The environment says what the machine is.
  for (const std::string cache : {"kept", "off"}) {
    CHECK(shell
              .Run("RELAYVM_MAX_CPU_LEVEL=x86-64-v2 relayc add.relay --cache " + cache + " -o " +
                   cache + ".vmx")
              .status == 0);
  }
  CHECK(shell.Read("kept.vmx") == shell.Read("off.vmx"));
}

}  // namespace
}  // namespace relayvm::tools
