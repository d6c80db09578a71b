// Read-ahead: while a client processes one reply of a long scan, the server reads the next one.
//
// The thread that answered a call continues to read for the same scanner, with the same limits, and leaves the reply in
// the session. The next call waits until it is ready, makes the CHECK as for every reply (S24: visible after sync), and
// sends it. The results of a scan do not change, because its read point is fixed when it is opened. A call for fewer
// rows than were read fails: its scanner is closed, and the client opens it again at its last row, as after the end of
// a lease.
//
// The server reads ahead only for scans that have continued before, whose reply was full, and that want cell blocks.
// AheadBudget limits the threads and bytes. Without budget a scan continues without read-ahead.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/base/live.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/model/proto/client.pb.h"
#include "regionserver/region/region.h"

namespace ratchet::regionserver {

// Budget for all scans of a server. Thread-safe.
class AheadBudget {
 public:
  // `most_bytes` limits the replies that were read ahead; 0: no read-ahead.
  AheadBudget(Live<std::uint64_t> most_bytes, std::int64_t most_threads)
      : most_bytes_(std::move(most_bytes)), most_threads_(most_threads) {}
  // Reserves space for one reply of up to `bytes`, and a thread to read it.
  [[nodiscard]] bool Begin(std::uint64_t bytes);
  // Records that the reply was read, and keeps `bytes` of the `reserved` ones.
  void Read(std::uint64_t reserved, std::uint64_t bytes);
  void Free(std::uint64_t bytes) { bytes_ -= bytes; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_.load(); }

 private:
  const Live<std::uint64_t> most_bytes_;
  const std::int64_t most_threads_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::int64_t> threads_{0};
};

// One reply, without the fields that are added later.
struct ReadReply {
  Result<ScanProgress> chunk{ScanProgress()};
  hbase::pb::ScanResponse response;  // all fields except the cell block
  std::string block;
};

// The parameters for which a reply was read.
struct ReadFor {
  ScanLimits limits;
  bool tags = false;  // include tags in the cell block
  // Returns whether `reply`, which was read for these parameters, answers a call with `other`, except for its deadline.
  [[nodiscard]] bool Answers(const ReadFor& other, const ReadReply& reply) const;
};

// The reply that was read ahead for a session. Each read is begun and ended by one call; any later call may take it.
// Thread-safe.
class ReadAhead {
 public:
  explicit ReadAhead(std::shared_ptr<AheadBudget> budget) : budget_(std::move(budget)) {}
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Call before the reply of the current call is sent, and while no reply is ahead. Returns false when there is no
  // budget.
  [[nodiscard]] bool Begin(const ReadFor& what);
  void End(ReadReply reply);
  // Waits while a reply is being read. Returns nullopt when none is ahead.
  [[nodiscard]] std::optional<std::pair<ReadFor, ReadReply>> Take();

 private:
  enum class State : std::uint8_t { kNone, kReading, kReady };
  const std::shared_ptr<AheadBudget> budget_;
  Mutex mutex_;
  CondVar ended_;
  State state_ GUARDED_BY(mutex_) = State::kNone;
  ReadFor for_ GUARDED_BY(mutex_);
  ReadReply reply_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::regionserver
