// Two clusters of real processes: writes to one appear in the other, despite failures.
#include "tests/cluster/replication_fixture.h"
#include "tests/support/tcp_forwarder.h"

namespace ratchet::chaos {
namespace {

TEST_F(ReplicationTest, WhatIsWrittenIsInBoth) {
  AddPeer(connection(), KeyOf(*other_));
  Write(connection(), "a", 300);
  ExpectTheSame();
  EXPECT_TRUE(RowsOf(*other_connection_, "local").empty()) << "a family without a scope";
}

// The peer is down, a server dies with unshipped writes, and another server ships its logs.
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

// Both clusters replicate to each other: replicated writes are not shipped back, and both end with the same rows.
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
  // Each side ships its own cells once, 100 puts and 14 deletes, and none of the other side's.
  ASSERT_OK(ProcessCluster::WaitUntil("the end of the first", kPatience, [&] { return shipped(connection()) >= 114; }));
  Write(connection(), "c", 1);
  ExpectTheSame();
  ASSERT_OK(ProcessCluster::WaitUntil("the end of the last", kPatience, [&] { return shipped(connection()) >= 115; }));
  EXPECT_EQ(shipped(connection()), 115U);
}

// The peer dies, and its address leads to the sending cluster: no write is replicated in a cycle. Then it leads to the
// peer again.
TEST_F(ReplicationTest, APeerWhoseAddressLeadsBackGetsNothing) {
  const auto port_of = [](const std::string& zookeeper) {
    return static_cast<std::uint16_t>(std::stoi(zookeeper.substr(zookeeper.rfind(':') + 1)));
  };
  testing_support::TcpForwarder address;
  address.LeadTo(port_of(other_->zookeeper()));
  AddPeer(connection(), fmt::format("127.0.0.1:{}:/hbase", address.port()));
  Write(connection(), "a", 50);
  ExpectTheSame();
  address.LeadTo(port_of(cluster().zookeeper()));
  for (const Role role : {Role::kMaster, Role::kRegionServer})
    for (const auto& name : other_->Names(role)) ASSERT_OK(other_->Kill9(name));
  Write(connection(), "b", 50);
  const auto rows = RowsOf(connection(), "u");
  const auto error = [&] {
    client::Admin asks = admin();
    const auto progress = client::ReplicationProgress(asks, kPeer);
    std::string all;
    if (progress.ok())
      for (const auto& each : progress->source()) all += each.progress().error();
    return all;
  };
  ASSERT_OK(ProcessCluster::WaitUntil("the circle is noticed", kPatience,
                                      [&] { return error().find("this cluster itself") != std::string::npos; }));
  Write(connection(), "c", 50);

  address.LeadTo(port_of(other_->zookeeper()));
  for (const Role role : {Role::kMaster, Role::kRegionServer})
    for (const auto& name : other_->Names(role)) ASSERT_OK(other_->Start(name));
  ExpectTheSame();
  EXPECT_GE(RowsOf(connection(), "u").size(), rows.size());
}

}  // namespace
}  // namespace ratchet::chaos
