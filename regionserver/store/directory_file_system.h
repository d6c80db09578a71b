// RocksDB's table code on our directories: files are made exclusively and through the handle, and the disk double sees
// every write. Files that are read share the process's open files (open_files.h): each is open only while it is in use.
// Supports only the calls of SstFileWriter and SstFileReader; all others are refused.
#pragma once

#include <memory>
#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/io/disk.h"

namespace rocksdb {
class Env;
}

namespace ratchet::regionserver {

// File names passed to RocksDB are names in `directory`. The environment outlives all files that were opened with it.
[[nodiscard]] std::shared_ptr<rocksdb::Env> MakeDirectoryEnv(std::shared_ptr<io::Directory> directory);

// Keeps the file that was opened for reading as `name` open until its reader is destroyed; call before the name is
// removed.
[[nodiscard]] Status HoldOpen(rocksdb::Env& env, const std::string& name);

// Time that this thread has waited for the bytes of store files: a scan's metric FS_READ_TIME. Grows for the thread's
// whole life; the difference of two reads is the time in between.
inline TimePoint::duration& FileReadTimeOfThread() {
  thread_local TimePoint::duration waited{0};
  return waited;
}

}  // namespace ratchet::regionserver
