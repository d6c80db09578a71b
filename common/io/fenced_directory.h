// A directory whose owner can be shut out, without clocks, by its successor (rules S1 to S4).
//
// The owner makes it once, holds the handle for life, and calls Check() after each sync and before it answers anything.
// The successor calls Fence(), and only then lists and reads. If Check() passed, it happened before the mark, so the
// append before it is seen by every read after the mark. This holds however long either side is paused.
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
  // Makes <parent>/<name> with ALIVE in it, both durable (S4). kAlreadyExists: another had this name before, never
  // reuse it; kFenced: a successor was faster.
  static Result<std::unique_ptr<FencedDirectory>> Make(Directory& parent, const std::string& name);

  // S2: OK means that ALIVE was there at some moment during the call. Anything else, any error, is kFenced.
  // About one microsecond, and a round trip where the storage's clients cache names (S101); blocks on nothing but the
  // file system.
  [[nodiscard]] Status Check() const;
  // The same behind a sync that this CHECK belongs to, which takes the place of the round trip: the sync of a client
  // that was evicted fails, so what it has made durable was there before any successor could read (S101).
  [[nodiscard]] Status CheckAfterSync() const;

  // All files are made through this handle, which survives the renaming (S4). Sync it after creating a log file and
  // before the first answer from that file.
  [[nodiscard]] Directory& directory() { return *directory_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  // The successor's side (S3): ALIVE becomes FENCED, durable; the directory becomes <name>-splitting, durable. May be
  // repeated at any point by any process and then finishes what was begun. Returns the handle of <name>-splitting,
  // whose files may still grow by a zombie's unacknowledged tail: sync each before measuring it (S26). kNotFound:
  // neither directory exists. kCorruption: both exist, which no honest process can cause.
  static Result<std::unique_ptr<Directory>> Fence(Directory& parent, const std::string& name);

 private:
  FencedDirectory(std::unique_ptr<Directory> directory, std::unique_ptr<ReadableFile> alive, std::string name)
      : directory_(std::move(directory)), name_(std::move(name)), proof_(std::move(alive)) {}

  const std::unique_ptr<Directory> directory_;
  const std::string name_;
  const StorageProof proof_;  // holds ALIVE open
};

}  // namespace ratchet::io
