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

// All .md files of the project, by path.
[[nodiscard]] std::vector<SourceFile> ReadDocuments();

// Paths of all files of the project, except build trees and version control.
[[nodiscard]] std::vector<std::string> AllPaths();

// The paths that a file includes with quotes.
[[nodiscard]] std::vector<std::string> QuotedIncludes(const SourceFile& file);

// Returns the line without its comment and without string literals.
[[nodiscard]] std::string CodeOf(std::string_view line);

// Returns the text after `//` outside of string literals; empty without a comment.
[[nodiscard]] std::string CommentOf(std::string_view line);

// Returns the contents of the string literals of a line, separated by spaces.
[[nodiscard]] std::string LiteralsOf(std::string_view line);

}  // namespace ratchet::tidy
