// Checks that the files that the Dockerfile copies are in its build context, and are built before the image.
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace ratchet::tidy {
namespace {

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The sources of each COPY; a line that ends with a backslash continues.
std::set<std::string> CopiedInto(std::string dockerfile) {
  for (std::size_t at = 0; (at = dockerfile.find("\\\n", at)) != std::string::npos;) dockerfile.replace(at, 2, " ");
  std::set<std::string> sources;
  std::istringstream lines(dockerfile);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word) || word != "COPY") continue;
    for (std::string before; words >> word; before = word) {
      if (!before.empty()) sources.insert(before);
    }
  }
  return sources;
}

TEST(Image, TheSourcesOfACopyAreFound) {
  EXPECT_EQ(CopiedInto("FROM x\nCOPY a/b c \\\n  /d/\n# COPY e /f\n"), (std::set<std::string>{"a/b", "c"}));
}

TEST(Image, WhatIsCopiedIsInTheContextAndIsBuilt) {
  std::set<std::string> let_in;
  std::istringstream ignore(ReadText(".dockerignore"));
  for (std::string line; std::getline(ignore, line);) {
    if (line.starts_with('!')) let_in.insert(line.substr(1));
  }
  const std::set<std::string> copied = CopiedInto(ReadText("Dockerfile"));
  ASSERT_FALSE(copied.empty()) << "run from the root of the project";
  EXPECT_EQ(copied, let_in) << ".dockerignore lets through what the Dockerfile copies, and nothing else";
  // The line `scripts/build docker-image release TARGET...`.
  std::set<std::string> built;
  std::istringstream script(ReadText("scripts/docker-image"));
  for (std::string line; std::getline(script, line);) {
    if (!line.starts_with("scripts/build docker-image release ")) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;) built.insert(word);
  }
  for (const std::string& source : copied) {
    if (!source.starts_with("build/release/image/")) continue;  // the programs, stripped by that script
    EXPECT_TRUE(built.contains(source.substr(source.rfind('/') + 1)))
        << source << " is not built by scripts/docker-image";
  }
}

}  // namespace
}  // namespace ratchet::tidy
