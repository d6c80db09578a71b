// RocksDB's table code on our directories: files are made exclusively and through the handle, and the disk double sees
// every write. Only what SstFileWriter and SstFileReader need; everything else is refused.
#pragma once

#include <memory>

#include "common/io/disk.h"

namespace rocksdb {
class Env;
}

namespace ratchet::regionserver {

// File names passed to RocksDB are names in `directory`. The environment outlives everything that was opened with it.
[[nodiscard]] std::shared_ptr<rocksdb::Env> MakeDirectoryEnv(std::shared_ptr<io::Directory> directory);

}  // namespace ratchet::regionserver
