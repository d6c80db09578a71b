// ratchet-wal sql: a store as tables.
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "procedure/api/record.pb.h"
#include "procedure/api/step_table.h"
#include "procedure/store/tool/wal_tool.h"
#include "tests/unit/store/store_harness.h"

namespace ratchet::procedure::tool {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Stored(std::uint64_t pid, const std::string& type, std::uint32_t state) {
  pb::ProcedureRecord record;
  record.set_pid(pid);
  record.set_type(type);
  record.set_state(state);
  record.set_step(3);
  record.set_owner("ann");
  record.set_submitted_ms(1'000);
  record.set_updated_ms(4'500);
  for (const OutcomeKind outcome : {OutcomeKind::kNext, OutcomeKind::kAwait}) {
    auto& step = *record.add_history();
    step.set_step(static_cast<std::uint32_t>(outcome));
    step.set_outcome(static_cast<std::uint32_t>(outcome));
    step.set_duration_us(70);
  }
  auto& lock = *record.add_locks();
  lock.set_kind(2);
  lock.set_name("default:t");
  lock.set_exclusive(true);
  return record.SerializeAsString();
}

class WalSqlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    StoreProcess master(disk_);
    ASSERT_TRUE(master.Claim().ok());
    ASSERT_TRUE(master.CommitNow(procedure::Put(1, 1, Stored(1, "CreateTable", 3)))->ok());
    ASSERT_TRUE(master.CommitNow(procedure::Put(2, 1, Stored(2, "CreateTable", 6)))->ok());
    ASSERT_TRUE(master.CommitNow(procedure::Put(3, 1, "no procedure"))->ok());
    ASSERT_TRUE(master.CommitNow(procedure::Put(4, 1, Stored(4, "MoveRegion", 2)))->ok());
    ASSERT_TRUE(master.CommitNow(Remove(4))->ok());
    ASSERT_TRUE(master.CommitNow(procedure::PutSystem("pause", "value"))->ok());
    master.process->Crash();
    process_ = disk_.NewProcess();
    store_ = process_->Open("/procedures").value();
  }
  std::string Ask(const std::string& statement, bool json = false, int expected = kExitOk) {
    std::ostringstream out;
    std::ostringstream err;
    EXPECT_EQ(Sql(*store_, {statement, json, !json}, out, err), expected) << err.str();
    return out.str() + err.str();
  }

  io::SimDisk disk_;
  std::unique_ptr<io::SimDisk::Process> process_;
  std::unique_ptr<io::Directory> store_;
};

TEST_F(WalSqlTest, ShowsWhatLives) {
  EXPECT_EQ(Ask("select pid, type, state, step, owner, updated_ms - submitted_ms as took from procedures order by pid"),
            "pid,type,state,step,owner,took\n"
            "1,CreateTable,WAITING,3,ann,3500\n"
            "2,CreateTable,SUCCESS,3,ann,3500\n"
            "3,,?,0,,0\n");
  EXPECT_EQ(Ask("select pid, name, exclusive from locks where pid = 1"), "pid,name,exclusive\n1,default:t,1\n");
  EXPECT_EQ(Ask("select * from system_records"), "key,bytes\npause,5\n");
  EXPECT_THAT(Ask("select role, bytes > 0 from segments"), HasSubstr("open,1"));
  EXPECT_EQ(Ask("select * from damage"), "file,offset,reason\n");
}

TEST_F(WalSqlTest, OutcomesHaveTheFrameworksNames) {
  EXPECT_EQ(Ask("select number, outcome from steps where pid = 1"),
            "number,outcome\n1," + std::string(OutcomeName(OutcomeKind::kNext)) + "\n2," +
                std::string(OutcomeName(OutcomeKind::kAwait)) + "\n");
  for (std::uint32_t number = 1; number <= static_cast<std::uint32_t>(OutcomeKind::kEndFailed); ++number)
    EXPECT_EQ(OutcomeText(number), OutcomeName(static_cast<OutcomeKind>(number)));
}

TEST_F(WalSqlTest, WritesJson) {
  EXPECT_EQ(Ask("select pid, parent, type, 0.5 as half, 9e999 as far from procedures where pid = 1", true),
            "[{\"pid\":1,\"parent\":null,\"type\":\"CreateTable\",\"half\":0.5,\"far\":\"inf\"}]\n");
  EXPECT_EQ(Ask("select pid from procedures where pid > 99", true), "[]\n");
}

TEST_F(WalSqlTest, TellsTheSchemaAndMistakes) {
  EXPECT_THAT(Ask(".schema locks"), StartsWith("table,column,type,meaning\nlocks,"));
  EXPECT_THAT(Ask(".schema"), HasSubstr("segments,role,TEXT"));
  EXPECT_THAT(Ask(".schema nosuch", false, kExitUsage), HasSubstr("there is no table nosuch"));
  EXPECT_THAT(Ask("delete from locks", false, kExitUsage), HasSubstr("only a SELECT"));
  EXPECT_THAT(Ask("select * from nosuch", false, kExitUsage), HasSubstr("no such table: nosuch"));
}

TEST_F(WalSqlTest, ATableOfManyRowsIsWhole) {
  std::ostringstream out;
  std::ostringstream err;
  const std::string count =
      "with recursive c(x) as (select 1 union all select x + 1 from c where x < 200) select x, 'v' || x as v from c";
  EXPECT_EQ(Sql(*store_, {count, false, false}, out, err), kExitOk);
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 201);
  EXPECT_THAT(text, HasSubstr("x   v\n"));
  EXPECT_THAT(text, HasSubstr("\n200  v200\n"));
}

}  // namespace
}  // namespace ratchet::procedure::tool
