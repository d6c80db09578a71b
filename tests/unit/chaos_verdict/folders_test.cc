#include "chaos/verdict/folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace ratchet::chaos {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FoldersTest : public ::testing::Test {
 protected:
  FoldersTest() : root_(std::filesystem::temp_directory_path() / ("ratchet-folders-" + std::to_string(getpid()))) {
    Make("wals/h,1,2");
    Make("data/default/a.b.17/r1");
    Make("data/default/a.b.17/r2");
    Make("data/default/a.b.17/.tabledesc");
    expected_.servers = {"h,1,2"};
    expected_.regions[TableName("default", "a.b")] = {"r1", "r2", "never-opened"};
  }
  ~FoldersTest() override { std::filesystem::remove_all(root_); }
  void Make(const char* folder) { std::filesystem::create_directories(root_ / folder); }
  std::vector<std::string> Compare() {
    const auto wrong = CompareFolders(expected_, root_);
    EXPECT_TRUE(wrong.ok());
    return wrong.ok() ? *wrong : std::vector<std::string>{"error"};
  }

  const std::filesystem::path root_;
  ExpectedFolders expected_;
};

TEST_F(FoldersTest, OwnedFoldersAreAccepted) { EXPECT_THAT(Compare(), IsEmpty()); }

TEST_F(FoldersTest, FoldersWithoutAnOwnerAreNamed) {
  Make("wals/h,1,2-splitting");
  EXPECT_THAT(Compare(), ElementsAre("wals/h,1,2-splitting does not belong to a live server"));
  expected_.servers.insert("h,1,2-splitting");
  Make("data/default/gone.5");
  EXPECT_THAT(Compare(), ElementsAre("data/default/gone.5 does not belong to a table"));
  expected_.regions[TableName("default", "gone")];
  Make("data/default/gone.5/r9");
  EXPECT_THAT(Compare(), ElementsAre("data/default/gone.5/r9 does not belong to a region"));
}

TEST_F(FoldersTest, ATableHasOneDirectory) {
  Make("data/default/a.b.99");
  EXPECT_THAT(Compare(), ElementsAre("table a.b has 2 directories"));
  expected_.regions[TableName("default", "lost")];
  std::filesystem::remove_all(root_ / "data/default/a.b.99");
  EXPECT_THAT(Compare(), ElementsAre("table lost has 0 directories"));
}

TEST_F(FoldersTest, WhatCannotBeReadIsAnError) {
  std::filesystem::remove_all(root_ / "wals");
  EXPECT_FALSE(CompareFolders(expected_, root_).ok());
}

}  // namespace
}  // namespace ratchet::chaos
