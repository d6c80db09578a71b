// The store files that are open at this moment, of all regions of the process: a bounded number, the least recently
// read closed first. A store file of an open region needs no descriptor of its own.
//
// Thread-safe. A file stays open for its readers, also when it has left the table meanwhile.
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
  // A quarter of the descriptors that the process may have when this is called first, at most 65,536.
  [[nodiscard]] static OpenFiles& OfProcess();

  // A number for one file, never given twice.
  [[nodiscard]] std::uint64_t NewNumber();
  // The open file of this number, opened when it is not in the table. Where no descriptor is left the older half of the
  // table is closed first.
  [[nodiscard]] Result<File> Get(std::uint64_t number, const Opener& open);
  // Opens it, and keeps it open until it is forgotten, besides the table: its name is about to go.
  [[nodiscard]] Status Hold(std::uint64_t number, const Opener& open);
  void Forget(std::uint64_t number);
  // Closes what nothing reads at this moment and what is not held.
  void CloseAll() { Shrink(0); }

  [[nodiscard]] std::size_t size() const;  // without what is held
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
