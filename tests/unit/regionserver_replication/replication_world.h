// Logs on a real disk, and a peer and a table of positions in memory.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/mutex.h"
#include "common/base/prng.h"
#include "common/io/disk.h"
#include "common/io/record_log.h"
#include "regionserver/replication/replicator.h"
#include "regionserver/replication/source.h"

namespace ratchet::regionserver {

inline constexpr const char* kOwnId = "cluster-a";
inline constexpr const char* kPeerId = "cluster-b";

inline LogEntry EntryOf(const std::string& row, std::int64_t timestamp, const std::string& value = "v") {
  LogEntry entry;
  entry.region = "region";
  entry.sequence = 1;
  entry.cells.push_back({Cell{row, "f", "q", timestamp, CellType::kPut, value}, 0});
  entry.shipped = {"t", {"f"}, {}, 1'000};
  return entry;
}

inline hbase::pb::ReplicationPeerDescription PeerNamed(const std::string& id, bool enabled = true) {
  hbase::pb::ReplicationPeerDescription peer;
  peer.set_id(id);
  peer.mutable_state()->set_state(enabled ? hbase::pb::ReplicationState::ENABLED
                                          : hbase::pb::ReplicationState::DISABLED);
  peer.mutable_config()->set_clusterkey("elsewhere:2181:/hbase");
  peer.mutable_config()->set_replicate_all(true);
  return peer;
}

// The log files of one server.
class Logs {
 public:
  explicit Logs(std::string server)
      : server_(std::move(server)),
        path_(std::filesystem::temp_directory_path() / fmt::format("ratchet-replication-{:x}", RandomSeed())) {
    std::filesystem::create_directories(path_ / kKeptLogsFolder / server_);
    root_ = io::PosixDisk().Open(path_.string()).value();
    directory_ = io::PosixDisk().Open((path_ / kKeptLogsFolder / server_).string()).value();
  }
  ~Logs() { std::filesystem::remove_all(path_); }
  Logs(const Logs&) = delete;
  Logs& operator=(const Logs&) = delete;

  void Roll() {
    const MutexLock lock(mutex_);
    if (!files_.empty()) files_.back().closed = true;
    const std::string name = fmt::format("log.{:010}", files_.size() + 1);
    writer_ = std::make_unique<io::RecordWriter>(directory_->Create(name).value(),
                                                 io::LogIdentity{kServerLogKind, io::LogFileId(server_ + "/" + name)});
    files_.push_back({name, files_.size() + 1, 0, false});
  }
  void Write(const LogEntry& entry) {
    if (writer_ == nullptr) Roll();
    const MutexLock lock(mutex_);
    std::string bytes;
    EncodeLogEntry(entry, bytes);
    EXPECT_TRUE(writer_->Add(kEntryRecordType, VersionOf(entry), ++records_, bytes).ok());
    EXPECT_TRUE(writer_->Sync().ok());
    files_.back().bytes = writer_->end_offset();
  }
  LogQueue Live() {
    LogQueue queue;
    queue.server = server_;
    queue.files = [this]() -> Result<std::vector<QueueFile>> {
      const MutexLock lock(mutex_);
      return files_;
    };
    queue.open = [this](const std::string& name) { return directory_->OpenForRead(name); };
    return queue;
  }
  [[nodiscard]] io::Directory& root() { return *root_; }

 private:
  const std::string server_;
  const std::filesystem::path path_;
  std::unique_ptr<io::Directory> root_;
  std::unique_ptr<io::Directory> directory_;
  std::unique_ptr<io::RecordWriter> writer_;
  std::uint64_t records_ = 0;
  Mutex mutex_;
  std::vector<QueueFile> files_ GUARDED_BY(mutex_);
};

// Lets tests wait for actions of threads.
class Signal {
 public:
  // The analysis does not see that the condition's mutex is this one.
  template <class Condition>
  [[nodiscard]] bool Await(Mutex& mutex, Condition condition) REQUIRES(mutex) NO_THREAD_SAFETY_ANALYSIS {
    for (int i = 0; i < 600 && !condition(); ++i) static_cast<void>(changed_.WaitFor(mutex, Millis(100)));
    return condition();
  }
  void Tell() { changed_.NotifyAll(); }

 private:
  CondVar changed_;
};

class FakeSink final : public PeerSink {
 public:
  Result<std::string> ClusterId() override {
    const MutexLock lock(mutex_);
    if (closed_) return Error(Code::kAborted, "closed");
    return now_ ? *now_ : id;
  }
  Status Ship(const Shipment& shipment) override {
    const MutexLock lock(mutex_);
    if (closed_) return Error(Code::kAborted, "closed");
    ++calls_;
    signal_.Tell();
    if (failures_ > 0) {
      --failures_;
      return Error(Code::kUnavailable, "the link is cut");
    }
    for (const client::Mutation& mutation : shipment.mutations) {
      for (const auto& [name, value] : mutation.attributes) attributes_[name] = value;
      for (const Cell& cell : mutation.cells) rows_.push_back(cell.row + "=" + cell.value);
    }
    return Ok();
  }
  void Close() override {
    const MutexLock lock(mutex_);
    closed_ = true;
  }

  // The peer's address leads to another cluster from now on.
  void LeadTo(const std::string& cluster) {
    const MutexLock lock(mutex_);
    now_ = cluster;
  }
  void FailTheNext(int count) {
    const MutexLock lock(mutex_);
    failures_ = count;
  }
  [[nodiscard]] bool AwaitRows(std::size_t count) {
    const MutexLock lock(mutex_);
    return signal_.Await(mutex_, [&]() REQUIRES(mutex_) { return rows_.size() >= count; });
  }
  [[nodiscard]] bool AwaitCalls(std::size_t count) {
    const MutexLock lock(mutex_);
    return signal_.Await(mutex_, [&]() REQUIRES(mutex_) { return calls_ >= count; });
  }
  [[nodiscard]] std::vector<std::string> rows() {
    const MutexLock lock(mutex_);
    return rows_;
  }
  [[nodiscard]] std::map<std::string, std::string> attributes() {
    const MutexLock lock(mutex_);
    return attributes_;
  }
  std::string id = kPeerId;  // before it is used

 private:
  Mutex mutex_;
  Signal signal_;
  bool closed_ GUARDED_BY(mutex_) = false;
  std::optional<std::string> now_ GUARDED_BY(mutex_);
  int failures_ GUARDED_BY(mutex_) = 0;
  std::size_t calls_ GUARDED_BY(mutex_) = 0;
  std::vector<std::string> rows_ GUARDED_BY(mutex_);
  std::map<std::string, std::string> attributes_ GUARDED_BY(mutex_);
};

class FakePositions final : public Positions {
 public:
  Result<std::optional<LogPosition>> Read(const std::string& peer, const std::string& server) override {
    const MutexLock lock(mutex_);
    const auto found = kept_.find({peer, server});
    return found == kept_.end() ? std::optional<LogPosition>() : found->second;
  }
  Result<std::optional<LogPosition>> Claim(const std::string& peer, const std::string& server) override {
    return Read(peer, server);
  }
  Status Write(const std::string& peer, const std::string& server, const LogPosition& position) override {
    const MutexLock lock(mutex_);
    if (claimed_by_another_) return Error(Code::kStale, "another server ships these logs now");
    LogPosition& kept = kept_[{peer, server}];
    kept = std::max(kept, position);
    signal_.Tell();
    return Ok();
  }
  Status Forget(const std::string& peer, const std::string& server) override {
    const MutexLock lock(mutex_);
    kept_.erase({peer, server});
    signal_.Tell();
    return Ok();
  }
  Result<std::vector<std::string>> Servers(const std::string& peer) override {
    const MutexLock lock(mutex_);
    std::vector<std::string> servers;
    for (const auto& [key, position] : kept_)
      if (key.first == peer) servers.push_back(key.second);
    return servers;
  }
  Result<bool> HasFamilies(const Shipment& /*shipment*/) override { return has_families; }
  void Close() override {}

  [[nodiscard]] bool Await(const std::string& peer, const std::string& server, const LogPosition& least) {
    const MutexLock lock(mutex_);
    return signal_.Await(mutex_, [&]() REQUIRES(mutex_) {
      const auto found = kept_.find({peer, server});
      return found != kept_.end() && found->second >= least;
    });
  }
  // Another server has claimed the logs, or this one has again.
  void SetClaimedByAnother(bool claimed) {
    const MutexLock lock(mutex_);
    claimed_by_another_ = claimed;
  }
  [[nodiscard]] bool Has(const std::string& peer, const std::string& server) {
    const MutexLock lock(mutex_);
    return kept_.contains({peer, server});
  }
  bool has_families = true;

 private:
  Mutex mutex_;
  Signal signal_;
  bool claimed_by_another_ GUARDED_BY(mutex_) = false;
  std::map<std::pair<std::string, std::string>, LogPosition> kept_ GUARDED_BY(mutex_);
};

// Polls a value that a thread changes without a signal.
template <class Condition>
[[nodiscard]] bool Becomes(Condition condition) {
  Mutex mutex;
  Signal signal;
  const MutexLock lock(mutex);
  return signal.Await(mutex, condition);
}

inline SourceOptions Quick() {
  SourceOptions options;
  options.look_every = Millis(2);
  options.retry_least = Millis(1);
  options.retry_most = Millis(10);
  options.save_every = Millis(0);
  return options;
}

}  // namespace ratchet::regionserver
