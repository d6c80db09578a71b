// Checks that docs/locks.md lists every lock of the product, and nothing else. Run from the root of the project.
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tidy/source_tree.h"

namespace ratchet::tidy {
namespace {

constexpr const char* kPage = "docs/locks.md";

// "Class::member" of each member that is a lock. The sources are formatted, so indentation shows what encloses a line.
std::set<std::string> LocksIn(const std::vector<SourceFile>& files) {
  static const std::regex opens(
      R"(^( *)(?:class|struct)(?: [A-Z_]+(?:\([^)]*\))?)*(?: alignas\(\d+\))? ([\w:]+)(?: final)?(?: :[^;]*)? *\{?$)");
  static const std::regex lock(R"(^( *)(?:mutable )?(?:Mutex|SharedMutex|AdaptiveMutex) (\w+)(?: [A-Z_]+\([^)]*\))?;)");
  std::set<std::string> locks;
  for (const SourceFile& file : files) {
    std::vector<std::pair<std::size_t, std::string>> classes;  // indentation and name, the innermost last
    for (const std::string& line : file.lines) {
      std::smatch match;
      if (std::regex_search(line, match, opens)) {
        const auto indent = static_cast<std::size_t>(match[1].length());
        std::erase_if(classes, [indent](const auto& outer) { return outer.first >= indent; });
        classes.emplace_back(indent, match[2].str());
      } else if (std::regex_search(line, match, lock)) {
        std::string name;
        for (const auto& [indent, outer] : classes) {
          if (indent < static_cast<std::size_t>(match[1].length())) name += outer + "::";
        }
        if (!name.empty()) locks.insert(name + match[2].str());  // otherwise it is local, or no member
      }
    }
  }
  return locks;
}

TEST(LocksPage, MembersAreFoundWithTheirClasses) {
  SourceFile file{"a.h",
                  "",
                  {"class Outer {", " private:", "  struct Inner {", "    Mutex mutex;", "  };",
                   "  mutable SharedMutex mutex_ ACQUIRED_BEFORE(x);", "};",
                   "class CAPABILITY(\"mutex\") alignas(64) Other final : public Base {",
                   "  AdaptiveMutex mutex_;  // of all", "};", "Mutex alone;"}};
  EXPECT_EQ(LocksIn({file}), (std::set<std::string>{"Outer::Inner::mutex", "Outer::mutex_", "Other::mutex_"}));
}

// Rows begin with the lock in backticks.
TEST(LocksPage, ListsEveryLockOfTheProduct) {
  std::vector<SourceFile> product;
  for (const SourceFile& file : ReadSourceTree()) {
    for (const char* folder : {"common/", "procedure/", "master/", "regionserver/"}) {
      if (file.path.starts_with(folder)) product.push_back(file);
    }
  }
  const std::set<std::string> locks = LocksIn(product);
  ASSERT_GT(locks.size(), 100U);
  std::ifstream page(kPage);
  static const std::regex row(R"(^\| `([\w:]+)` \|)");
  std::set<std::string> listed;
  for (std::string line; std::getline(page, line);) {
    std::smatch match;
    if (!std::regex_search(line, match, row)) continue;
    EXPECT_TRUE(listed.insert(match[1].str()).second) << line;
  }
  for (const std::string& name : locks) EXPECT_TRUE(listed.contains(name)) << kPage << " lacks " << name;
  for (const std::string& name : listed) EXPECT_TRUE(locks.contains(name)) << kPage << ": no class has " << name;
}

}  // namespace
}  // namespace ratchet::tidy
