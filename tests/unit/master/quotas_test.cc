// Quotas of requests at the master: the content of a cell of hbase:quota, the change that a request makes, and the list
// that servers get.
#include <map>
#include <memory>
#include <optional>

#include "common/model/codec.h"
#include "master/chores/quota_manager.h"
#include "master/cluster/quota_rows.h"
#include "master/cluster/switches.h"
#include "master/cluster/table_directory.h"
#include "master/requests/switch_admin.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

using hbase::pb::SetQuotaRequest;
using hbase::pb::ThrottleOf;

SetQuotaRequest Throttle(hbase::pb::ThrottleType type, std::uint64_t limit, hbase::pb::TimeUnit unit) {
  SetQuotaRequest request;
  request.mutable_throttle()->set_type(type);
  request.mutable_throttle()->mutable_timed_quota()->set_soft_limit(limit);
  request.mutable_throttle()->mutable_timed_quota()->set_time_unit(unit);
  return request;
}

SetQuotaRequest OfUser(SetQuotaRequest request, const std::string& user) {
  request.set_user_name(user);
  return request;
}

SetQuotaRequest OfTable(SetQuotaRequest request, const std::string& name) {
  ToProto(*TableName::Parse(name), *request.mutable_table_name());
  return request;
}

const SetQuotaRequest kSix = Throttle(hbase::pb::READ_NUMBER, 6, hbase::pb::SECONDS);

// ---- cells ----------------------------------------------------------------------------------------------------------

TEST(QuotaRowsTest, RowsAndColumnsAreHBases) {
  SetQuotaRequest of_namespace = kSix;
  of_namespace.set_namespace_("shop");
  SetQuotaRequest of_servers = kSix;
  of_servers.set_region_server("all");
  SetQuotaRequest of_user_there = OfUser(of_namespace, "ann");
  for (const auto& [request, row, qualifier] :
       {std::tuple{OfUser(kSix, "ann"), "u.ann", "s"}, std::tuple{OfTable(kSix, "t"), "t.t", "s"},
        std::tuple{OfTable(kSix, "shop:t"), "t.shop:t", "s"}, std::tuple{of_namespace, "n.shop", "s"},
        std::tuple{of_servers, "r.all", "s"}, std::tuple{OfUser(OfTable(kSix, "shop:t"), "ann"), "u.ann", "s.shop:t"},
        std::tuple{of_user_there, "u.ann", "s.shop:"}}) {
    auto cell = QuotaCellOf(request);
    ASSERT_TRUE(cell.ok()) << cell.error().ToString();
    EXPECT_EQ(cell->row, row);
    EXPECT_EQ(cell->qualifier, qualifier);
    const auto value = ChangedQuotas(request, std::nullopt);
    ASSERT_TRUE(value.ok() && value->has_value());
    EXPECT_EQ((*value)->substr(0, 4), "PBUF");
    cell->value = **value;
    const auto of = ThrottleIn(*cell);
    ASSERT_TRUE(of.ok()) << of.error().ToString();
    EXPECT_EQ(of->user(), request.user_name());
    EXPECT_EQ(of->table().namespace_(), request.table_name().namespace_());
    EXPECT_EQ(of->table().qualifier(), request.table_name().qualifier());
    EXPECT_EQ(of->namespace_(), request.namespace_());
    EXPECT_EQ(of->quotas().throttle().read_num().soft_limit(), 6U);
  }
}

