// S101: the proof that what a look at a name has answered still counted.
//
// Clients of some storages (CephFS) answer looks at names from a cache. The storage keeps that cache right as long as
// the client belongs to it; a client that was cut off and evicted does not know it yet, and goes on answering. So a
// CHECK that follows no sync makes a round trip after its look, which fails once the client was evicted: what the look
// said was right at some moment before the answer. Where names are not cached nothing is asked.
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

// A file that can ask its storage. What OpenForRead returns may be one.
class ProvingFile {
 public:
  virtual ~ProvingFile() = default;
  // Do clients of this storage answer looks at names from a cache?
  [[nodiscard]] virtual bool NamesAreCached() const = 0;
  // Asks the storage itself, never a cache. OK: this process's client belonged to the storage at some moment during
  // the call. May hang as long as the client is cut off.
  [[nodiscard]] virtual Status RoundTrip() const = 0;
};

enum class ProofPolicy : std::uint8_t { kDetect, kAlways, kNever };

// "detect", "always", "never": the setting --storage-proof.
[[nodiscard]] ProofPolicy ProofPolicyOf(std::string_view text);

class StorageProof {
 public:
  // `file` stays open; one that is no ProvingFile needs no proof.
  explicit StorageProof(std::unique_ptr<ReadableFile> file);
  StorageProof(const StorageProof&) = delete;
  StorageProof& operator=(const StorageProof&) = delete;

  // What overrides the detection for this process. Before the first StorageProof is made.
  static void SetPolicy(ProofPolicy policy);

  [[nodiscard]] bool needed() const { return needed_; }
  // After the look. OK: none is needed, or a round trip that began after this call did has come back. kFenced: the
  // storage does not know this process any more.
  [[nodiscard]] Status AfterLook() const { return needed_ ? Prove() : Ok(); }
  // Calls that wait for a round trip now.
  [[nodiscard]] std::uint64_t waiting() const;

 private:
  [[nodiscard]] Status Prove() const;
  [[nodiscard]] Status Ask() const;

  const std::unique_ptr<ReadableFile> file_;
  const ProvingFile* const proving_;
  const bool needed_;

  mutable Mutex mutex_;
  mutable CondVar ended_;
  mutable std::uint64_t begun_ GUARDED_BY(mutex_) = 0;  // round trips; the last one is under way when done_ is lower
  mutable std::uint64_t waiting_ GUARDED_BY(mutex_) = 0;
  mutable std::uint64_t done_ GUARDED_BY(mutex_) = 0;
  mutable Status last_ GUARDED_BY(mutex_);  // of the round trip done_
};

}  // namespace ratchet::io
