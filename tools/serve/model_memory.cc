#include "tools/serve/model_memory.h"

#include "bytecode/program.h"

namespace relayvm::serve {

ModelMemory MemoryOf(const Executable& executable) {
  ModelMemory memory;
  for (const ConstantInfo& constant : executable.program().constants)
    memory.constants += BytesInFile(constant);
  for (const ImageInfo& image : executable.program().images) memory.images += image.elf.size();
  return memory;
}

}  // namespace relayvm::serve
