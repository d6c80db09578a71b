// Counts the files that an extension touches (docs/adding.md): for one example of each kind, the files of the product
// that name it. Tests and documents are not counted. A limit may only be lowered.
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tidy/source_tree.h"

namespace ratchet::tidy {
namespace {

struct Example {
  const char* kind;
  const char* name;  // a regular expression
  std::size_t files;
};

// docs/operations.md is the second file of a verb. A row for a procedure or another kind of extension is added here.
std::vector<Example> Examples() {
  return {{"an RPC method", R"re(\bk?GetReplicationProgress\b)re", 3},
          {"a setting", R"re("catalog-janitor-interval-ms"|\bjanitor_interval\b)re", 2},
          {"a setting of a region server", R"re("max-scanners-per-user"|\bmax_of_user\b)re", 2},
          {"a verb of the command line", R"re("clone-schema"|\bCloneSchema\w*\b)re", 1},
          {"a field of a procedure that is shown", R"re(\b(set_)?was_leaving\b)re", 2}};
}

TEST(Adding, TouchesFewFiles) {
  const auto tree = ReadSourceTree();
  for (const Example& example : Examples()) {
    const std::regex name(example.name);
    std::string found;
    std::size_t count = 0;
    for (const auto& file : tree) {
      if (file.path.starts_with("tests/") || file.path.starts_with("docs/")) continue;
      if (!std::regex_search(file.text, name)) continue;
      ++count;
      found += "\n  " + file.path;
    }
    EXPECT_GT(count, 0U) << example.kind << ": no file names " << example.name;
    EXPECT_LE(count, example.files) << example.kind << " touches these files:" << found;
  }
}

}  // namespace
}  // namespace ratchet::tidy
