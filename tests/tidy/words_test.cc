// Comments, documents and messages name the part that acts: the waiter, the holder, the worker, the client, the
// operator.
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "tests/tidy/source_tree.h"

namespace ratchet::tidy {
namespace {

// True for a text that names no acting part where it should.
bool IsVague(const std::string& text) {
  static const std::regex words(R"((^|[^\w.\/"'`-])(who|whom|whoever|somebody|someone|nobody|)"
                                R"(everybody|everyone|anybody|anyone|he|him|his)(?![\w"'`\/(=]|\.\w))",
                                std::regex::icase);
  return std::regex_search(text, words);
}

TEST(Words, AVagueSentenceIsFound) {
  EXPECT_TRUE(IsVague("Whoever comes next waits."));
  EXPECT_TRUE(IsVague("// nobody is told"));
  EXPECT_FALSE(IsVague("The next waiter is told; its field `who` and --who stay."));
}

TEST(Words, DocumentsNameTheActingPart) {
  static const std::regex quotation(R"("[^"]*")");  // titles of commits
  std::size_t documents = 0;
  for (const auto& file : ReadDocuments()) {
    ++documents;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_FALSE(IsVague(std::regex_replace(file.lines[i], quotation, "")))
          << file.path << ":" << i + 1 << ": " << file.lines[i];
    }
  }
  EXPECT_GT(documents, 20U) << "run from the root of the project";
}

// Log lines, error messages and the texts of --help.
TEST(Words, MessagesNameTheActingPart) {
  for (const auto& file : ReadSourceTree()) {
    if (file.path.starts_with("tests/")) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_FALSE(IsVague(LiteralsOf(file.lines[i]))) << file.path << ":" << i + 1 << ": " << file.lines[i];
    }
  }
}

TEST(Words, CommentsNameTheActingPart) {
  for (const auto& file : ReadSourceTree()) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_FALSE(IsVague(CommentOf(file.lines[i]))) << file.path << ":" << i + 1 << ": " << file.lines[i];
    }
  }
}

}  // namespace
}  // namespace ratchet::tidy
