// The reason that delays the recovery of a server is shown as long as it exists.
#include "master/procedures/core/setback.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

// A damaged log: status counts its split as stuck, and the split gives the reason.
TEST_F(MasterTest, ASplitThatIsRefusedAgainAndAgainIsShownAsStuck) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  sim::SimServer& victim = OtherThan(MetaHost());
  for (sim::SimServer* server : cluster_.Alive()) server->refuse_splits = 1'000'000;
  cluster_.Kill(victim);
  const auto shown = [&]() -> std::optional<procedure::ProcedureInfo> {
    const auto splits = master().executor().FindUnfinished("SplitWal");
    return splits.empty() ? std::nullopt : master().executor().Get(splits.front());
  };
  ASSERT_TRUE(cluster_.RunUntil([&] {
    const auto info = shown();
    const auto setback = info ? SetbackOf(*info) : std::nullopt;
    return setback && setback->times >= 3;  // the condition that status calls stuck
  }));
  EXPECT_NE(shown()->description.text().find("failures="), std::string::npos) << shown()->description.text();
  EXPECT_NE(SetbackOf(*shown())->error.find("did not split"), std::string::npos);
  for (sim::SimServer* server : cluster_.Alive()) server->refuse_splits = 0;
  ExpectServed("t", 3);
}

// No log of the server can be read: its crash procedure reports that as long as it lasts, and then continues.
TEST_F(MasterTest, LogsThatCannotBeSealedAreNamed) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  sim::SimServer& victim = OtherThan(MetaHost());
  std::string& unreadable = cluster_.storage().logs.at(victim.name()).unreadable;
  unreadable = "log.0000000001: read: Input/output error";
  cluster_.Kill(victim);
  const auto worst = [&]() -> std::optional<TreeSetback> {
    const auto crashes = master().executor().FindUnfinished("ServerCrash");
    return crashes.empty() ? std::nullopt : WorstSetbackOf(master().executor().Tree(crashes.front()));
  };
  ASSERT_TRUE(cluster_.RunUntil([&] { return worst() && worst()->setback.times > 5; }));
  EXPECT_NE(worst()->setback.error.find("Input/output error"), std::string::npos) << worst()->setback.error;
  unreadable.clear();
  ExpectServed("t", 3);
}

}  // namespace
}  // namespace ratchet::master
