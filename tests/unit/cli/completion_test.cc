// The completions for shells, from the declarations of the verbs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/tools/cli/completion.h"
#include "common/tools/cli/verbs.h"

namespace ratchet::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

class CompletionTest : public testing::Test {
 protected:
  CompletionTest() : app_("test", "ratchet") {
    app_.add_option("--zookeeper", place_);
    app_.add_flag("--json", json_);
    AddAllVerbs(app_, action_);
  }
  Completion Of(const std::vector<std::string>& words) { return CompletionOf(app_, words); }

  CLI::App app_;
  Action action_;
  std::string place_;
  bool json_ = false;
};

TEST_F(CompletionTest, VerbsComeFirst) {
  EXPECT_THAT(Of({""}).words, Contains("procedures"));
  EXPECT_THAT(Of({"--zookeeper", "h:1", "sc"}).words, Contains("scan"));
  EXPECT_THAT(Of({"--zookeeper", ""}).words, IsEmpty()) << "the flag's own value";
  EXPECT_THAT(Of({"nosuch", ""}).words, IsEmpty());
}

TEST_F(CompletionTest, EachArgumentHasItsKind) {
  EXPECT_EQ(Of({"scan", ""}).kind, kind::kTable);
  EXPECT_EQ(Of({"move", ""}).kind, kind::kRegion);
  EXPECT_EQ(Of({"move", "56f9", ""}).kind, kind::kServer);
  EXPECT_EQ(Of({"abort", "--why", "a reason", ""}).kind, kind::kPid);
  EXPECT_EQ(Of({"import", "t", ""}).kind, kind::kFile);
  EXPECT_EQ(Of({"events", "--pid", ""}).kind, kind::kPid);
  EXPECT_EQ(Of({"scan", "t", ""}).kind, "") << "one table";
  EXPECT_EQ(Of({"pause", "table", ""}).kind, kind::kTable);
  EXPECT_EQ(Of({"pause", "region", ""}).kind, kind::kRegion);
  EXPECT_THAT(Of({"pause", ""}).words, Contains("everything"));
}

TEST_F(CompletionTest, FlagsAndClosedListsAreWords) {
  EXPECT_THAT(Of({"scan", "t", "--"}).words, Contains("--prefix"));
  EXPECT_THAT(Of({"scan", "t", "--"}).words, Contains("--zookeeper"));
  EXPECT_THAT(Of({"scan", "t", "--"}).words, Not(Contains("--regions")));
  EXPECT_THAT(Fitting(Of({"create", "t", "f", "--split", ""}).words, ""), ElementsAre("hex", "uniform"));
}

TEST(Completion, OnlyMatchesAreReturned) {
  EXPECT_THAT(Fitting({"scan", "status", "servers", "scan"}, "s"), ElementsAre("scan", "servers", "status"));
  EXPECT_THAT(Fitting({"scan", "status"}, "st"), ElementsAre("status"));
  EXPECT_EQ(FlagIn({"--zookeeper", "h:1", "scan"}, "--zookeeper"), "h:1");
  EXPECT_EQ(FlagIn({"--zookeeper=h:2", "scan"}, "--zookeeper"), "h:2");
  EXPECT_EQ(FlagIn({"scan"}, "--zookeeper"), "");
}

}  // namespace
}  // namespace ratchet::cli
