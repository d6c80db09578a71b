// Counts the files that a procedure of the master changes (docs/adding.md), and checks how mutants are written there.
#include <regex>
#include <set>

#include <gtest/gtest.h>

#include "tests/tidy/source_tree.h"

namespace ratchet::tidy {
namespace {

bool IsProduct(const std::string& path) { return !path.starts_with("tests/") && !path.starts_with("docs/"); }

// SetSwitches has data of its own, two steps, and one part of the master that submits it.
TEST(Adding, AProcedureChangesThreeFiles) {
  const std::regex names("\\bSetSwitches(Data)?\\b");
  const std::string submits = "master/requests/switch_admin.cc";
  std::set<std::string> found;
  for (const SourceFile& file : ReadSourceTree()) {
    if (!IsProduct(file.path) || file.path == submits) continue;
    for (const std::string& line : file.lines) {
      if (std::regex_search(CodeOf(line) + " " + LiteralsOf(line), names)) found.insert(file.path);
    }
  }
  EXPECT_EQ(found,
            (std::set<std::string>{"master/procedures/admin/switch_data.proto",  // 1
                                   "master/procedures/admin/set_switches.h", "master/procedures/admin/set_switches.cc",
                                   "master/procedures/procedures.def"}))
      << "docs/adding.md, \"A procedure of the master\", and issue 28 count header and source as one file";
}

// A type that is renamed or added is forgotten where its name is text. The class has the name once, in kTypeName; other
// parts ask for kTypeName, or for claims (master/procedures/core/claims.h).
TEST(Adding, NoPartNamesATypeOfProcedureAsText) {
  std::set<std::string> types;
  const std::regex line_of_list("^RATCHET_PROCEDURE\\((\\w+), ");
  const std::vector<SourceFile> sources = ReadSourceTree();
  for (const SourceFile& file : sources) {
    if (file.path != "master/procedures/procedures.def") continue;
    std::smatch match;
    for (const std::string& line : file.lines) {
      if (std::regex_search(line, match, line_of_list)) types.insert(match[1]);
    }
  }
  ASSERT_GT(types.size(), 40U);
  const std::regex quoted("\"(\\w+)\"");
  for (const SourceFile& file : sources) {
    if (!file.path.starts_with("master/") && !file.path.starts_with("procedure/")) continue;
    for (const std::string& line : file.lines) {
      if (line.find("kTypeName =") != std::string::npos) continue;
      for (std::sregex_iterator text(line.begin(), line.end(), quoted), end; text != end; ++text)
        EXPECT_FALSE(types.contains((*text)[1])) << file.path << ": " << line;
    }
  }
}

// A mutant weakens a condition; no statement exists for a mutant alone.
TEST(Adding, MutantsOfProceduresOnlyWeakenConditions) {
  const std::regex alone("if \\(!?RATCHET_MUTANT\\(\"[^\"]*\"\\)\\)");
  for (const SourceFile& file : ReadSourceTree()) {
    if (!file.path.starts_with("master/procedures/")) continue;
    for (const std::string& line : file.lines)
      EXPECT_FALSE(std::regex_search(line, alone)) << file.path << ": " << line;
  }
}

}  // namespace
}  // namespace ratchet::tidy
