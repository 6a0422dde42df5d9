// What a symbol tells of its variables besides their names: shapes that users wrote (__shape__),
// and what operators and arrays say; and what versions before this one meant. Tested by
// importer_test.cc.
#pragma once

#include <vector>

#include "compiler/import/mxnet/arrays.h"
#include "compiler/import/mxnet/symbol.h"
#include "compiler/ir/type.h"

namespace relayvm::import::mxnet {

// The symbol as today's MXNet would have written it: inputs that old files leave out are variables
// at the end, and attributes say what they said then.
void Upgrade(Symbol* symbol);

// By the number of the node. False for other nodes, and for what only takes part in training:
// labels.
std::vector<bool> NeededVariables(const Symbol& symbol);

// By the number of the node: the type, of which Any dims are open; null where nothing is known, and
// for variables that have an array.
std::vector<ir::Type> DeclaredTypes(const Symbol& symbol, const Arrays& arrays);

}  // namespace relayvm::import::mxnet
