// Finds tests that cannot fail: a search for the empty text, and a test of a mutant that passes on any failure.
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tidy/source_tree.h"

namespace ratchet::tidy {
namespace {

// The text of each TEST, TEST_F and TEST_P: from the line with its name to the brace in the first column.
std::vector<std::string> Tests(const std::string& text) {
  std::vector<std::string> found;
  for (std::size_t at = text.find("\nTEST"); at != std::string::npos; at = text.find("\nTEST", at + 1)) {
    const std::size_t line = text.find('\n', at + 1);
    const bool one_line = line != std::string::npos && line > 0 && text[line - 1] == '}';
    const std::size_t end = one_line ? line : text.find("\n}", at + 1);
    if (end == std::string::npos) break;
    found.push_back(text.substr(at + 1, end - at - 1));
  }
  return found;
}

// Returns the expectations of a file that always hold; each begins with the name of its test.
std::vector<std::string> Vacuous(const std::string& text) {
  static const std::regex empty_search(R"re((find|HasSubstr|StartsWith|EndsWith)\(""\))re");
  // The second argument may be in the next line.
  static const std::regex any_fault(R"re((EXPECT|ASSERT)_NE\([^;]*,\s*""\))re");
  static const std::regex no_reason(R"re(\},\s*""\);)re");
  std::vector<std::string> found;
  std::smatch match;
  for (const std::string& test : Tests(text)) {
    const std::string name = test.substr(0, test.find('\n'));
    const bool of_mutant =
        test.find("ScopedMutant") != std::string::npos || test.find("ExpectKilled(") != std::string::npos;
    if (std::regex_search(test, match, empty_search)) found.push_back(name + " searches for the empty text");
    if (of_mutant && std::regex_search(test, any_fault)) {
      found.push_back(name + " takes any fault for the mutant's: name the reason with ExpectKilled");
    }
    if (test.find("ExpectKilled(") != std::string::npos && std::regex_search(test, no_reason))
      found.push_back(name + " names no reason");
  }
  return found;
}

TEST(Vacuous, PlantedExpectationsAreFound) {
  const auto found = [](const std::string& body) { return Vacuous("\nTEST_F(A, B) {\n" + body + "\n}\n").size(); };
  const std::string mutant = "  const ScopedMutant mutant(kOne);\n";
  EXPECT_EQ(found(mutant + R"(  EXPECT_NE(Story(), "");)"), 1U);
  EXPECT_EQ(found(mutant + "  EXPECT_NE(\n      Story(1, 2),\n      \"\") << 1;"), 1U);
  EXPECT_EQ(found(R"(  EXPECT_NE(Story(), "");)"), 0U) << "without a mutant it can fail";
  EXPECT_EQ(found(mutant + R"(  EXPECT_EQ(Story(), "lost");)"), 0U);
  EXPECT_EQ(found(R"(  EXPECT_NE(all.find(""), npos);)"), 1U);
  EXPECT_EQ(found(R"(  EXPECT_THAT(all, HasSubstr(""));)"), 1U);
  EXPECT_EQ(found(R"(  ExpectKilled(kOne, [] { return Story(); }, "");)"), 1U);
  EXPECT_EQ(found(R"(  ExpectKilled(kOne, [] { return Story(); }, "lost");)"), 0U);
  EXPECT_EQ(Vacuous("\nTEST(A, B) { EXPECT_NE(all.find(\"\"), npos); }\nint x;\n").size(), 1U);
}

TEST(Vacuous, EachExpectationCanFail) {
  std::size_t tests = 0;
  for (const auto& file : ReadSourceTree()) {
    if (!file.path.starts_with("tests/") || file.path == "tests/tidy/vacuous_test.cc") continue;
    tests += Tests(file.text).size();
    for (const std::string& fault : Vacuous(file.text)) ADD_FAILURE() << file.path << ": " << fault;
  }
  EXPECT_GT(tests, 2'000U) << "run from the root of the project";
}

}  // namespace
}  // namespace ratchet::tidy