TEST(QuotaRowsTest, ChangesMergeAndTheLastOneDeletesTheCell) {
  SystemTable::Value stored;
  const auto apply = [&stored](const SetQuotaRequest& request) {
    const auto after = ChangedQuotas(request, stored);
    ASSERT_TRUE(after.ok()) << after.error().ToString();
    stored = *after;
  };
  const auto quotas = [&stored] { return ThrottleIn({"u.ann", "s", stored.value_or("")})->quotas(); };
  apply(OfUser(kSix, "ann"));
  apply(OfUser(Throttle(hbase::pb::WRITE_SIZE, 12, hbase::pb::DAYS), "ann"));
  SetQuotaRequest let_off = OfUser({}, "ann");
  let_off.set_bypass_globals(true);
  apply(let_off);
  EXPECT_EQ(quotas().throttle().read_num().soft_limit(), 6U);
  EXPECT_EQ(quotas().throttle().write_size().time_unit(), hbase::pb::DAYS);
  EXPECT_TRUE(quotas().bypass_globals());
  SetQuotaRequest without_reads = OfUser({}, "ann");
  without_reads.mutable_throttle()->set_type(hbase::pb::READ_NUMBER);
  apply(without_reads);
  EXPECT_FALSE(quotas().throttle().has_read_num());
  EXPECT_TRUE(quotas().throttle().has_write_size());
  SetQuotaRequest without_limits = OfUser({}, "ann");
  without_limits.mutable_throttle();
  apply(without_limits);
  EXPECT_FALSE(quotas().has_throttle());
  let_off.set_bypass_globals(false);
  apply(let_off);
  EXPECT_FALSE(stored.has_value());
  apply(OfUser(kSix, "ann"));
  SetQuotaRequest everything = OfUser({}, "ann");
  everything.set_remove_all(true);
  apply(everything);
  EXPECT_FALSE(stored.has_value());
}

TEST(QuotaRowsTest, UnsupportedRequestIsRefusedByName) {
  const auto refusal = [](const SetQuotaRequest& request) {
    const auto cell = QuotaCellOf(request);
    if (!cell.ok()) return cell.error().message();
    const auto after = ChangedQuotas(request, std::nullopt);
    return after.ok() ? std::string() : after.error().message();
  };
  SetQuotaRequest space = OfTable({}, "t");
  space.mutable_space_limit()->mutable_quota()->set_soft_limit(1);
  EXPECT_NE(refusal(space).find("space quotas are not supported"), std::string::npos);
  space.mutable_space_limit()->mutable_quota()->set_remove(true);
  EXPECT_EQ(refusal(space), "") << "there is none to remove";
  SetQuotaRequest group = kSix;
  group.set_user_group("staff");
  EXPECT_NE(refusal(group).find("groups"), std::string::npos);
  SetQuotaRequest one_server = kSix;
  one_server.set_region_server("rs-1,16020,5");
  EXPECT_NE(refusal(one_server).find("rs-1"), std::string::npos);
  SetQuotaRequest let_off = OfTable({}, "t");
  let_off.set_bypass_globals(true);
  EXPECT_NE(refusal(let_off).find("only users"), std::string::npos);
  EXPECT_NE(refusal(kSix), "");
  EXPECT_NE(refusal(OfUser(Throttle(hbase::pb::READ_NUMBER, 0, hbase::pb::SECONDS), "ann")), "");
  EXPECT_NE(refusal(OfUser(Throttle(hbase::pb::READ_NUMBER, 5, hbase::pb::NANOSECONDS), "ann")), "");
  EXPECT_NE(refusal(OfUser(kSix, "")), "");
  EXPECT_FALSE(ThrottleIn({"u.ann", "s", "no magic"}).ok());
  EXPECT_FALSE(ThrottleIn({"x.ann", "s", "PBUF"}).ok());
  EXPECT_FALSE(ThrottleIn({"u.ann", "other", "PBUF"}).ok());
}

TEST(QuotaRowsTest, ClusterLimitsAreReducedToTheServersShare) {
  hbase::pb::Quotas quotas;
  auto& shared = *quotas.mutable_throttle()->mutable_read_num();
  shared.set_time_unit(hbase::pb::SECONDS);
  shared.set_soft_limit(10);
  auto& own = *quotas.mutable_throttle()->mutable_write_num();
  own = shared;
  EXPECT_FALSE(IsShared(quotas));
  shared.set_scope(hbase::pb::CLUSTER);
  EXPECT_TRUE(IsShared(quotas));
  ReduceToShare(0.25, quotas);
  EXPECT_EQ(shared.soft_limit(), 2U);
  EXPECT_EQ(own.soft_limit(), 10U);
  ReduceToShare(0, quotas);
  EXPECT_EQ(shared.soft_limit(), 1U);
}

