// S118 (older copy stays closed): the numbers in an order to open, and the refusals if the storage has lower or higher
// ones.
#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/rpc/exceptions.h"
#include "master/procedures/core/master_env.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

// The simulation's servers compare each order with what is on the storage, and report a contradiction as a violation.
class PastTest : public MasterTest {
 protected:
  void SetUp() override {
    cluster_.Boot(3);
    GivenTable("t", 1);
  }
  RegionNode Node() { return *master().logic().regions.Get(Encoded("t")); }
  void NextMaster() {
    cluster_.KillMaster();
    cluster_.StartMaster();
    ASSERT_TRUE(cluster_.Settle());
    Watch();
  }
  void Watch() {
    master().logic().env.went_back = [this](const Error& error) { went_back_ = error.ToString(); };
  }
  sim::RegionData& Files(const std::string& encoded) { return cluster_.storage().regions.at(encoded); }

  std::string went_back_;
};

TEST_F(PastTest, ARowKnowsWhichOpeningServesAndWhatACloseHasFlushed) {
  const std::uint64_t first = Node().open_number.value();
  EXPECT_EQ(Node().issued, first);
  EXPECT_EQ(Node().served, first);
  ASSERT_EQ(Outcome(Move(Encoded("t"))), "unfinished");
  ExpectSettled();
  const std::uint64_t second = Node().open_number.value();
  EXPECT_GT(second, first);
  NextMaster();  // it knows them from hbase:meta alone
  EXPECT_EQ(Node().issued, second);
  EXPECT_EQ(Node().served, second);
  EXPECT_EQ(Node().flushed, Files(Encoded("t")).flushed);
  EXPECT_GT(Node().flushed, 0U);
  const auto meta = master().logic().regions.Get(std::string(kMetaEncodedName));
  EXPECT_GT(meta->issued, 0U);
  EXPECT_EQ(meta->issued, meta->served);
}

// An operator ends an opening whose number only the ended procedure knew.
TEST_F(PastTest, ARowKnowsNoNumberWhileAnOrderIsOutstanding) {
  sim::SimServer& target = OtherThan(HostOf(Encoded("t")));
  target.hold_reports = 1;
  (void)Move(Encoded("t"), target.name());
  ASSERT_TRUE(cluster_.RunUntil([&] { return target.IsOpen(Encoded("t")); }));
  EXPECT_EQ(Node().issued, 0U);
  EXPECT_EQ(cluster_.meta().regions().at(Encoded("t")).issued, 0U);
  target.ReleaseReports();
  ExpectServed("t", 1);
  EXPECT_EQ(Node().issued, Node().open_number.value());
}

// A server refuses, another one dies while it opens: the next server knows the numbers of both orders.
TEST_F(PastTest, NumbersOfFailedOrdersAreKnown) {
  sim::SimServer& target = OtherThan(HostOf(Encoded("t")));
  for (sim::SimServer* server : cluster_.Alive()) server->refuse_opens = 2;
  (void)Move(Encoded("t"), target.name());
  ExpectServed("t", 1);
}

TEST_F(PastTest, AMasterThatHasAnOlderStoreEnds) {
  Watch();
  cluster_.storage().went_back = true;
  sim::RegionData& files = Files(Encoded("t"));
  files.open_number = Node().open_number.value() + 1;  // given by a master that this store has no record of
  (void)Move(Encoded("t"));
  ASSERT_TRUE(cluster_.RunUntil([this] { return !went_back_.empty(); }));
  EXPECT_NE(went_back_.find(Encoded("t")), std::string::npos) << went_back_;
}

TEST_F(PastTest, AnOlderCopyStaysClosedUntilTheNewerOneIsBack) {
  Watch();
  cluster_.storage().went_back = true;
  ASSERT_EQ(Outcome(Move(Encoded("t"))), "unfinished");
  ExpectSettled();
  sim::RegionData& files = Files(Encoded("t"));
  for (sim::SimServer* server : cluster_.Alive()) server->refuse_opens = 1;  // a moment in which no server has it
  const auto moved = Move(Encoded("t"));
  ASSERT_TRUE(cluster_.RunUntil([this] { return Node().failed_opens > 0; }));
  const std::uint64_t flushed = files.flushed;
  files.flushed = 0;
  ASSERT_TRUE(cluster_.RunFor(Millis(5'000)));
  EXPECT_EQ(Outcome(moved), "unfinished");
  const auto info = master().executor().Get(*moved);
  ASSERT_TRUE(info.has_value());
  EXPECT_NE(info->data.find(rpc::exception::kOlderCopy), std::string::npos) << "the cause is shown";
  EXPECT_EQ(went_back_, "");
  files.flushed = flushed;
  ASSERT_TRUE(cluster_.Settle());
  EXPECT_EQ(Outcome(moved), "success");
}

}  // namespace
}  // namespace ratchet::master
