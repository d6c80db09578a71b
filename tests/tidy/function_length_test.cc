// The length of functions, found by their braces: from the first line of the signature to the closing brace.
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tidy/source_tree.h"

namespace ratchet::tidy {
namespace {

struct Function {
  std::string name;
  std::size_t first = 0;  // counted from 1
  std::size_t lines = 0;
};

// Reads a file's lines. Outside of functions it collects the text before each brace, which shows what the brace opens.
class FunctionFinder {
 public:
  void Take(const std::string& line) {
    ++line_;
    static const std::regex character(R"re('(\\.|[^'\\])')re");
    const std::string code = std::regex_replace(CodeOf(line), character, " ");
    if (code.starts_with('#')) return;
    for (const char each : code) TakeCharacter(each);
    if (!text_.empty()) text_ += ' ';
  }
  [[nodiscard]] const std::vector<Function>& found() const { return found_; }
  [[nodiscard]] std::size_t open() const { return scopes_ + inside_; }  // 0 at the end of a file

 private:
  void TakeCharacter(char each) {
    if (each == '{' && inside_ == 0 && OpensScope()) {
      ++scopes_;
      Forget();
    } else if (each == '{') {
      ++inside_;
    } else if (each == '}' && inside_ > 0) {
      if (--inside_ == 0) End();
    } else if (each == '}' && scopes_ > 0) {
      --scopes_;
      Forget();
    } else if (inside_ == 0 && each == ';') {
      Forget();
    } else if (inside_ == 0 && (each != ' ' || !text_.empty())) {
      if (text_.empty()) first_ = line_;
      text_ += each;
    }
  }
  void Forget() { text_.clear(); }
  [[nodiscard]] bool OpensScope() const {
    static const std::regex scope(R"re(^\s*((public|private|protected):\s*)?(template\s*<.*>\s*)?)re"
                                  R"re((inline\s+)?(namespace|class|struct|enum|union|extern)\b)re");
    return std::regex_search(text_, scope);
  }
  void End() {
    static const std::regex signature(R"re(([\w~]+)\()re");
    std::smatch name;
    if (std::regex_search(text_, name, signature)) found_.push_back({name[1], first_, line_ - first_ + 1});
    Forget();
  }

  std::size_t line_ = 0;
  std::size_t first_ = 0;
  std::size_t scopes_ = 0;
  std::size_t inside_ = 0;  // braces of a function or of an initializer
  std::string text_;
  std::vector<Function> found_;
};

std::vector<Function> FunctionsIn(const std::vector<std::string>& lines, std::size_t& open) {
  FunctionFinder finder;
  for (const std::string& line : lines) finder.Take(line);
  open = finder.open();
  return finder.found();
}

TEST(FunctionLength, IsCountedFromTheSignature) {
  std::size_t open = 1;
  const auto found =
      FunctionsIn({"namespace a {", "class B : public C {", " public:", "  B() : x_{1}, y_(2) {", "  }", "  int x_{0};",
                   "};", "const int kTable[] = {", "    1,", "};", "template <class T>",
                   "Result<int> B::Find(const std::string& name,", "                    char c) const {",
                   "  if (c == '{') {", "    return Say(\"}\");  // }", "  }", "  return 0;", "}", "}  // namespace a"},
                  open);
  EXPECT_EQ(open, 0U);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.back().name, "Find");
  EXPECT_EQ(found.back().first, 11U);
  EXPECT_EQ(found.back().lines, 8U);
}

// 70 lines, except for functions whose body is a table.
TEST(FunctionLength, FunctionsStayShort) {
  constexpr std::size_t kMaxLines = 70;
  static const std::set<std::string> tables = {"Scenarios", "ClusterTables", "Makers"};
  std::set<std::string> long_tables;
  std::size_t functions = 0;
  for (const auto& file : ReadSourceTree()) {
    const bool code = file.path.ends_with(".h") || file.path.ends_with(".cc");
    if (!code || file.path.starts_with("tests/") || file.path.starts_with("docs/")) continue;
    std::size_t open = 0;
    for (const Function& function : FunctionsIn(file.lines, open)) {
      ++functions;
      if (function.lines <= kMaxLines) continue;
      if (tables.contains(function.name)) long_tables.insert(function.name);
      EXPECT_TRUE(tables.contains(function.name))
          << file.path << ":" << function.first << ": " << function.name << " has " << function.lines
          << " lines: divide it into functions with one job each";
    }
    EXPECT_EQ(open, 0U) << file.path << ": the braces of this file are not understood";
  }
  EXPECT_GT(functions, 5'000U);
  EXPECT_EQ(long_tables, tables) << "take tables that are short now off the list";
}

}  // namespace
}  // namespace ratchet::tidy
