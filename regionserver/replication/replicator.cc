#include "regionserver/replication/replicator.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/fenced_directory.h"

namespace ratchet::regionserver {
namespace pb = ::hbase::pb;

namespace {

std::pair<std::uint64_t, std::uint64_t> Rank(const pb::PeerList& list) { return {list.epoch(), list.number()}; }

Result<std::unique_ptr<io::Directory>> OpenKept(io::Directory& root, const std::string& dead) {
  RATCHET_ASSIGN(const auto kept, root.OpenDir(kKeptLogsFolder));
  return kept->OpenDir(dead);
}

}  // namespace

Replicator::Replicator(Parts parts) : parts_(std::move(parts)) { parts_.keep_from(0); }

Replicator::~Replicator() { Stop(); }

void Replicator::Take(const pb::PeerList& list) {
  const MutexLock lock(mutex_);
  if (stopped_ || (known_ && Rank(list) <= Rank(list_))) return;
  const bool first = !known_;
  known_ = true;
  list_ = list;
  Arrange(first && !RATCHET_MUTANT("replication.from_now"));
}

void Replicator::NoList() {
  const MutexLock lock(mutex_);
  if (stopped_ || known_) return;
  known_ = true;
  KeepWhatIsNeeded();
}

void Replicator::Look() {
  std::vector<std::string> begin;
  {
    const MutexLock lock(mutex_);
    if (stopped_ || !known_) return;
    begin = QueuesToBegin();
  }
  // Opens directories without the lock, because heartbeats take the lock and the storage may hang.
  std::map<std::string, Result<std::unique_ptr<io::Directory>>> opened;
  for (const std::string& dead : begin) opened.emplace(dead, OpenKept(*parts_.root, dead));
  std::vector<std::unique_ptr<ReplicationSource>> gone;
  const MutexLock lock(mutex_);
  if (stopped_) return;
  for (auto& [dead, directory] : opened) {
    if (!directory.ok()) {  // the crash procedure moves the logs there after its claim
      queue_errors_[dead] = directory.error().ToString();
      continue;
    }
    queue_errors_.erase(dead);
    BeginQueue(dead, QueueOfDead(dead, std::move(directory).value()));
  }
  KeepWhatIsNeeded();
  for (auto& source : ending_) {
    if (source->ended()) gone.push_back(std::move(source));
  }
  std::erase(ending_, nullptr);
}

// Keeps all logs until the sources that need some exist. `from_the_oldest`: the peers existed before this server learnt
// of them, so all of its logs are theirs.
void Replicator::Arrange(bool from_the_oldest) {
  parts_.keep_from(0);
  std::map<std::string, const pb::ReplicationPeerDescription*> wanted;
  for (const auto& peer : list_.peer()) {
    if (IsShippedHere(peer.config())) wanted[peer.id()] = &peer;
  }
  Drop([&wanted](const Key& key) { return !wanted.contains(key.first); });
  for (auto& [key, source] : sources_) source->Update(*wanted.at(key.first));
  for (const auto& [id, peer] : wanted) {
    if (sources_.contains({id, parts_.own.server})) continue;
    const auto files = parts_.own.files();
    // If no file exists, or the list is unknown, begin with the oldest file that is kept.
    const bool oldest = from_the_oldest || !files.ok() || files->empty();
    const LogPosition start{oldest ? 0 : files->back().number, 0};
    RATCHET_LOG(kInfo, "Replication to peer {} ({}) begins with log {}", id, peer->config().clusterkey(), start.file);
    Begin(*peer, parts_.own, start);
  }
  KeepWhatIsNeeded();
}

std::vector<std::string> Replicator::QueuesToBegin() {
  std::set<std::string> claimed;
  for (const auto& queue : list_.queue()) claimed.insert(queue.server());
  Drop([&](const Key& key) { return key.second != parts_.own.server && !claimed.contains(key.second); });
  // A list newer than the one that the source began with names this server as the claimer again.
  std::set<Key> renewed;
  for (const auto& [key, begun_with] : begun_with_) {
    if (key.second != parts_.own.server && IsLost(key) && begun_with < Rank(list_)) renewed.insert(key);
  }
  Drop([&renewed](const Key& key) { return renewed.contains(key); });
  std::erase_if(queue_errors_, [&claimed](const auto& each) { return !claimed.contains(each.first); });
  std::vector<std::string> begin;
  std::size_t busy = 0;
  for (const std::string& dead : claimed) {
    if (busy == kQueuesAtOnce) break;
    if (IsFinished(dead)) continue;
    if (!OnlyWaits(dead)) ++busy;
    bool wanted = false;
    for (const auto& peer : list_.peer()) {
      wanted = wanted || (IsShippedHere(peer.config()) && !sources_.contains({peer.id(), dead}));
    }
    if (wanted) begin.push_back(dead);
  }
  return begin;
}

void Replicator::BeginQueue(const std::string& dead, const LogQueue& queue) {
  const bool claimed = std::any_of(list_.queue().begin(), list_.queue().end(),
                                   [&dead](const auto& each) { return each.server() == dead; });
  if (!claimed) return;  // a newer list has taken the claim away
  for (const auto& peer : list_.peer()) {
    if (IsShippedHere(peer.config()) && !sources_.contains({peer.id(), dead})) Begin(peer, queue, std::nullopt);
  }
}

void Replicator::Begin(const pb::ReplicationPeerDescription& peer, const LogQueue& queue,
                       std::optional<LogPosition> start) {
  auto& sink = sinks_[peer.id()];
  if (sink == nullptr) {
    const auto key = ParseClusterKey(peer.config().clusterkey());
    if (!key.ok()) {  // a master has checked it
      RATCHET_LOG(kError, "Replication peer {} is ignored: {}", peer.id(), key.error().ToString());
      sinks_.erase(peer.id());
      return;
    }
    sink = parts_.connect(*key);
  }
  ReplicationSource::Parts parts;
  parts.peer = peer.id();
  parts.own_id = parts_.own_id;
  parts.queue = queue;
  parts.start = start;
  parts.sink = sink;
  parts.positions = parts_.positions;
  parts.may_ship = parts_.may_ship;
  parts.logs_are_gone = [root = parts_.root](const std::string& server) { return LogsAreGone(*root, server); };
  parts.clock = parts_.clock;
  begun_with_[{peer.id(), queue.server}] = Rank(list_);
  sources_[{peer.id(), queue.server}] = std::make_unique<ReplicationSource>(std::move(parts), peer, parts_.source);
}

// The sources end by themselves. If the peer itself was removed, their pending calls fail at once.
void Replicator::Drop(const std::function<bool(const Key&)>& goes) {
  for (auto at = sources_.begin(); at != sources_.end();) {
    if (!goes(at->first)) {
      ++at;
      continue;
    }
    at->second->RequestStop(/*forget=*/true);
    ending_.push_back(std::move(at->second));
    begun_with_.erase(at->first);
    at = sources_.erase(at);
  }
  std::erase_if(sinks_, [&peers = list_.peer()](const auto& sink) {
    const bool there =
        std::any_of(peers.begin(), peers.end(), [&sink](const auto& peer) { return peer.id() == sink.first; });
    if (!there) sink.second->Close();
    return !there;
  });
}

void Replicator::KeepWhatIsNeeded() {
  std::uint64_t from = UINT64_MAX;
  for (const auto& [key, source] : sources_) {
    const bool own = key.second == parts_.own.server && !RATCHET_MUTANT("replication.keep_nothing");
    if (own) from = std::min(from, source->needed_from());
  }
  parts_.keep_from(from);
}

bool Replicator::IsFinished(const std::string& dead) const {
  if (queue_errors_.contains(dead)) return false;
  for (const auto& peer : list_.peer()) {
    if (!IsShippedHere(peer.config())) continue;
    const auto source = sources_.find({peer.id(), dead});
    if (source == sources_.end() || !source->second->finished()) return false;
  }
  return true;
}

bool Replicator::IsLost(const Key& key) const {
  const auto source = sources_.find(key);
  return source != sources_.end() && source->second->lost();
}

bool Replicator::OnlyWaits(const std::string& dead) const {
  bool waits = false;
  for (const auto& [key, source] : sources_) {
    if (key.second != dead || source->finished()) continue;
    if (!source->waits()) return false;
    waits = true;
  }
  return waits && !RATCHET_MUTANT("replication.waiting_counts");
}

std::vector<pb::ReplicationProgress> Replicator::Progress() const {
  std::vector<pb::ReplicationProgress> all;
  const MutexLock lock(mutex_);
  for (const auto& [key, source] : sources_) all.push_back(source->Progress());
  for (const auto& peer : list_.peer()) {
    if (IsShippedHere(peer.config())) continue;
    auto& progress = all.emplace_back();
    progress.set_peer(peer.id());
    progress.set_server(parts_.own.server);
    progress.set_error("its endpoint exists only in HBase, so nothing is shipped to it");
  }
  for (const auto& queue : list_.queue()) {
    auto& progress = all.emplace_back();
    progress.set_server(queue.server());
    progress.set_finished(IsFinished(queue.server()));
    const auto error = queue_errors_.find(queue.server());
    if (error != queue_errors_.end()) progress.set_error(error->second);
  }
  return all;
}

void Replicator::Fill(pb::RegionServerReportRequest& request) const {
  for (auto& progress : Progress()) *request.add_replication() = std::move(progress);
  const MutexLock lock(mutex_);
  if (!known_ || list_.epoch() == 0) return;
  request.set_peers_epoch(list_.epoch());
  request.set_peers_number(list_.number());
}

void Replicator::Stop() {
  std::map<Key, std::unique_ptr<ReplicationSource>> sources;
  std::vector<std::unique_ptr<ReplicationSource>> ending;
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
    for (auto& [id, sink] : sinks_) sink->Close();
    sources.swap(sources_);
    ending.swap(ending_);
  }
  if (parts_.positions != nullptr) parts_.positions->Close();
  for (auto& [key, source] : sources) source->RequestStop();
}

namespace {

Result<bool> IsIn(io::Directory& root, const char* folder, const std::string& name) {
  const Result<std::unique_ptr<io::Directory>> opened = root.OpenDir(folder);
  if (!opened.ok() && opened.error().code() == Code::kNotFound) return false;
  if (!opened.ok()) return opened.error();
  return (*opened)->Exists(name);
}

}  // namespace

// Looks in the order in which logs move: logs that are not in one place cannot appear in an earlier one later.
Result<bool> LogsAreGone(io::Directory& root, const std::string& server) {
  RATCHET_ASSIGN(const bool alive, IsIn(root, kLogsFolder, server));
  if (alive) return false;
  RATCHET_ASSIGN(const bool fenced, IsIn(root, kLogsFolder, server + io::kSplittingSuffix));
  if (fenced) return false;
  RATCHET_ASSIGN(const bool kept, IsIn(root, kKeptLogsFolder, server));
  return !kept;
}

}  // namespace ratchet::regionserver
