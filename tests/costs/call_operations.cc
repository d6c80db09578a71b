#include <fmt/core.h>

#include "common/base/check.h"
#include "tests/costs/measured.h"
#include "tests/unit/regionserver_server/service_fixture.h"

namespace ratchet::costs {
namespace {

// A server and a client in this process, with one connection between them.
class CallWorld final : public regionserver::ServiceFixture {
 public:
  CallWorld() {
    SetUp();
    RATCHET_CHECK(OpenRegion(region_).outcome == regionserver::OrderOutcome::kOpened, "the region is not open");
    PutOne();
  }
  ~CallWorld() override { TearDown(); }
  void PutOne() { RATCHET_CHECK(Put(region_, "row", "q", std::string(100, 'v')).ok(), "a put failed"); }
  void GetOne() { RATCHET_CHECK(Get(region_, "row").ok(), "a get failed"); }

 private:
  void TestBody() override {}
  const RegionInfo region_ = TableRegion();
};

}  // namespace

std::vector<Operation> CallOperations() {
  const auto world = std::make_shared<CallWorld>();
  const auto get = [world] {
    for (std::size_t i = 0; i < kRound; ++i) world->GetOne();
  };
  const auto put = [world] {
    for (std::size_t i = 0; i < kRound; ++i) world->PutOne();
  };
  return {{"server.call_of_get", kRound, get}, {"server.call_of_put", kRound, put}};
}

}  // namespace ratchet::costs
