// S101 (cached names need a proof): proves that the result of a look-up of a name was still valid.
//
// Clients of some storages (CephFS) answer look-ups of names from a cache. The storage keeps that cache consistent as
// long as the client belongs to it. A client that was cut off and evicted does not know that yet, and continues to
// answer. So a CHECK that follows no sync makes a round trip after its look-up, which fails once the client was
// evicted: the look-up's result was valid at some moment before the answer. Where names are not cached there is no
// round trip.
//
// Threads: all calls from any thread. Those that wait at the same moment share one round trip.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::io {

// A file that can make a round trip to its storage. OpenForRead may return one.
class ProvableFile {
 public:
  virtual ~ProvableFile() = default;
  // True if clients of this storage answer look-ups of names from a cache.
  [[nodiscard]] virtual bool NamesAreCached() const = 0;
  // Asks the storage itself, never a cache. OK: this process's client belonged to the storage at some moment during the
  // call. May hang while the client is cut off.
  [[nodiscard]] virtual Status RoundTrip() const = 0;
};

enum class ProofPolicy : std::uint8_t { kDetect, kAlways, kNever };

// "detect", "always", "never": the setting --storage-proof.
[[nodiscard]] ProofPolicy ProofPolicyOf(std::string_view text);

class StorageProof {
 public:
  // `file` stays open; one that is not a ProvableFile needs no proof.
  explicit StorageProof(std::unique_ptr<ReadableFile> file);
  StorageProof(const StorageProof&) = delete;
  StorageProof& operator=(const StorageProof&) = delete;

  // Overrides the detection for this process. Call before the first StorageProof is made.
  static void SetPolicy(ProofPolicy policy);

  [[nodiscard]] bool needed() const { return needed_; }
  // Call after the look-up. OK: no proof is needed, or a round trip that began after this call has returned. kFenced:
  // the storage no longer knows this process.
  [[nodiscard]] Status AfterLook() const { return needed_ ? Prove() : Ok(); }
  // Number of calls that wait for a round trip now.
  [[nodiscard]] std::uint64_t waiting() const;

 private:
  [[nodiscard]] Status Prove() const;
  [[nodiscard]] Status Ask() const;

  const std::unique_ptr<ReadableFile> file_;
  const ProvableFile* const provable_;
  const bool needed_;

  mutable Mutex mutex_;
  mutable CondVar ended_;
  mutable std::uint64_t begun_ GUARDED_BY(mutex_) = 0;  // number of round trips; the last one is in progress when done_
                                                        // is lower
  mutable std::uint64_t waiting_ GUARDED_BY(mutex_) = 0;
  mutable std::uint64_t done_ GUARDED_BY(mutex_) = 0;
  mutable Status last_ GUARDED_BY(mutex_);  // of the round trip done_
};

}  // namespace ratchet::io
