// A directory whose owner can be fenced by its successor, without clocks (S1: check after sync, to S4: directory made
// once).
//
// The owner makes it once, holds the handle for life, and calls Check() after each sync and before each answer. The
// successor calls Fence(), and only then lists and reads. If Check() passed, it happened before the mark, so every read
// after the mark sees the append before the check. This holds however long either side is paused.
#pragma once

#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/io/storage_proof.h"

namespace ratchet::io {

inline constexpr const char* kAliveFile = "ALIVE";
inline constexpr const char* kFencedFile = "FENCED";
inline constexpr const char* kSplittingSuffix = "-splitting";

// The owner's side. Thread-safe.
class FencedDirectory {
 public:
  // Makes <parent>/<name> with ALIVE in it, both durable, S4 (directory made once). kAlreadyExists: another process had
  // this name before, never reuse it; kFenced: a successor was faster.
  static Result<std::unique_ptr<FencedDirectory>> Make(Directory& parent, const std::string& name);

  // S2 (check is positive): OK means that ALIVE existed at some moment during the call. Anything else, any error, is
  // kFenced. About one microsecond, plus a round trip where the storage's clients cache names (S101: cached names need
  // a proof). Blocks only on the file system.
  [[nodiscard]] Status Check() const;
  // The CHECK after a sync, which replaces the round trip: the sync of an evicted client fails, so the data that it
  // made durable existed before any successor could read, S101 (cached names need a proof).
  [[nodiscard]] Status CheckAfterSync() const;

  // True if Check makes a round trip to the storage, S101 (cached names need a proof).
  [[nodiscard]] bool CheckMakesRoundTrip() const { return proof_.needed(); }

  // All files are made through this handle, which survives the renaming (S4). Sync it after creating a log file and
  // before the first answer from that file.
  [[nodiscard]] Directory& directory() { return *directory_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  // The successor's side (S3: durable fence mark): ALIVE becomes FENCED, durable; the directory becomes
  // <name>-splitting, durable. May be repeated at any point by any process and then completes what was begun. Returns
  // the handle of <name>-splitting, whose files may still grow by the unacknowledged tail of a fenced server: sync each
  // before measuring it (S26: split up to the seal). kNotFound: neither directory exists. kCorruption: both exist,
  // which no correct process can cause.
  static Result<std::unique_ptr<Directory>> Fence(Directory& parent, const std::string& name);

 private:
  FencedDirectory(std::unique_ptr<Directory> directory, std::unique_ptr<ReadableFile> alive, std::string name)
      : directory_(std::move(directory)), name_(std::move(name)), proof_(std::move(alive)) {}

  const std::unique_ptr<Directory> directory_;
  const std::string name_;
  const StorageProof proof_;  // holds ALIVE open
};

}  // namespace ratchet::io
