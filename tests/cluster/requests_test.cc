// Bad requests through a whole cluster: each is refused with the exception that HBase's clients know, without other
// effects.
#include <algorithm>

#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/ratchet_service.h"
#include "tests/cluster/cluster_fixture.h"
#include "tests/cluster/meta_behind.h"

namespace ratchet::chaos {
namespace {

class RequestsTest : public ClusterTest {
 protected:
  void SayClosedInMeta(const std::string& encoded) {
    ASSERT_OK(ChangeRowBehind(admin(), cluster().root(), encoded, [](master::MetaEdit& edit) {
      EXPECT_EQ(edit.region.state, RegionState::kOpen);
      edit.region.state = RegionState::kClosed;
    }));
  }
};

TableDescriptor PlainTable(const std::string& name) {
  TableDescriptor descriptor;
  descriptor.name = TableName("default", name);
  descriptor.families.push_back(DefaultFamily("u"));
  return descriptor;
}

#define EXPECT_REFUSED(expression, exception_class)                                                         \
  do {                                                                                                      \
    const auto refused_result = (expression);                                                               \
    ASSERT_FALSE(refused_result.ok()) << #expression;                                                       \
    EXPECT_EQ(refused_result.error().remote_class(), exception_class) << refused_result.error().ToString(); \
  } while (false)

TEST_F(RequestsTest, AreRefusedByName) {
  Boot(1, 1);
  if (HasFatalFailure()) return;
  MakeTable("t", 2);
  if (HasFatalFailure()) return;
  const TableName t("default", "t");
  const TableName missing("default", "missing");
  namespace ex = rpc::exception;
  EXPECT_REFUSED(admin().WaitOk(admin().CreateTable(PlainTable("t"), {})), ex::kTableExists);
  EXPECT_REFUSED(admin().WaitOk(admin().DisableTable(missing)), ex::kTableNotFound);
  EXPECT_REFUSED(admin().WaitOk(admin().DeleteTable(missing)), ex::kTableNotFound);
  EXPECT_REFUSED(admin().WaitOk(admin().DeleteTable(t)), ex::kTableNotDisabled);
  EXPECT_REFUSED(admin().WaitOk(admin().EnableTable(t)), ex::kTableNotDisabled);
  EXPECT_REFUSED(admin().Describe(missing), ex::kTableNotFound);
  EXPECT_REFUSED(admin().Move("00000000000000000000000000000000", std::nullopt), ex::kUnknownRegion);
  EXPECT_FALSE(admin().WaitOk(admin().CreateTable(PlainTable("-bad"), {})).ok());
  auto rows = table();
  client::Table t_rows(connection(), t);
  EXPECT_REFUSED(t_rows.Mutate(client::Mutation::Put("r").Set("nofamily", "q", "v")), ex::kNoSuchColumnFamily);
  EXPECT_REFUSED(t_rows.Get({"r", {{"nofamily", std::nullopt}}, 1, {}}), ex::kNoSuchColumnFamily);
  EXPECT_REFUSED(client::Table(connection(), missing).Get({"r", {}, 1, {}}), ex::kTableNotFound);
  // The tables still work.
  ASSERT_OK(t_rows.Mutate(client::Mutation::Put("r").Set("u", "q", "v")));
  const auto row = t_rows.Get({"r", {}, 1, {}});
  ASSERT_OK(row);
  EXPECT_EQ(row->Value("u", "q"), "v");
}

TEST_F(RequestsTest, TwoCreationsOfOneTableAtOnceOneSucceeds) {
  Boot(1, 2);
  if (HasFatalFailure()) return;
  const auto first = admin().CreateTable(PlainTable("twice"), {"5"});
  const auto second = admin().CreateTable(PlainTable("twice"), {"5"});
  const bool first_ok = first.ok() && admin().WaitOk(first).ok();
  const bool second_ok = second.ok() && admin().WaitOk(second).ok();
  EXPECT_NE(first_ok, second_ok);
}

TEST_F(RequestsTest, TheDataOperationsWorkThroughTheWholePath) {
  Boot(1, 2);
  if (HasFatalFailure()) return;
  MakeTable("t", 4);
  if (HasFatalFailure()) return;
  client::Table t(connection(), TableName("default", "t"));
  ASSERT_OK(t.Mutate(client::Mutation::Put("000001").Set("u", "a", "1").Set("u", "b", "2")));
  auto appended = t.Mutate(client::Mutation::Append("000001").Set("u", "a", "+"));
  ASSERT_OK(appended);
  EXPECT_EQ(appended->Value("u", "a"), "1+");
  auto sum = t.Mutate(client::Mutation::Increment("000001").Add("u", "n", 5));
  ASSERT_OK(sum);
  EXPECT_EQ(sum->Value("u", "n"), EncodeInt64(5));
  auto unequal =
      t.CheckAndMutate({"u", "b", client::CompareOp::kEqual, "3"}, client::Mutation::Put("000001").Set("u", "b", "4"));
  ASSERT_OK(unequal);
  EXPECT_FALSE(*unequal);
  auto equal =
      t.CheckAndMutate({"u", "b", client::CompareOp::kEqual, "2"}, client::Mutation::Put("000001").Set("u", "b", "4"));
  ASSERT_OK(equal);
  EXPECT_TRUE(*equal);
  ASSERT_OK(t.Mutate(client::Mutation::Delete("000001").Remove(CellType::kDeleteColumn, "u", "n")));
  const auto row = t.Get({"000001", {}, 1, {}});
  ASSERT_OK(row);
  EXPECT_EQ(row->Value("u", "b"), "4");
  EXPECT_FALSE(row->Value("u", "n").has_value());
  // Reads rows on both sides of every region's edge, forwards and backwards.
  std::vector<client::Mutation> puts;
  for (int i = 0; i < 0x20000; i += 997)
    puts.push_back(client::Mutation::Put(fmt::format("{:06X}", i)).Set("u", "k", "v"));
  for (const auto& status : t.MutateMany(puts)) ASSERT_OK(status);
  std::vector<std::string> forward;
  std::vector<std::string> backward;
  for (const bool reversed : {false, true}) {
    client::Scan scan;
    scan.reversed = reversed;
    scan.rows_per_call = 7;
    auto scanner = t.Scan(scan);
    for (;;) {
      auto next = scanner.Next();
      ASSERT_OK(next);
      if (!*next) break;
      (reversed ? backward : forward).push_back((*next)->key);
    }
  }
  EXPECT_EQ(forward.size(), puts.size() + 1);
  std::reverse(backward.begin(), backward.end());
  EXPECT_EQ(forward, backward);
}

// `ratchet reconcile` on a row of hbase:meta that was edited by hand.
TEST_F(RequestsTest, TheReconcilerIsAskedToLookAndShowsWhatItDid) {
  Boot(1, 2);
  if (HasFatalFailure()) return;
  MakeTable("t", 2);
  if (HasFatalFailure()) return;
  const auto regions = admin().Regions(TableName("default", "t"));
  ASSERT_OK(regions);
  const RegionInfo region = regions->front().region;
  SayClosedInMeta(region.encoded_name());
  if (HasFatalFailure()) return;
  client::Table meta(connection(), MetaTableName());
  const auto state = [&] {
    const auto row = meta.Get({region.name(), {}, 1, {}});
    return std::string(row.ok() ? row->Value("info", "state").value_or("") : "");
  };
  ASSERT_EQ(state(), "CLOSED");
  const auto reconcile = [&](bool look) {
    pb::ReconcileRequest request;
    request.set_look_now(look);
    return admin().Call(methods::kReconcile, request);
  };
  const auto about = [&](const auto& findings) {
    return std::any_of(findings.begin(), findings.end(),
                       [&](const auto& finding) { return finding.encoded_name() == region.encoded_name(); });
  };
  // State that changed within the last second is not judged, so the first checks may find nothing.
  bool doubted = false;
  ASSERT_OK(WaitUntil("the repair", kPatience, [&] {
    const auto answer = reconcile(true);
    if (!answer.ok()) return false;
    doubted = doubted || about(answer->doubt());
    return about(answer->finding());
  }));
  EXPECT_TRUE(doubted) << "acted on at the first look";
  ASSERT_OK(WaitUntil("the row as it was", kPatience, [&] { return state() == "OPEN"; }));
  const auto again = reconcile(false);
  ASSERT_OK(again);
  EXPECT_TRUE(about(again->finding()));
  EXPECT_FALSE(about(again->doubt()));
}

}  // namespace
}  // namespace ratchet::chaos
