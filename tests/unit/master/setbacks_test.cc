// What keeps the recovery of a server is shown for as long as it does.
#include "master/procedures/setback.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

// A damaged log: status counts its split as stuck, and the split says why.
TEST_F(MasterTest, ASplitThatIsRefusedAgainAndAgainIsShownAsStuck) {
  constexpr std::uint32_t kTolerated = 10;  // what status asks for
  cluster_.Boot(3);
  GivenTable("t", 3);
  sim::SimServer& victim = OtherThan(MetaHost());
  for (sim::SimServer* server : cluster_.Alive()) server->refuse_splits = 1'000'000;
  cluster_.Kill(victim);
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().executor().Count(kTolerated).stuck > 0; }));
  const auto splits = master().executor().FindUnfinished("SplitWal");
  ASSERT_FALSE(splits.empty());
  const auto shown = master().executor().Get(splits.front());
  EXPECT_NE(shown->description.find("failures="), std::string::npos) << shown->description;
  ASSERT_TRUE(shown->last_error.has_value());
  EXPECT_NE(shown->last_error->message().find("did not split"), std::string::npos);
  for (sim::SimServer* server : cluster_.Alive()) server->refuse_splits = 0;
  ExpectServed("t", 3);
}

// No log of the server can be read: its crash procedure says so, for as long as that lasts, and then goes on.
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
