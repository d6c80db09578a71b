// The rights of users on real processes: how they reach every region server, when a change is answered, that they
// outlive a master, and that nothing continues after they were taken. Tests 34 and 35 of identity.
#include <algorithm>
#include <atomic>

#include "tests/cluster/rights_fixture.h"
#include "tests/cluster/uses.h"

namespace ratchet::chaos {
namespace {

class RightsChangeTest : public RightsFixture {
 protected:
  Result<pb::RightsImage> Image() {
    RATCHET_ASSIGN(const auto answer, admin().Call(methods::kListRights, pb::ListRightsRequest()));
    return answer.rights();
  }
  std::vector<std::uint64_t> Unfinished(const std::string& type) {
    pb::ListProceduresRequest request;
    std::vector<std::uint64_t> pids;
    const auto answer = admin().Call(methods::kListProcedures, request);
    if (!answer.ok()) return pids;
    for (const auto& each : answer->procedure()) {
      if (each.type() == type && !each.finished()) pids.push_back(each.pid());
    }
    return pids;
  }
  void AwaitSuccess(const ProcessId& command) {
    std::optional<Ended> ended;
    ASSERT_OK(ProcessCluster::WaitUntil("the end of the change", kPatience, [&] {
      ended = CheckEnded(command);
      return ended.has_value();
    }));
    EXPECT_EQ(ended->code.value_or(-1), cli::kExitOk);
  }
  // A table with one region at each region server, and one row in each.
  void MakeSpreadTable(const std::string& name, std::vector<UsedPlace>* places) {
    const std::vector<std::string> servers = cluster().Names(Role::kRegionServer);
    MakeTable(name, static_cast<int>(servers.size()));
    if (HasFatalFailure()) return;
    const TableName table("default", name);
    auto regions = admin().Regions(table);
    ASSERT_OK(regions);
    ASSERT_EQ(regions->size(), servers.size());
    for (std::size_t i = 0; i < servers.size(); ++i) MoveTo(servers[i], (*regions)[i].region.encoded_name());
    for (std::size_t i = 0; i < servers.size(); ++i) {
      const RegionInfo& region = (*regions)[i].region;
      places->push_back({servers[i],
                         {"127.0.0.1", cluster().Info(servers[i]).port},
                         {},
                         region.start_key + "0",
                         region.encoded_name()});
      SpecifyRegion(region, places->back().region);
      client::Mutation put = client::Mutation::Put(places->back().row);
      ASSERT_OK(client::Table(connection(), table).Mutate(put.Set("u", "v", "0")));
    }
  }
  void MoveTo(const std::string& process, const std::string& region) {
    ASSERT_OK(admin().WaitOk(admin().Transit(client::RegionVerb::kMove, region, ServerNameOf(process))));
  }
  static hpb::GetRequest GetOf(const UsedPlace& place) {
    hpb::GetRequest get;
    *get.mutable_region() = place.region;
    get.mutable_get()->set_row(place.row);
    return get;
  }
  // Gives the right, sees every use at every server, takes the right, and sees none.
  void GiveAndTake(Uses& uses, const hpb::Permission& right, const std::string& dead = "") {
    std::string missing;
    uses.Now(Uses::Known::kChanging);
    ASSERT_OK(Grant("alice", right));
    uses.Now(Uses::Known::kAllowed);
    const Status used =
        ProcessCluster::WaitUntil("every use", kPatience, [&] { return uses.Each(true, 2, dead, &missing); });
    ASSERT_TRUE(used.ok()) << missing;
    uses.Now(Uses::Known::kChanging);
    if (!dead.empty()) ASSERT_OK(cluster().Kill9(dead));
    ASSERT_OK(Revoke("alice", right));
    uses.Now(Uses::Known::kDenied);
    const Status refused =
        ProcessCluster::WaitUntil("every refusal", kPatience, [&] { return uses.Each(false, 3, dead, &missing); });
    ASSERT_TRUE(refused.ok()) << missing;
  }
  // Gets of alice that are sent now, and answered whenever the server can. Counts answers with a row.
  void SendGets(rpc::ChannelPool& pool, const UsedPlace& place, int gets) {
    for (int i = 0; i < gets; ++i) {
      rpc::CallOptions options;
      options.timeout = kPatience;
      ++outstanding_;
      pool.Call(methods::kGet, place.endpoint, GetOf(place), std::move(options), [this](const auto& answer) {
        if (answer.ok()) ++answered_;
        --outstanding_;
      });
    }
  }
  std::atomic<int> outstanding_{0};
  std::atomic<int> answered_{0};
};

TEST_F(RightsChangeTest, AfterTheAnswerToARevocationNothingThatIsUnderWayGoesOn) {
  Boot(1, 3, Enforcing());
  if (HasFatalFailure()) return;
  std::vector<UsedPlace> places;
  MakeSpreadTable("t", &places);
  if (HasFatalFailure()) return;
  client::Table table(connection(), TableName("default", "t"));
  for (const UsedPlace& place : places) {
    for (int i = 0; i < 10; ++i)
      ASSERT_OK(table.Mutate(client::Mutation::Put(place.row + std::to_string(i)).Set("u", "v", "0")));
  }
  Uses uses("alice", places);
  const std::vector<hpb::Permission> scopes{InTable("t", "RW"), InTable("t", "RW", "u"), InNamespace("default", "RWX"),
                                            Everywhere("RWC")};
  for (const hpb::Permission& right : scopes) {
    SCOPED_TRACE(right.ShortDebugString());
    GiveAndTake(uses, right);
    if (HasFatalFailure()) return;
  }
  // A server that dies meanwhile delays the answer until it is fenced, and refuses after its restart.
  const auto meta = cluster().MetaHolder();
  ASSERT_OK(meta);
  const std::string victim = *meta == "rs-1" ? "rs-2" : "rs-1";
  GiveAndTake(uses, scopes.front(), victim);
  if (HasFatalFailure()) return;
  ASSERT_OK(cluster().Start(victim));
  ASSERT_OK(cluster().WaitServing(kPatience));
  MoveTo(victim,
         std::find_if(places.begin(), places.end(), [&](const auto& each) { return each.process == victim; })->encoded);
  std::string missing;
  const Status refused =
      ProcessCluster::WaitUntil("every refusal", kPatience, [&] { return uses.Each(false, 3, "", &missing); });
  ASSERT_TRUE(refused.ok()) << missing;
  uses.Stop();
  EXPECT_EQ(uses.Contradictions(), std::vector<std::string>());
  client::Scanner scanner = table.Scan({});
  int written = 0;
  for (;;) {
    const auto row = scanner.Next();
    ASSERT_OK(row);
    if (!row->has_value()) break;
    const auto value = (*row)->Value("u", "used");
    if (!value) continue;
    ++written;
    EXPECT_FALSE(Uses::IsForbidden(*value)) << (*row)->key << ": a refused put was executed";
  }
  EXPECT_GT(written, 0);
}

// S135 (a change is answered when every server has it): a stopped server is waited for, and `ratchet why` names it. It
// denies when it wakes, also what was sent to it meanwhile.
TEST_F(RightsChangeTest, ARevocationWaitsForAStoppedServerUntilItIsFenced) {
  ClusterSpec spec = Enforcing();
  // Long enough to see that the change waits, short enough to see the end of the wait.
  spec.server_flags = {"--zk-session-ms", "20000"};
  spec.master_flags = {"--remote-dispatcher-expire-after-ms", "60000"};
  spec.environment["RATCHET_START_AGAIN"] = "true";
  Boot(2, 3, spec);
  if (HasFatalFailure()) return;
  std::vector<UsedPlace> places;
  MakeSpreadTable("t", &places);
  if (HasFatalFailure()) return;
  Verb({"grant", "alice", "RW", "t"});
  Verb({"grant", "@ops", "A"});
  const Told rights = RunHere({"rights"});
  EXPECT_NE(rights.text.find("alice"), std::string::npos) << rights.text;
  EXPECT_NE(rights.text.find("@ops"), std::string::npos) << rights.text;
  EXPECT_EQ(RunHere({"grant", "alice", "R", "no_such_table"}).code, cli::kExitNotFound);

  const auto meta = cluster().MetaHolder();
  ASSERT_OK(meta);
  const std::string victim = *meta == "rs-1" ? "rs-2" : "rs-1";
  const ServerName stopped = ServerNameOf(victim);
  const auto at = std::find_if(places.begin(), places.end(), [&](const auto& each) { return each.process == victim; });
  rpc::ChannelPool alice(As("alice"));
  for (const UsedPlace& place : places) ASSERT_OK(alice.CallSync(methods::kGet, place.endpoint, GetOf(place)));

  // Woken before it is fenced: the change waits for it, and then it denies.
  ASSERT_OK(cluster().Pause(victim));
  auto revoking = Begin({"revoke", "alice", "W", "t"});
  ASSERT_OK(revoking);
  ASSERT_OK(ProcessCluster::WaitUntil("the revocation", kPatience, [&] { return !Unfinished("SetRights").empty(); }));
  EXPECT_FALSE(CheckEnded(*revoking).has_value()) << "answered while a server still had the old rights";
  ASSERT_OK(cluster().Resume(victim));
  AwaitSuccess(*revoking);
  hpb::MutateRequest put;
  *put.mutable_region() = at->region;
  client::ToProto(client::Mutation::Put(at->row).Set("u", "v", "late"), 0, *put.mutable_mutation());
  EXPECT_TRUE(IsDenied(alice.CallSync(methods::kMutate, at->endpoint, put)));
  EXPECT_FALSE(IsDenied(alice.CallSync(methods::kGet, at->endpoint, GetOf(*at)))) << "only W was taken";

  // Woken after it was fenced.
  ASSERT_OK(cluster().Pause(victim));
  revoking = Begin({"revoke", "alice", "R", "t"});
  ASSERT_OK(revoking);
  ASSERT_OK(ProcessCluster::WaitUntil("the revocation", kPatience, [&] { return !Unfinished("SetRights").empty(); }));
  ExpectWhy(1, {std::to_string(Unfinished("SetRights").front())}, "SILENT_SERVER", {stopped.ToString()});
  EXPECT_FALSE(CheckEnded(*revoking).has_value()) << "answered while a server still had the old rights";
  AwaitSuccess(*revoking);
  for (const UsedPlace& place : places) {
    if (place.process == victim) continue;
    EXPECT_TRUE(IsDenied(alice.CallSync(methods::kGet, place.endpoint, GetOf(place)))) << place.process;
  }
  SendGets(alice, *at, 20);
  ASSERT_OK(cluster().Resume(victim));
  ASSERT_OK(ProcessCluster::WaitUntil("all answers", kPatience, [&] { return outstanding_ == 0; }));
  EXPECT_EQ(answered_, 0) << "the woken server has read rows for a user without a right";
  ASSERT_OK(cluster().WaitServing(kPatience));
  MoveTo(victim, at->encoded);
  EXPECT_TRUE(IsDenied(alice.CallSync(methods::kGet, at->endpoint, GetOf(*at))));
  alice.Stop();
  const auto image = Image();
  ASSERT_OK(image);
  EXPECT_EQ(image->entries_size(), 2) << "of @ops and of the table's owner";
}

TEST_F(RightsChangeTest, TheNextMasterGivesNewerImages) {
  Boot(2, 2);
  if (HasFatalFailure()) return;
  Verb({"grant", "alice", "RWXCA"});
  const auto before = Image();
  ASSERT_OK(before);
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  ASSERT_OK(cluster().Kill9(*active));
  ASSERT_OK(cluster().WaitActiveMaster(kPatience, *active));
  ASSERT_OK(cluster().WaitServing(kPatience));
  const auto after = Image();
  ASSERT_OK(after);
  EXPECT_GT(after->epoch(), before->epoch());
  ASSERT_EQ(after->entries_size(), 1);
  EXPECT_EQ(after->entries(0).user(), "alice");
  for (const char* server : {"rs-1", "rs-2"})
    ASSERT_OK(cluster().WaitLog(server, fmt::format("Rights: image {}.", after->epoch()), kPatience));
}

}  // namespace
}  // namespace ratchet::chaos
