// Comments, documents and messages name the actor: the waiter, the holder, the worker, the client, the operator. "who"
// is for users and clients; a component is "which" or "that".
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "tests/tidy/source_tree.h"

namespace ratchet::tidy {
namespace {

// True for a text that names no actor where it should, or that calls a component "who".
bool IsVague(const std::string& text) {
  static const std::regex pronouns(R"((^|[^\w.\/"'`-])(whoever|somebody|someone|nobody|)"
                                   R"(everybody|everyone|anybody|anyone|he|him|his)(?![\w"'`\/(=]|\.\w))",
                                   std::regex::icase);
  static const std::regex component(
      R"(\b(master|server|standby|worker|splitter|fencer|claimer|cleaner|reconciler|procedure|process|thread|source|)"
      R"(peer|region|store|table|opening|lock|waiter|holder)s?,? (who|whom)\b)",
      std::regex::icase);
  return std::regex_search(text, pronouns) || std::regex_search(text, component);
}

TEST(Words, VagueSentencesAreFound) {
  EXPECT_TRUE(IsVague("Whoever comes next waits."));
  EXPECT_TRUE(IsVague("// nobody is notified"));
  EXPECT_TRUE(IsVague("The server who holds the region answers."));
  EXPECT_FALSE(IsVague("The next waiter is notified; its field `somebody` and --anyone stay."));
}

TEST(Words, UsersAndClientsAreWho) {
  EXPECT_FALSE(IsVague("A user who drops a table needs the right; a client who retries sends the nonce again."));
  EXPECT_FALSE(IsVague("Shows who started the procedure, and why."));
}

TEST(Words, DocumentsNameTheActor) {
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
TEST(Words, MessagesNameTheActor) {
  for (const auto& file : ReadSourceTree()) {
    if (file.path.starts_with("tests/")) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_FALSE(IsVague(LiteralsOf(file.lines[i]))) << file.path << ":" << i + 1 << ": " << file.lines[i];
    }
  }
}

TEST(Words, CommentsNameTheActor) {
  for (const auto& file : ReadSourceTree()) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_FALSE(IsVague(CommentOf(file.lines[i]))) << file.path << ":" << i + 1 << ": " << file.lines[i];
    }
  }
}

}  // namespace
}  // namespace ratchet::tidy
