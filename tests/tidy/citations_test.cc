// Checks that the citations of documents and comments exist: links and their anchors, files, rules, tests, mutants and
// symbols.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "tests/tidy/source_tree.h"

namespace ratchet::tidy {
namespace {

using Names = std::set<std::string>;

// One line of text, with its place.
struct Prose {
  std::string path;
  std::size_t line = 0;
  std::string text;

  [[nodiscard]] std::string Where() const { return path + ":" + std::to_string(line) + ": "; }
};

// All lines of the documents, and all comments of the sources.
std::vector<Prose> AllProse() {
  std::vector<Prose> prose;
  for (const auto& file : ReadDocuments()) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) prose.push_back({file.path, i + 1, file.lines[i]});
  }
  for (const auto& file : ReadSourceTree()) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      std::string comment = CommentOf(file.lines[i]);
      if (!comment.empty()) prose.push_back({file.path, i + 1, std::move(comment)});
    }
  }
  return prose;
}

std::vector<std::smatch> Matches(const std::string& text, const std::regex& pattern) {
  return {std::sregex_iterator(text.begin(), text.end(), pattern), std::sregex_iterator()};
}

// Returns a heading's anchor, as common Markdown viewers make it.
std::string AnchorOf(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    if (c == ' ') anchor += '-';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_')
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return anchor;
}

Names AnchorsOf(const std::string& path) {
  Names anchors;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto text = line.find_first_not_of('#');
    if (line.starts_with('#') && text != std::string::npos) anchors.insert(AnchorOf(line.substr(text + 1)));
  }
  return anchors;
}

std::string FolderOf(const std::string& path) { return std::filesystem::path(path).parent_path().generic_string(); }

std::string Below(const std::string& folder, const std::string& path) {
  return (std::filesystem::path(folder) / path).lexically_normal().generic_string();
}

// Returns the fault of a link; empty if its target exists.
std::string FaultOfLink(const std::string& from, const std::string& link) {
  const auto hash = link.find('#');
  const std::string path = link.substr(0, hash);
  const std::string target = path.empty() ? from : Below(FolderOf(from), path);
  if (!std::filesystem::exists(target)) return "links to " + link + ", which is not there";
  if (hash != std::string::npos && !AnchorsOf(target).contains(link.substr(hash + 1))) {
    return "links to " + link + ": the file has no such heading";
  }
  return {};
}

TEST(Citations, EveryRelativeLinkLeadsSomewhere) {
  static const std::regex link(R"(\]\(([^)\s]+)\))");
  std::size_t found = 0;
  for (const auto& document : ReadDocuments()) {
    for (std::size_t i = 0; i < document.lines.size(); ++i) {
      for (const auto& match : Matches(document.lines[i], link)) {
        if (match[1].str().starts_with("http")) continue;
        ++found;
        EXPECT_EQ(FaultOfLink(document.path, match[1].str()), "") << document.path << ":" << i + 1;
      }
    }
  }
  EXPECT_GT(found, 50U) << "run from the root of the project";
}

TEST(Citations, AWrongLinkIsFound) {
  EXPECT_EQ(FaultOfLink("docs/README.md", "glossary.md#glossary"), "");
  EXPECT_NE(FaultOfLink("docs/README.md", "glossary.md#no-such-heading"), "");
  EXPECT_NE(FaultOfLink("docs/README.md", "no_such_page.md"), "");
}

// Paths from the root, from the folder of the text or from the one above it; a bare name may be in any folder.
bool IsFile(const Names& paths, const Names& names, const std::string& from, const std::string& path) {
  if (path.find('/') == std::string::npos) return names.contains(path);
  const std::string folder = FolderOf(from);
  return paths.contains(path) || paths.contains(Below(folder, path)) || paths.contains(Below(FolderOf(folder), path));
}

TEST(Citations, EveryFileIsThere) {
  static const std::regex mention(R"((^|[^\w.\/<>*-])([\w.\/-]*\w\.(?:h|cc|md|proto|def|pml))(?![\w\/]))");
  static const Names outside = {"ext4.h", "common/model/proto/x.pb.h"};  // a header of the kernel; a pattern
  Names paths;
  Names names;
  for (const auto& path : AllPaths()) {
    paths.insert(path);
    names.insert(path.substr(path.rfind('/') + 1));
  }
  std::size_t found = 0;
  for (const auto& prose : AllProse()) {
    for (const auto& match : Matches(prose.text, mention)) {
      if (outside.contains(match[2].str())) continue;
      ++found;
      EXPECT_TRUE(IsFile(paths, names, prose.path, match[2].str())) << prose.Where() << "no file " << match[2];
    }
  }
  EXPECT_GT(found, 200U);
}

TEST(Citations, EveryRuleIsThere) {
  static const std::regex heading(R"(^### (S\d+)'? \()");
  static const std::regex mention(R"(\bS\d+\b)");
  Names rules;
  std::ifstream document("docs/safety-rules.md");
  for (std::string line; std::getline(document, line);) {
    for (const auto& match : Matches(line, heading)) rules.insert(match[1].str());
  }
  ASSERT_GE(rules.size(), 110U);
  for (const auto& prose : AllProse()) {
    for (const auto& match : Matches(prose.text, mention)) {
      EXPECT_TRUE(rules.contains(match.str())) << prose.Where() << "docs/safety-rules.md has no rule " << match.str();
    }
  }
}

