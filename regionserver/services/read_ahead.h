// Reading ahead: while a client takes one reply of a long scan apart, the server reads the next one.
//
// The thread that answered a call reads on for the same scanner, with the same limits, and leaves the reply in the
// session; the next call waits for it if it is not ready, makes the CHECK of every reply (S24), and sends it. What a
// scan gives does not change: its read point is fixed when it is opened. A call for fewer rows than were read cannot be
// given them: its scanner is closed, and the client opens it again at its last row, as after a lease's end.
//
// Ahead is read only for scans that have come back before, whose reply was full, and that want cell blocks; and only by
// so many threads at a time and into so many bytes (AheadBudget). Without room a scan goes on as without it.
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

// Of all scans of a server. Thread-safe.
class AheadBudget {
 public:
  // `most_bytes`: held in replies that were read ahead; 0: nothing is read ahead.
  AheadBudget(Live<std::uint64_t> most_bytes, std::int64_t most_threads)
      : most_bytes_(std::move(most_bytes)), most_threads_(most_threads) {}
  // Room for one reply of up to `bytes`, and a thread to read it.
  [[nodiscard]] bool Begin(std::uint64_t bytes);
  // It was read, and has `bytes` of the `reserved` ones.
  void Read(std::uint64_t reserved, std::uint64_t bytes);
  void Free(std::uint64_t bytes) { bytes_ -= bytes; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_.load(); }

 private:
  const Live<std::uint64_t> most_bytes_;
  const std::int64_t most_threads_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::int64_t> threads_{0};
};

// One reply, as far as the scanner makes it.
struct ReadReply {
  Result<ScanProgress> chunk{ScanProgress()};
  hbase::pb::ScanResponse response;  // the lists beside the cell block
  std::string block;
};

// What a reply was read for.
struct ReadFor {
  ScanLimits limits;
  bool tags = false;  // in the cell block
  // Whether `reply`, which was read for this, answers a call for `other`. The deadline apart.
  [[nodiscard]] bool Answers(const ReadFor& other, const ReadReply& reply) const;
};

// The reply that a session has ahead. A reading is begun and ended by the same call; any later one may take it.
// Thread-safe.
class ReadAhead {
 public:
  explicit ReadAhead(std::shared_ptr<AheadBudget> budget) : budget_(std::move(budget)) {}
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Before the reply of the call that reads on is sent, and while nothing is ahead. False: there is no room.
  [[nodiscard]] bool Begin(const ReadFor& what);
  void End(ReadReply reply);
  // Waits while one is being read. Nothing: none is ahead.
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
