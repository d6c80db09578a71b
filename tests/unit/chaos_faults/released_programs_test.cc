#include "chaos/cluster/released_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ratchet::chaos {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

TEST(ReleasedProgramsTest, SettingsAreThoseAtTheBeginningsOfTheLinesOfTheHelp) {
  constexpr const char* kHelp =
      "Owns the state.\n"
      "Usage: ratchet-master [OPTIONS]\n\n"
      "Options:\n"
      "  -h,--help                   print this and exit\n"
      "  --root,--hbase.rootdir VALUE ...\n"
      "                              Directory; see --zookeeper-of-another\n"
      "  --port VALUE ...            --in-the-text is not a setting\n";
  EXPECT_THAT(SettingsOfHelp(kHelp), UnorderedElementsAre("help", "root", "hbase.rootdir", "port"));
  EXPECT_TRUE(SettingsOfHelp("").empty());
}

TEST(ReleasedProgramsTest, WhatTheReleaseDoesNotKnowIsLeftOutWithItsValue) {
  EXPECT_THAT(
      OnlyKnown({"bin/ratchet-master", "--root", "/r", "--new", "5", "--port=7", "--newer=8", "--flag", "--port", "9"},
                {"root", "port"}),
      ElementsAre("bin/ratchet-master", "--root", "/r", "--port=7", "--port", "9"));
}

TEST(ReleasedProgramsTest, ADirectoryWithoutServersIsAnErrorWithTheNextAction) {
  const auto found = ReleasedPrograms::Find("/no-such-directory");
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message(), HasSubstr("/no-such-directory/ratchet-master: scripts/released-binaries"));
}

}  // namespace
}  // namespace ratchet::chaos
