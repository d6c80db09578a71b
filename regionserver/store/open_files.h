// The table of open store files of all regions of the process: its size is bounded, and the least recently read file is
// closed first. A store file of an open region needs no descriptor of its own.
//
// Thread-safe. A file stays open for its readers even if it has left the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

class OpenFiles {
 public:
  using File = std::shared_ptr<const io::ReadableFile>;
  using Opener = std::function<Result<std::unique_ptr<io::ReadableFile>>()>;

  explicit OpenFiles(std::size_t capacity) : capacity_(capacity < 1 ? 1 : capacity) {}
  // The limit is a quarter of the process's descriptors at the first call, at most 65,536.
  [[nodiscard]] static OpenFiles& OfProcess();

  // Returns a number for one file; numbers are never reused.
  [[nodiscard]] std::uint64_t NewNumber();
  // Returns the open file of this number, and opens it if it is not in the table. If no descriptor is free, the older
  // half of the table is closed first.
  [[nodiscard]] Result<File> Get(std::uint64_t number, const Opener& open);
  // Opens the file and keeps it open, in addition to the table, until it is forgotten; call before its name is removed.
  [[nodiscard]] Status Hold(std::uint64_t number, const Opener& open);
  void Forget(std::uint64_t number);
  // Closes all files that are neither in use nor held.
  void CloseAll() { Shrink(0); }

  [[nodiscard]] std::size_t size() const;  // without held files
  [[nodiscard]] std::size_t held() const;
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

 private:
  using Order = std::list<std::pair<std::uint64_t, File>>;  // the most recently read first
  [[nodiscard]] File Find(std::uint64_t number);
  void Shrink(std::size_t most);

  const std::size_t capacity_;
  mutable Mutex mutex_;
  std::uint64_t next_ GUARDED_BY(mutex_) = 1;
  Order order_ GUARDED_BY(mutex_);
  std::unordered_map<std::uint64_t, Order::iterator> places_ GUARDED_BY(mutex_);
  std::unordered_map<std::uint64_t, File> held_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::regionserver
