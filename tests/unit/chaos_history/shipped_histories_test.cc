// The histories in tests/data/histories: each file's name shows whether it can be explained; its comment gives the
// reason.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "chaos/history/json_lines.h"
#include "chaos/history/linearizability.h"

namespace ratchet::chaos {
namespace {

TEST(ShippedHistoriesTest, BadOnesAreRejectedAndGoodOnesAccepted) {
  int good = 0;
  int bad = 0;
  for (const auto& file : std::filesystem::directory_iterator("tests/data/histories")) {
    const std::string name = file.path().filename();
    SCOPED_TRACE(name);
    const auto history = ReadHistory(file.path());
    ASSERT_TRUE(history.ok()) << history.error().ToString();
    const bool expected = name.starts_with("good-");
    ASSERT_TRUE(expected || name.starts_with("bad-")) << "names begin with good- or bad-";
    const auto verdict = CheckHistory(*history);
    EXPECT_EQ(verdict.good(), expected) << (verdict.bad.empty() ? "" : verdict.bad.front().verdict.explanation);
    EXPECT_TRUE(verdict.undecided.empty());
    ++(expected ? good : bad);
  }
  EXPECT_GE(good, 10) << "run from the root of the project";
  EXPECT_GE(bad, 15);
}

}  // namespace
}  // namespace ratchet::chaos