// ---- the manager ----------------------------------------------------------------------------------------------------

// Cells in memory, which outlive the master; answers at once.
class FakeQuotaTable final : public SystemTable {
 public:
  void Read(const SystemCell& cell, std::function<void(Result<Value>)> done) override {
    if (fails > 0 && fails-- > 0) return done(Error(Code::kUnavailable, "no region"));
    done(Stored(cell));
  }
  void Swap(const SystemCell& cell, Value before, Value after, std::function<void(Result<bool>)> done) override {
    if (between) std::exchange(between, nullptr)();
    if (Stored(cell) != before) return done(false);
    cells.erase({cell.row, cell.qualifier});
    if (after) cells[{cell.row, cell.qualifier}] = *after;
    if (lose_answers > 0 && lose_answers-- > 0) return done(Error(Code::kTimeout, "lost"));
    done(true);
  }
  void ReadAll(std::size_t most, std::function<void(Result<std::vector<SystemCell>>)> done) override {
    std::vector<SystemCell> all;
    for (const auto& [key, value] : cells) {
      if (all.size() < most) all.push_back({key.first, key.second, value});
    }
    done(std::move(all));
  }
  [[nodiscard]] Value Stored(const SystemCell& cell) const {
    const auto found = cells.find({cell.row, cell.qualifier});
    return found == cells.end() ? Value() : Value(found->second);
  }
  std::map<std::pair<std::string, std::string>, std::string> cells;
  std::function<void()> between;  // once, before a Swap
  int fails = 0;
  int lose_answers = 0;
};