TEST(Citations, EveryTestIsThere) {
  static const std::regex declaration(R"(^TEST(?:_F|_P)?\((\w+),\s*(\w+)\))");
  static const std::regex mention(R"(\b([A-Z]\w+)\.([A-Z]\w+)\b)");
  Names suites;
  Names tests;
  for (const auto& file : ReadSourceTree()) {
    for (const auto& line : file.lines) {
      if (!line.starts_with("TEST")) continue;
      for (const auto& match : Matches(line, declaration)) {
        suites.insert(match[1].str());
        tests.insert(match[1].str() + "." + match[2].str());
      }
    }
  }
  for (const auto& prose : AllProse()) {
    for (const auto& match : Matches(prose.text, mention)) {
      const std::string suite = match[1].str();
      if (!suites.contains(suite) && !suite.ends_with("Test") && !suite.ends_with("Mutants")) continue;
      const auto at = tests.lower_bound(match.str());  // the text may be a common prefix of several names
      EXPECT_TRUE(at != tests.end() && at->starts_with(match.str())) << prose.Where() << "no test " << match.str();
    }
  }
}

TEST(Citations, EveryMutantIsThere) {
  static const std::regex mention(R"(`([a-z]+)\.([a-z]+(?:_[a-z]+)+)`)");
  Names mutants;
  for (const std::string& line : MutantNames()) mutants.insert(line.substr(0, line.find(':')));
  for (const auto& prose : AllProse()) {
    if (prose.text.find("mutant") == std::string::npos) continue;
    for (const auto& match : Matches(prose.text, mention)) {
      const std::string name = match[1].str() + "." + match[2].str();
      EXPECT_TRUE(mutants.contains(name)) << prose.Where() << "no mutant " << name;
    }
  }
}

// Every word of the code, of its string literals, of the scripts and of the names of files.
Names WordsOfTheTree() {
  static const std::regex word(R"(\w+)");
  Names words;
  const auto take = [&](const std::string& text) {
    for (const auto& match : Matches(text, word)) words.insert(match.str());
  };
  for (const auto& file : ReadSourceTree()) {
    for (const auto& line : file.lines) take(line.substr(0, line.size() - CommentOf(line).size()));
  }
  for (const auto& path : AllPaths()) {
    take(path);
    const bool script = path.starts_with("scripts/") || path.starts_with(".ci/") ||
                        path.starts_with("tests/clients/") || path.ends_with("CMakeLists.txt") ||
                        path.ends_with(".py") || path.ends_with(".cmake") || path.ends_with(".json") ||
                        path.ends_with(".pml") || path.ends_with(".yml");
    if (!script) continue;
    std::ifstream file(path);
    take({std::istreambuf_iterator<char>(file), {}});
  }
  return words;
}

// Names in backticks, and names with colons: each of their parts must occur in the code.
TEST(Citations, EverySymbolIsThere) {
  static const std::regex quoted(R"(`([A-Za-z_]\w*(?:(?:::|\.|->)\w+)*)(?:\(\))?`)");
  static const std::regex member(R"(\b[A-Z]\w+(?:::\w+)+)");
  static const std::regex part(R"(\w+)");
  static const Names of_hbase = {"holdLock", "lastUpdate", "RpcConnectionRegistry", "canHint"};
  const Names words = WordsOfTheTree();
  // RATCHET_<SETTING> is derived from a setting's name; CMake makes cluster_<file> and fuzz_<part>.
  const auto composed = [](const std::string& name) {
    return name.starts_with("RATCHET_") || name.starts_with("cluster_") || name.starts_with("fuzz_");
  };
  std::size_t found = 0;
  const auto check = [&](const Prose& prose, const std::string& symbol) {
    for (const auto& match : Matches(symbol, part)) {
      const std::string name = match.str();
      const bool plain =
          name.find('_') == std::string::npos && name.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string::npos;
      if (plain || of_hbase.contains(name) || composed(name)) continue;
      // ratchet_<family> is the name of a metric in Prometheus.
      if (name.starts_with("ratchet_") && words.contains(name.substr(std::string_view("ratchet_").size()))) continue;
      ++found;
      EXPECT_TRUE(words.contains(name)) << prose.Where() << "the code has no " << name << " (" << symbol << ")";
    }
  };
  for (const auto& prose : AllProse()) {
    for (const auto& match : Matches(prose.text, quoted)) check(prose, match[1].str());
    if (prose.path.ends_with(".md")) continue;  // documents also name HBase's classes in backticks
    for (const auto& match : Matches(prose.text, member)) check(prose, match.str());
  }
  EXPECT_GT(found, 500U);
}

// Papers that are not in this tree.
TEST(Citations, NothingOutsideTheTreeIsCited) {
  static const std::regex paper(R"(\bPROTOCOL(?:\.md)? S?\d|\bDESIGN(?:\.md)?(?: \d|[:,)])|reference wire|)"
                                R"(\b[Tt]he seeds\b|\bthe seed's (?!seq))");
  for (const auto& prose : AllProse()) {
    if (prose.path == "tests/tidy/citations_test.cc") continue;
    EXPECT_FALSE(std::regex_search(prose.text, paper)) << prose.Where() << prose.text;
  }
}

}  // namespace
}  // namespace ratchet::tidy
