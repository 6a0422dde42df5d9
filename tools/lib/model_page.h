// relayc --emit graph.html: a page on the model, in one file that needs no network: its graph as it
// was read, with folding by the parts of names, types, attributes, constants with statistics, and
// for each node the kernels that the compiler made of it. What runs measured (vmrun --profile
// FILE.json) is opened in the page.
//
// The page is model_page.html, with the graph as JSON in it (described there, by its reader).
// Untrusted names and texts are data of the page, never markup. Tested by
// tools/packaging/check_model_page.py and look_at_model_page.py.
#pragma once

#include <string>

#include "compiler/driver.h"
#include "compiler/ir/ir.h"

namespace relayvm::tools {

struct ModelPageLimits {
  size_t max_nodes = 20'000;  // what is beyond is left out, and the page says so
  size_t max_text = 2'000;    // bytes of one type, attribute or name
};

// `typed`: the module of `title` with types, as it was read; `compiled`: what became of it.
std::string ModelPage(const std::string& title, const ir::Module& typed, const Compiled& compiled,
                      const ModelPageLimits& limits = {});

}  // namespace relayvm::tools
