// RocksDB's table code on our directories: files are made exclusively and through the handle, and the disk double sees
// every write. Files that are read share the process's open files (open_files.h): each is open only while it is in
// use. Only what SstFileWriter and SstFileReader need; everything else is refused.
#pragma once

#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace rocksdb {
class Env;
}

namespace ratchet::regionserver {

// File names passed to RocksDB are names in `directory`. The environment outlives everything that was opened with it.
[[nodiscard]] std::shared_ptr<rocksdb::Env> MakeDirectoryEnv(std::shared_ptr<io::Directory> directory);

// Keeps the file that was opened for reading as `name` open until its reader has gone: its name is about to go.
[[nodiscard]] Status HoldOpen(rocksdb::Env& env, const std::string& name);

}  // namespace ratchet::regionserver
