// The maximum number of active pauses.
#include "procedure/engine/pause.h"
#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

class PauseLimitTest : public ExecutorTest {
 protected:
  static PauseScope Table(std::size_t i) { return PauseScope::Resource(ResourceKey::Table(std::to_string(i))); }
  std::string Pause(std::size_t i) {
    std::string answer = "unanswered";
    executor().Pause(Table(i), {"op", "why"}, Millis{0}, [&answer](const Result<PauseReport>& report) {
      answer = report.ok() ? "ok" : report.error().ToString();
    });
    return answer;
  }
};

TEST_F(PauseLimitTest, AtMostTheLimitRunsAtATime) {
  for (std::size_t i = 0; i < kMostPauses; ++i) ASSERT_EQ(Pause(i), "ok");
  EXPECT_EQ(
      Pause(kMostPauses),
      fmt::format("FAILED_PRECONDITION: {} pauses are active, the maximum: resume some of them first", kMostPauses));
  EXPECT_EQ(Pause(7), "ok") << "it is in force already";
  EXPECT_EQ(executor().Pauses().size(), kMostPauses);
  Status resumed = Error(Code::kUnavailable, "unanswered");
  executor().Resume(Table(7), {"op", "done"}, [&resumed](const Status& status) { resumed = status; });
  EXPECT_TRUE(resumed.ok());
  EXPECT_EQ(Pause(kMostPauses), "ok");
}

}  // namespace
}  // namespace ratchet::procedure
