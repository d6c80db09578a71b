#include "regionserver/store/open_files.h"

#include <algorithm>

#include "common/base/descriptors.h"

namespace ratchet::regionserver {

OpenFiles& OpenFiles::OfProcess() {
  constexpr std::uint64_t kMost = 65'536;
  // Never freed: readers may live until the process ends.
  static auto* const files = new OpenFiles(static_cast<std::size_t>(std::min(DescriptorLimit() / 4, kMost)));
  return *files;
}

std::uint64_t OpenFiles::NewNumber() {
  MutexLock lock(mutex_);
  return next_++;
}

OpenFiles::File OpenFiles::Find(std::uint64_t number) {
  MutexLock lock(mutex_);
  if (const auto held = held_.find(number); held != held_.end()) return held->second;
  const auto found = places_.find(number);
  if (found == places_.end()) return nullptr;
  order_.splice(order_.begin(), order_, found->second);
  return found->second->second;
}

void OpenFiles::Shrink(std::size_t most) {
  Order closed;  // closed outside the lock
  MutexLock lock(mutex_);
  while (order_.size() > most) {
    places_.erase(order_.back().first);
    closed.splice(closed.begin(), order_, std::prev(order_.end()));
  }
}

Result<OpenFiles::File> OpenFiles::Get(std::uint64_t number, const Opener& open) {
  if (File there = Find(number); there != nullptr) return there;
  Result<std::unique_ptr<io::ReadableFile>> opened = open();
  if (!opened.ok() && opened.error().code() == Code::kIo && size() > 0) {
    Shrink(size() / 2);
    opened = open();
  }
  if (!opened.ok()) return std::move(opened).error();
  File file = std::move(opened).value();
  {
    MutexLock lock(mutex_);
    const auto [place, added] = places_.try_emplace(number);
    if (!added) return place->second->second;  // another thread was faster
    order_.emplace_front(number, file);
    place->second = order_.begin();
  }
  Shrink(capacity_);
  return file;
}

Status OpenFiles::Hold(std::uint64_t number, const Opener& open) {
  RATCHET_ASSIGN(File file, Get(number, open));
  MutexLock lock(mutex_);
  held_.emplace(number, std::move(file));
  return Ok();
}

void OpenFiles::Forget(std::uint64_t number) {
  Order closed;
  File held;
  MutexLock lock(mutex_);
  if (const auto place = held_.find(number); place != held_.end()) {
    held = std::move(place->second);
    held_.erase(place);
  }
  const auto found = places_.find(number);
  if (found == places_.end()) return;
  closed.splice(closed.begin(), order_, found->second);
  places_.erase(found);
}

std::size_t OpenFiles::held() const {
  MutexLock lock(mutex_);
  return held_.size();
}

std::size_t OpenFiles::size() const {
  MutexLock lock(mutex_);
  return order_.size();
}

}  // namespace ratchet::regionserver
