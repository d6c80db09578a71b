// The active master dies, sleeps, or is deposed: procedures go on elsewhere, and the old master changes nothing.
#include "common/base/exit_codes.h"
#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {
namespace {

using MasterTest = ClusterTest;

TableDescriptor Descriptor(const std::string& name) {
  TableDescriptor descriptor;
  descriptor.name = TableName("default", name);
  descriptor.families.push_back(DefaultFamily("u"));
  return descriptor;
}

TEST_F(MasterTest, KilledWhileTablesAreMade) {
  Boot();
  if (HasFatalFailure()) return;
  MakeTable("t", 6);
  if (HasFatalFailure()) return;
  StartWriter("t");
  WaitForWrites(50);
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  std::vector<std::uint64_t> pids;
  for (int i = 0; i < 5; ++i) {
    auto pid = admin().CreateTable(Descriptor(fmt::format("made-{}", i)), {"4", "8"});
    ASSERT_OK(pid);
    pids.push_back(*pid);
  }
  ASSERT_OK(cluster().Kill9(*active));
  for (const auto pid : pids) EXPECT_TRUE(admin().WaitOk(pid).ok());
  const auto tables = admin().ListTables();
  ASSERT_OK(tables);
  EXPECT_EQ(tables->size(), 6U);
  WaitForWrites(50);
}

TEST_F(MasterTest, PausedAndDeposedItChangesNothingAndExits) {
  Boot();
  if (HasFatalFailure()) return;
  MakeTable("t", 6);
  if (HasFatalFailure()) return;
  StartWriter("t");
  const auto sleeper = cluster().ActiveMaster();
  ASSERT_OK(sleeper);
  // In the middle of something: its orders must not take effect after it was deposed.
  const auto pid = admin().CreateTable(Descriptor("through-a-pause"), {"4", "8"});
  ASSERT_OK(pid);
  ASSERT_OK(cluster().Pause(*sleeper));
  ASSERT_OK(cluster().WaitActiveMaster(kPatience, *sleeper));
  EXPECT_TRUE(admin().WaitOk(*pid).ok());
  ASSERT_OK(admin().WaitOk(admin().DisableTable(TableName("default", "through-a-pause"))));
  ASSERT_OK(admin().WaitOk(admin().DeleteTable(TableName("default", "through-a-pause"))));
  ASSERT_OK(cluster().Resume(*sleeper));
  const auto code = cluster().WaitExit(*sleeper, kPatience);
  ASSERT_OK(code);
  EXPECT_TRUE(*code == exit_code::kFenced || *code == exit_code::kSessionExpired) << *code;
  const auto tables = admin().ListTables();
  ASSERT_OK(tables);
  EXPECT_EQ(tables->size(), 1U);
  WaitForWrites(50);
}

TEST_F(MasterTest, StoppedInOrderTheStandbyTakesOverAtOnce) {
  Boot();
  if (HasFatalFailure()) return;
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  ASSERT_OK(cluster().Stop(*active, kPatience));
  EXPECT_EQ(cluster().Info(*active).exit_code.value_or(-1), exit_code::kOk);
  ASSERT_OK(cluster().WaitActiveMaster(kPatience, *active));
  MakeTable("t", 3);
}

}  // namespace
}  // namespace ratchet::chaos