class QuotaManagerTest : public MasterTest {
 protected:
  void Boot() {
    cluster_.Boot(2);
    master().logic().env.quota_table = &table_;
  }
  QuotaManager& manager() { return master().logic().quota_manager; }
  bool TickUntil(const std::function<bool()>& done) {
    for (int i = 0; i < 100 && !done(); ++i) {
      manager().Tick();
      EXPECT_TRUE(cluster_.RunFor(Millis(1'000)));
    }
    return done();
  }
  // "ok", or the reason of the refusal; empty: no answer has come.
  std::string Set(const SetQuotaRequest& request) {
    const auto answer = std::make_shared<std::string>();
    manager().Set(request, [answer](const Status& set) {
      *answer = set.ok() ? "ok" : set.error().remote_class() + ": " + set.error().message();
    });
    EXPECT_TRUE(TickUntil([&] { return !answer->empty(); }));
    return *answer;
  }
  std::string Exceed(bool on) {
    const auto answer = std::make_shared<std::string>();
    manager().SetMayExceed(on, [answer](const Result<bool>& before) {
      *answer = !before.ok() ? before.error().message() : *before ? "was on" : "was off";
    });
    EXPECT_TRUE(TickUntil([&] { return !answer->empty(); }));
    return *answer;
  }
  ServerName server() { return cluster_.Alive().front()->name(); }
  FakeQuotaTable table_;
};

TEST_F(QuotaManagerTest, FirstQuotaCreatesTheTableAndReachesServers) {
  Boot();
  EXPECT_FALSE(manager().ListFor(server(), 0));
  EXPECT_EQ(Set(OfTable(kSix, "t")), "ok");
  ASSERT_TRUE(master().logic().tables.Exists(QuotaTableName()));
  EXPECT_NE(master().logic().tables.Get(QuotaTableName())->schema->Family("q"), nullptr);
  EXPECT_TRUE(table_.cells.contains({"t.t", "s"}));
  const auto list = manager().ListFor(server(), 0);
  ASSERT_TRUE(list);
  EXPECT_TRUE(list->enabled());
  ASSERT_EQ(list->throttle_size(), 1);
  EXPECT_EQ(list->throttle(0).table().qualifier(), "t");
  EXPECT_FALSE(manager().ListFor(server(), list->digest())) << "the server has it";
  SetQuotaRequest remove = OfTable({}, "t");
  remove.set_remove_all(true);
  EXPECT_EQ(Set(remove), "ok");
  const auto empty = manager().ListFor(server(), list->digest());
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->throttle_size(), 0);
}

TEST_F(QuotaManagerTest, TheNextMasterReadsTheTable) {
  Boot();
  EXPECT_EQ(Set(OfUser(kSix, "ann")), "ok");
  const auto list = manager().ListFor(server(), 0);
  ASSERT_TRUE(list);
  cluster_.KillMaster();
  cluster_.StartMaster();
  ExpectSettled();
  master().logic().env.quota_table = &table_;
  EXPECT_FALSE(manager().ListFor(server(), list->digest())) << "before the table is read nothing is said";
  ASSERT_TRUE(TickUntil([&] { return manager().ListFor(server(), 0).has_value(); }));
  EXPECT_EQ(manager().ListFor(server(), 0)->digest(), list->digest());
}

TEST_F(QuotaManagerTest, FailedWriteIsRetriedAndALostAnswerIsNotASecondChange) {
  Boot();
  EXPECT_EQ(Set(OfUser(kSix, "ann")), "ok");
  table_.fails = 3;
  table_.lose_answers = 1;
  EXPECT_EQ(Set(OfUser(Throttle(hbase::pb::WRITE_NUMBER, 9, hbase::pb::MINUTES), "ann")), "ok");
  EXPECT_EQ(ThrottleIn({"u.ann", "s", table_.cells.at({"u.ann", "s"})})->quotas().throttle().write_num().soft_limit(),
            9U);
  // Another master changes the cell between the read and the write: neither change is lost.
  table_.between = [this] {
    auto other = ChangedQuotas(OfUser(Throttle(hbase::pb::READ_SIZE, 1, hbase::pb::DAYS), "ann"),
                               table_.cells.at({"u.ann", "s"}));
    table_.cells[{"u.ann", "s"}] = **other;
  };
  EXPECT_EQ(Set(OfUser(Throttle(hbase::pb::WRITE_SIZE, 8, hbase::pb::HOURS), "ann")), "ok");
  const auto quotas = ThrottleIn({"u.ann", "s", table_.cells.at({"u.ann", "s"})})->quotas();
  EXPECT_TRUE(quotas.throttle().has_read_num() && quotas.throttle().has_write_num());
  EXPECT_TRUE(quotas.throttle().has_read_size() && quotas.throttle().has_write_size());
}

TEST_F(QuotaManagerTest, UnreadableQuotaIsShownAndTheOthersApply) {
  Boot();
  EXPECT_EQ(Set(OfUser(kSix, "ann")), "ok");
  table_.cells[{"u.bob", "s"}] = "rubbish";
  EXPECT_EQ(Set(OfUser(kSix, "cid")), "ok");
  EXPECT_NE(manager().problem().find("u.bob"), std::string::npos);
  EXPECT_EQ(manager().ListFor(server(), 0)->throttle_size(), 2);
}

TEST_F(QuotaManagerTest, ExceedingNeedsALimitOfTheServers) {
  Boot();
  EXPECT_EQ(Exceed(false), "was off");
  EXPECT_NE(Exceed(true).find("requires a limit of the region servers"), std::string::npos);
  SetQuotaRequest of_servers = Throttle(hbase::pb::REQUEST_NUMBER, 1'000, hbase::pb::SECONDS);
  of_servers.set_region_server("all");
  EXPECT_EQ(Set(of_servers), "ok");
  EXPECT_EQ(Exceed(true), "was off");
  EXPECT_TRUE(manager().ListFor(server(), 0)->may_exceed());
  SetQuotaRequest remove;
  remove.set_region_server("all");
  remove.set_remove_all(true);
  EXPECT_NE(Set(remove).find("requires a limit of the region servers"), std::string::npos);
  EXPECT_EQ(Exceed(false), "was on");
  EXPECT_EQ(Set(remove), "ok");
}

TEST_F(QuotaManagerTest, QuotasOfADeletedTableAreRemoved) {
  Boot();
  SetQuotaRequest of_servers = Throttle(hbase::pb::REQUEST_NUMBER, 1'000, hbase::pb::SECONDS);
  of_servers.set_region_server("all");
  EXPECT_EQ(Set(of_servers), "ok");
  EXPECT_EQ(Exceed(true), "was off");
  table_.cells[{"u.bob", "s"}] = "rubbish";
  ASSERT_TRUE(TickUntil([&] { return !manager().problem().empty(); }));
  const auto list = manager().ListFor(server(), 0);
  ASSERT_TRUE(list);
  const auto disabled = master().Ask([&](Done done) { admin().DisableTable(QuotaTableName(), {"me", {}}, done); });
  ExpectSettled();
  EXPECT_EQ(Outcome(disabled), "success");
  const auto deleted = master().Ask([&](Done done) { admin().DeleteTable(QuotaTableName(), {"me", {}}, done); });
  ExpectSettled();
  EXPECT_EQ(Outcome(deleted), "success");
  table_.cells.clear();
  ASSERT_TRUE(TickUntil([&] { return manager().problem().empty(); }));
  const auto empty = manager().ListFor(server(), list->digest());
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->throttle_size(), 0);
  EXPECT_FALSE(empty->may_exceed());
}

TEST_F(QuotaManagerTest, ServersReceiveTheSwitch) {
  Boot();
  EXPECT_EQ(Set(OfUser(kSix, "ann")), "ok");
  const auto before = manager().ListFor(server(), 0);
  bool switched = false;
  master().logic().switch_admin.Set({{Switch::kRpcThrottle}, false, false, {"me", {}}},
                                    [&](const auto& was) { switched = was.ok() && was->front(); });
  ASSERT_TRUE(cluster_.RunUntil([&] { return switched; }));
  const auto after = manager().ListFor(server(), before->digest());
  ASSERT_TRUE(after);
  EXPECT_FALSE(after->enabled());
}

TEST_F(QuotaManagerTest, ALimitOfTheClusterIsDividedByServersAndRegions) {
  Boot();
  GivenTable("t", 4);
  SetQuotaRequest of_table = OfTable(Throttle(hbase::pb::READ_NUMBER, 400, hbase::pb::SECONDS), "t");
  of_table.mutable_throttle()->mutable_timed_quota()->set_scope(hbase::pb::CLUSTER);
  SetQuotaRequest of_user = OfUser(Throttle(hbase::pb::READ_NUMBER, 600, hbase::pb::SECONDS), "ann");
  of_user.mutable_throttle()->mutable_timed_quota()->set_scope(hbase::pb::CLUSTER);
  EXPECT_EQ(Set(of_table), "ok");
  EXPECT_EQ(Set(of_user), "ok");
  std::uint64_t of_all = 0;
  for (sim::SimServer* each : cluster_.Alive()) {
    const auto list = manager().ListFor(each->name(), 0);
    ASSERT_TRUE(list);
    for (const ThrottleOf& of : list->throttle()) {
      const std::uint64_t limit = of.quotas().throttle().read_num().soft_limit();
      if (of.has_table()) {
        of_all += limit;
      } else {
        EXPECT_EQ(limit, 300U);
      }
    }
  }
  EXPECT_EQ(of_all, 400U);
}

TEST_F(QuotaManagerTest, ADisabledTableRefusesChangesAndNoneAreKeptWithoutATable) {
  Boot();
  EXPECT_EQ(Set(OfUser(kSix, "ann")), "ok");
  const auto disabled = master().Ask([&](Done done) { admin().DisableTable(QuotaTableName(), {"me", {}}, done); });
  ExpectSettled();
  EXPECT_EQ(Outcome(disabled), "success");
  EXPECT_NE(Set(OfUser(kSix, "bob")).find("TableNotEnabled"), std::string::npos);
  EXPECT_FALSE(table_.cells.contains({"u.bob", "s"}));
  master().logic().env.quota_table = nullptr;
  EXPECT_NE(Set(OfUser(kSix, "bob")).find("does not support quotas"), std::string::npos);
}

}  // namespace
}  // namespace ratchet::master
