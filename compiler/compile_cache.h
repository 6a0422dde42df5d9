// Whole compilations that were done before, by all that they were made of: a second compilation of
// the same model reads and infers nothing. It is what ccache calls its direct mode.
//
//   auto cache = CompileCache::For(input, options);    // nullopt: this one is not kept
//   if (auto compiled = cache->Find()) return compiled;
//   ... compile with cache->files() and cache->Recorded(options) ...
//   cache->Store(&compiled);
//
// In options.kernels.cache stand, for a compilation whose options, input, machine and compiler have
// the hash K (import/input_files.h says what a question is):
//
//   K.kernels       the questions that it asked of the file system
//   R.kernels       what came of it besides the executable: R is the hash of K and of the questions
//                   with their answers
//   R.executable    the executable, whose hash R.kernels has
//
// A file is known by its content, whatever its times: to hash 100 MB takes 30 ms. A compilation
// that loads code of others, measures, or prints on its way is not kept. Not thread-safe; several
// processes may share a folder. Tested by compile_cache_test.cc.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/driver.h"
#include "compiler/import/input_files.h"
#include "kernels/codegen/object_cache.h"

namespace relayvm {

class CompileCache {
 public:
  static std::optional<CompileCache> For(const std::string& input, const CompileOptions& options);

  // Without its module. What was said then is said again to `options`.
  std::optional<Compiled> Find(const CompileOptions& options);
  // That what is said is kept too. Holds as long as this object and `options` do.
  CompileOptions Recorded(const CompileOptions& options);
  const std::shared_ptr<import::InputFiles>& files() const { return files_; }
  // What cannot be written, or was made of files that have changed since, is left out.
  void Store(Compiled* compiled);

 private:
  CompileCache(std::shared_ptr<ObjectCache> kept, const ObjectCache::Key& key);
  ObjectCache::Key ResultKey(const std::vector<import::InputFiles::Question>& questions);

  std::shared_ptr<ObjectCache> kept_;
  ObjectCache::Key key_;
  std::shared_ptr<import::InputFiles> files_;
  std::vector<std::pair<bool, std::string>> said_;  // whether it is a warning, and its text
};

}  // namespace relayvm
