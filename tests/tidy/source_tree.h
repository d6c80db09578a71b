// The project's source files as text, for the tests of the house rules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ratchet::tidy {

struct SourceFile {
  std::string path;  // from the root of the project, e.g. "common/base/result.h"
  std::string text;
  std::vector<std::string> lines;
};

// All .h, .cc, .proto and .def files of the project's folders, by path. Build trees are left out.
[[nodiscard]] std::vector<SourceFile> ReadSourceTree();

// The paths that a file includes with quotes.
[[nodiscard]] std::vector<std::string> QuotedIncludes(const SourceFile& file);

// The line without what stands behind `//` and without string literals.
[[nodiscard]] std::string CodeOf(std::string_view line);

}  // namespace ratchet::tidy
