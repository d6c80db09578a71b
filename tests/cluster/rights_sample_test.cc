// A random sample of all methods on real processes, by a user without any right: refused, and nothing happens. The
// methods are read from the text of their declarations. Tests 2 and 3 of identity.
#include <algorithm>
#include <set>

#include "common/base/prng.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/ratchet_service.h"
#include "tests/cluster/declared_methods.h"
#include "tests/cluster/rights_fixture.h"

namespace ratchet::chaos {
namespace {

constexpr int kCalls = 2'000;

// Only methods that a user without rights may not call.
std::vector<Declared> ReadGuarded() {
  std::vector<Declared> all = ReadDeclared();
  std::erase_if(
      all, [](const Declared& each) { return each.need == "any" || each.need == "filter" || each.need == "handler"; });
  return all;
}

class RightsSampleTest : public RightsFixture {
 protected:
  // The class of the refusal; empty: allowed.
  std::string Ask(rpc::ChannelPool& pool, const std::string& process, const Declared& method,
                  const TargetFiller& filler) {
    const auto request = NewMessage(method.request);
    const auto response = NewMessage(method.response);
    if (request == nullptr || response == nullptr) return "no such message: " + method.request;
    filler.Fill(*request);
    return CallDeclared(pool, {"127.0.0.1", cluster().Info(process).port}, method, *request, response);
  }
  // The procedures of this user, also those that have finished.
  int ProceduresOf(const std::string& user) {
    ratchet::pb::ListProceduresRequest request;
    request.set_include_finished(true);
    const auto listed = admin().Call(methods::kListProcedures, request);
    EXPECT_TRUE(listed.ok());
    if (!listed.ok()) return -1;
    EXPECT_GT(listed->procedure_size(), 0);
    return static_cast<int>(std::count_if(listed->procedure().begin(), listed->procedure().end(),
                                          [&](const auto& procedure) { return procedure.owner() == user; }));
  }
};

TEST_F(RightsSampleTest, AUserWithoutRightsIsRefusedAndNothingHappens) {
  const std::uint64_t seed = RandomSeed();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Prng prng(seed);
  Boot(1, 2, Enforcing());
  if (HasFatalFailure()) return;
  MakeTable("t", 2);
  if (HasFatalFailure()) return;
  const auto regions = admin().Regions(TableName("default", "t"));
  ASSERT_OK(regions);
  const TargetFiller filler(regions->front().region, true);
  const std::string holder = ProcessOf(regions->front().server);
  const std::vector<Declared> methods = ReadGuarded();
  ASSERT_GT(methods.size(), 100U);
  rpc::ChannelPool stranger(As("stranger"));
  std::set<std::string> allowed;
  for (int call = 0; call < kCalls; ++call) {
    const Declared& method = methods[prng.Below(methods.size())];
    const bool at_server = method.service == "AdminService" && prng.Chance(3, 4);
    const std::string answer = Ask(stranger, at_server ? holder : "master-1", method, filler);
    const bool not_served = answer == rpc::kNoSuchMethod || answer == rpc::exception::kUnknownService;
    if (!at_server && method.service == "AdminService" && not_served) continue;
    if (answer != rpc::exception::kAccessDenied) allowed.insert(method.service + "." + method.method + ": " + answer);
  }
  EXPECT_EQ(allowed, std::set<std::string>()) << "seed " << seed;
  EXPECT_EQ(ProceduresOf("stranger"), 0) << "a refused call has made a procedure";
  EXPECT_EQ(admin().Regions(TableName("default", "t"))->size(), 2U);
}

}  // namespace
}  // namespace ratchet::chaos
