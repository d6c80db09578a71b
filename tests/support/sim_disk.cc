#include "tests/support/sim_disk.h"

#include <algorithm>
#include <utility>

#include "tests/support/sim_state.h"

namespace ratchet::io {

SimDisk::SimDisk() : state_(std::make_shared<sim::State>()) {}
SimDisk::~SimDisk() = default;

std::unique_ptr<SimDisk::Process> SimDisk::NewProcess(std::string name) {
  auto impl = std::make_shared<sim::Process>(state_, std::move(name));
  MutexLock lock(state_->mutex);
  state_->processes.push_back(impl);
  return std::make_unique<Process>(std::move(impl));
}

void SimDisk::PowerFailure(Loss loss, std::uint64_t seed) {
  Prng prng(seed);
  MutexLock lock(state_->mutex);
  for (const auto& weak : state_->processes) {
    if (const auto process = weak.lock()) process->Die();
  }
  state_->processes.clear();
  for (const auto& weak : state_->folders) {
    if (const auto folder = weak.lock()) folder->LosePower(loss, prng);
  }
  for (const auto& weak : state_->inodes) {
    if (const auto inode = weak.lock()) inode->LosePower(loss, prng);
  }
}

void SimDisk::SetCapacity(std::uint64_t bytes) {
  MutexLock lock(state_->mutex);
  state_->capacity = bytes;
}

std::uint64_t SimDisk::used_bytes() const {
  MutexLock lock(state_->mutex);
  return state_->Used();
}

Status SimDisk::Overwrite(const std::string& path, std::uint64_t offset, std::string_view bytes) {
  MutexLock lock(state_->mutex);
  RATCHET_ASSIGN(const auto inode, state_->FindFile(path));
  inode->Write(offset, bytes);
  inode->Sync();
  return Ok();
}

Status SimDisk::Truncate(const std::string& path, std::uint64_t size) {
  MutexLock lock(state_->mutex);
  RATCHET_ASSIGN(const auto inode, state_->FindFile(path));
  inode->Sync();
  inode->bytes.resize(std::min<std::uint64_t>(size, inode->bytes.size()));
  inode->durable = inode->bytes;
  return Ok();
}

Result<std::string> SimDisk::Content(const std::string& path) const {
  MutexLock lock(state_->mutex);
  RATCHET_ASSIGN(const auto inode, state_->FindFile(path));
  return inode->bytes;
}

SimDisk::Process::Process(std::shared_ptr<sim::Process> impl) : impl_(std::move(impl)) {}
SimDisk::Process::~Process() = default;

Result<std::unique_ptr<Directory>> SimDisk::Process::Open(const std::string& path) {
  bool die_after = false;
  SimEvent event;
  event.op = SimOp::kOpen;
  event.path = path;
  RATCHET_TRY(impl_->Before(std::move(event), nullptr, &die_after));
  MutexLock lock(impl_->state->mutex);
  RATCHET_ASSIGN(auto folder, impl_->state->FindFolder(path));
  return sim::MakeDirectoryHandle(impl_, std::move(folder), path);
}

Result<std::unique_ptr<Directory>> SimDisk::Process::OpenOrMake(const std::string& path) {
  RATCHET_ASSIGN(auto directory, Open("/"));
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::size_t slash = rest.find('/');
    const std::string part(rest.substr(0, slash));
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
    if (part.empty()) continue;
    const Status made = directory->MakeDir(part);
    if (made.ok()) {
      RATCHET_TRY(directory->Sync());
    } else if (made.error().code() != Code::kAlreadyExists) {
      return made.error();
    }
    RATCHET_ASSIGN(directory, directory->OpenDir(part));
  }
  return directory;
}

void SimDisk::Process::SetHook(SimHook hook) {
  MutexLock lock(impl_->mutex);
  impl_->hook = std::move(hook);
}

void SimDisk::Process::Trace(bool on) {
  MutexLock lock(impl_->mutex);
  impl_->tracing = on;
}

std::vector<SimEvent> SimDisk::Process::trace() const {
  MutexLock lock(impl_->mutex);
  return impl_->trace;
}

std::uint64_t SimDisk::Process::operations() const {
  MutexLock lock(impl_->mutex);
  return impl_->operations;
}

void SimDisk::Process::Crash() { impl_->Die(); }

bool SimDisk::Process::crashed() const {
  MutexLock lock(impl_->mutex);
  return impl_->dead;
}

}  // namespace ratchet::io
