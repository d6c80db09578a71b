// Two clusters on real processes: what is written to one is in the other, through everything that breaks between.
#include "tests/cluster/replication_fixture.h"

namespace ratchet::chaos {
namespace {

TEST_F(ReplicationTest, WhatIsWrittenIsInBoth) {
  AddPeer(connection(), KeyOf(*other_));
  Write(connection(), "a", 300);
  ExpectTheSame();
  EXPECT_TRUE(RowsOf(*other_connection_, "local").empty()) << "a family without a scope";
}

// The peer is away, a server dies that has not shipped what it was given, and its logs are shipped by another one.
TEST_F(ReplicationTest, NothingIsLostWhenThePeerIsAwayAndAServerDies) {
  AddPeer(connection(), KeyOf(*other_));
  Write(connection(), "a", 50);
  ExpectTheSame();
  for (const auto& name : other_->Names(Role::kRegionServer)) ASSERT_OK(other_->Kill9(name));
  Write(connection(), "b", 200);
  ASSERT_OK(cluster().Kill9("rs-1"));
  Write(connection(), "c", 200);
  ASSERT_OK(ProcessCluster::WaitUntil("a claimed queue", kPatience, [&] { return KeptLogs() == 1; }));
  for (const auto& name : other_->Names(Role::kRegionServer)) ASSERT_OK(other_->Start(name));
  ExpectTheSame();
  ASSERT_OK(ProcessCluster::WaitUntil("the end of the queue", kPatience,
                                      [&] { return QueuesAreEmpty() && KeptLogs() == 0; }));
}

// The claimer dies, too.
TEST_F(ReplicationTest, ADisabledPeerGetsEverythingWhenItIsEnabled) {
  AddPeer(connection(), KeyOf(*other_));
  SetPeer(false);
  Write(connection(), "a", 200);
  ASSERT_OK(cluster().Kill9("rs-1"));
  ASSERT_OK(ProcessCluster::WaitUntil("a claimed queue", kPatience, [&] { return KeptLogs() == 1; }));
  ASSERT_OK(cluster().Restart("rs-2"));
  Write(connection(), "b", 100);
  ASSERT_OK(ProcessCluster::WaitUntil("another queue", kPatience, [&] { return KeptLogs() == 2; }));
  EXPECT_TRUE(RowsOf(*other_connection_, "u").empty());
  SetPeer(true);
  ExpectTheSame();
  ASSERT_OK(ProcessCluster::WaitUntil("the end of the queues", kPatience,
                                      [&] { return QueuesAreEmpty() && KeptLogs() == 0; }));
}

// Each ships to the other: what comes back is not shipped again, and both come to rest with the same rows.
TEST_F(ReplicationTest, LoopsEnd) {
  AddPeer(connection(), KeyOf(*other_));
  AddPeer(*other_connection_, KeyOf(cluster()));
  Write(connection(), "a", 100);
  Write(*other_connection_, "b", 100);
  ExpectTheSame();
  const auto shipped = [](client::Connection& from) {
    client::Admin asks(from);
    const auto progress = client::ReplicationProgress(asks, kPeer);
    std::uint64_t all = 0;
    if (progress.ok())
      for (const auto& source : progress->source()) all += source.progress().shipped();
    return all;
  };
  // Each side delivers its own cells once, 100 puts and 14 deletes, and nothing of what came back.
  ASSERT_OK(ProcessCluster::WaitUntil("the end of the first", kPatience, [&] { return shipped(connection()) >= 114; }));
  Write(connection(), "c", 1);
  ExpectTheSame();
  ASSERT_OK(ProcessCluster::WaitUntil("the end of the last", kPatience, [&] { return shipped(connection()) >= 115; }));
  EXPECT_EQ(shipped(connection()), 115U);
}

}  // namespace
}  // namespace ratchet::chaos
