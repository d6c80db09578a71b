// The crash sweep of replication peers and of the logs that are kept for them.
#include <algorithm>

#include <gtest/gtest.h>

#include "master/procedures/replication/replication_queue.h"
#include "master/requests/peer_admin.h"
#include "master/requests/submit_asked.h"
#include "tests/crash/scenarios.h"

namespace ratchet::crash {
namespace {

using master::PeerChange;

master::PeerAdmin& PeersOf(Rig& rig) { return rig.cluster.master().logic().peer_admin; }
master::PeerDirectory& DirectoryOf(Rig& rig) { return rig.cluster.master().logic().peers; }

hbase::pb::ReplicationPeer ConfigTo(const char* key) {
  hbase::pb::ReplicationPeer config;
  config.set_clusterkey(key);
  config.set_replicate_all(true);
  return config;
}

void PreparePeer(Rig& rig, bool enabled, int regions = 0) {
  Prepare(rig, regions);
  bool made = false;
  PeersOf(rig).Add("p", ConfigTo("elsewhere:2181:/hbase"), enabled, {"me", {}},
                   [&made](const Result<ProcId>& pid) { made = pid.ok(); });
  RATCHET_CHECK(rig.cluster.Settle() && made, "not prepared");
}

bool IsEnabled(Rig& rig) {
  const auto peer = DirectoryOf(rig).Get("p");
  return peer && peer->state().state() == hbase::pb::ReplicationState::ENABLED;
}

// Returns true if every live server has the current list; a server that restarted later gets it by heartbeats.
bool AreTold(Rig& rig, int peers) {
  const auto alive = rig.cluster.Alive();
  return std::all_of(alive.begin(), alive.end(),
                     [peers](const sim::SimServer* server) { return server->peers.peer_size() == peers; });
}

TEST(MasterCrash, AddPeer) {
  Sweep({"add peer", [](Rig& rig) { Prepare(rig, 0); },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           PeersOf(rig).Add("p", ConfigTo("elsewhere:2181:/hbase"), true, {"me", nonce}, std::move(done));
         },
         nullptr, [](Rig& rig) { return IsEnabled(rig) && AreTold(rig, 1); }});
}

TEST(MasterCrash, UpdatePeerConfig) {
  Sweep({"update peer", [](Rig& rig) { PreparePeer(rig, true); },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           auto config = ConfigTo("elsewhere:2181:/hbase");
           config.set_bandwidth(7);
           PeersOf(rig).Update("p", config, {"me", nonce}, std::move(done));
         },
         nullptr, [](Rig& rig) { return DirectoryOf(rig).Get("p")->config().bandwidth() == 7 && AreTold(rig, 1); }});
}

TEST(MasterCrash, DisablePeer) {
  Sweep({"disable peer", [](Rig& rig) { PreparePeer(rig, true); },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           PeersOf(rig).Change(PeerChange::kDisable, "p", {"me", nonce}, std::move(done));
         },
         nullptr, [](Rig& rig) { return !IsEnabled(rig) && AreTold(rig, 1); }});
}

TEST(MasterCrash, EnablePeer) {
  Sweep({"enable peer", [](Rig& rig) { PreparePeer(rig, false); },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           PeersOf(rig).Change(PeerChange::kEnable, "p", {"me", nonce}, std::move(done));
         },
         nullptr, [](Rig& rig) { return IsEnabled(rig) && AreTold(rig, 1); }});
}

TEST(MasterCrash, RemovePeer) {
  Sweep({"remove peer", [](Rig& rig) { PreparePeer(rig, true); },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           PeersOf(rig).Change(PeerChange::kRemove, "p", {"me", nonce}, std::move(done));
         },
         nullptr, [](Rig& rig) { return DirectoryOf(rig).size() == 0 && AreTold(rig, 0); }});
}

// The dead server's logs are claimed by one that lives, and kept.
TEST(MasterCrash, ServerCrashWithPeers) {
  Sweep({"crash with peers", [](Rig& rig) { PreparePeer(rig, true, 3); }, nullptr,
         [](Rig& rig) { KillOnce(rig, Spare); },
         [](Rig& rig) {
           const auto queues = DirectoryOf(rig).Queues();
           const auto kept = rig.cluster.storage().archived;
           return CrashDealtWith(rig) && queues.size() == 1 && !queues.front().claimer().empty() &&
                  kept.contains("oldWALs/" + queues.front().server());
         }});
}

TEST(MasterCrash, RetireReplicationQueue) {
  Sweep({"retire queue",
         [](Rig& rig) {
           PreparePeer(rig, true, 3);
           rig.cluster.Kill(*Spare(rig));
           RATCHET_CHECK(
               rig.cluster.RunUntil([&rig] { return DirectoryOf(rig).Queues().size() == 1; }) && rig.cluster.Settle(),
               "not prepared");
         },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           const auto queues = DirectoryOf(rig).Queues();
           const std::string dead = queues.empty() ? "gone,1,1" : queues.front().server();
           master::SubmitAsked(rig.cluster.master().logic().env, master::RetireReplicationQueue::Make(dead),
                               {"me", nonce}, {}, std::move(done));
         },
         nullptr,
         [](Rig& rig) {
           const auto& archived = rig.cluster.storage().archived;
           return DirectoryOf(rig).Queues().empty() &&
                  std::none_of(archived.begin(), archived.end(),
                               [](const std::string& path) { return path.starts_with("oldWALs/"); });
         }});
}

}  // namespace
}  // namespace ratchet::crash
