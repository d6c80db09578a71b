#include "tests/support/sim_state.h"

#include <algorithm>

namespace ratchet::io::sim {
namespace {

constexpr std::uint64_t kSector = 512;

}  // namespace

void Inode::Write(std::uint64_t offset, std::string_view data) {
  if (data.empty()) return;
  if (bytes.size() < offset + data.size()) bytes.resize(offset + data.size(), '\0');
  bytes.replace(offset, data.size(), data);
  dirty.emplace_back(offset, data.size());
}

void Inode::Cut(std::uint64_t size) {
  if (size >= bytes.size()) return;
  bytes.resize(size);
  std::erase_if(dirty, [size](const auto& written) { return written.first >= size; });
  for (auto& [offset, length] : dirty) length = std::min(length, size - offset);
}

void Inode::Sync() {
  durable.resize(bytes.size(), '\0');
  for (const auto& [offset, length] : dirty) durable.replace(offset, length, bytes, offset, length);
  dirty.clear();
}

void Inode::LosePower(SimLoss loss, Prng& prng) {
  if (loss == SimLoss::kNothing) Sync();
  if (loss == SimLoss::kRandom) {
    for (const auto& [offset, length] : dirty) {
      for (std::uint64_t at = offset; at < offset + length;) {
        const std::uint64_t end = std::min(offset + length, (at / kSector + 1) * kSector);
        if (prng.Chance(1, 2)) {
          if (durable.size() < end) durable.resize(end, '\0');
          durable.replace(at, end - at, bytes, at, end - at);
        }
        at = end;
      }
    }
  }
  bytes = durable;
  dirty.clear();
}

namespace {

void ApplyTo(std::map<std::string, Node>& names, const Folder::Change& change) {
  for (const auto& [name, node] : change) {
    if (node.there()) {
      names[name] = node;
    } else {
      names.erase(name);
    }
  }
}

}  // namespace

void Folder::Apply(Change change) {
  ApplyTo(names, change);
  unsynced.push_back(std::move(change));
}

void Folder::Sync() {
  durable = names;
  unsynced.clear();
}

void Folder::LosePower(SimLoss loss, Prng& prng) {
  if (loss == SimLoss::kNothing) Sync();
  if (loss == SimLoss::kRandom) {
    for (const Change& change : unsynced) {
      if (prng.Chance(1, 2)) ApplyTo(durable, change);
    }
  }
  names = durable;
  unsynced.clear();
}

std::uint64_t State::Used() const {
  std::uint64_t used = 0;
  for (const auto& weak : inodes) {
    if (const auto inode = weak.lock()) used += inode->bytes.size();
  }
  return used;
}

Status State::Reserve(std::uint64_t more) const {
  if (capacity == UINT64_MAX || more == 0 || Used() + more <= capacity) return Ok();
  return Error(Code::kNoSpace, fmt::format("disk double: no space for {} more bytes", more));
}

Result<std::shared_ptr<Folder>> State::FindFolder(const std::string& path) const {
  std::shared_ptr<Folder> folder = root;
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::size_t slash = rest.find('/');
    const std::string part(rest.substr(0, slash));
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
    if (part.empty()) continue;
    const auto found = folder->names.find(part);
    if (found == folder->names.end() || found->second.folder == nullptr)
      return Error(Code::kNotFound, "no directory " + path);
    folder = found->second.folder;
  }
  return folder;
}

Result<std::shared_ptr<Inode>> State::FindFile(const std::string& path) const {
  const std::size_t slash = path.rfind('/');
  RATCHET_ASSIGN(const auto folder, FindFolder(slash == std::string::npos ? "" : path.substr(0, slash)));
  const auto found = folder->names.find(path.substr(slash == std::string::npos ? 0 : slash + 1));
  if (found == folder->names.end() || found->second.file == nullptr) return Error(Code::kNotFound, "no file " + path);
  return found->second.file;
}

Result<bool> Process::Before(SimEvent event, std::optional<std::uint64_t>* tear, bool* die_after) {
  SimHook ask;
  {
    MutexLock lock(mutex);
    if (dead) return Error(Code::kIo, "disk double: process " + name + " is dead");
    if (Changes(event.op)) event.number = ++operations;
    if (tracing && Changes(event.op)) trace.push_back(event);
    ask = hook;
  }
  const SimVerdict verdict = ask ? ask(event) : SimVerdict::Proceed();
  {
    MutexLock lock(mutex);  // a test may have killed this process while the hook blocked
    if (dead) return Error(Code::kIo, "disk double: process " + name + " is dead");
  }
  switch (verdict.kind) {
    case SimVerdict::Kind::kProceed: return true;
    case SimVerdict::Kind::kFail: return Error(verdict.code, "disk double: injected failure of " + event.ToString());
    case SimVerdict::Kind::kSkip: return false;
    case SimVerdict::Kind::kTear:
      if (tear != nullptr) *tear = verdict.keep_bytes;
      [[fallthrough]];
    case SimVerdict::Kind::kCrashAfter: *die_after = true; return true;
    case SimVerdict::Kind::kCrashBefore: break;
  }
  Die();
  return Error(Code::kIo, "disk double: process " + name + " died before " + event.ToString());
}

void Process::Die() {
  MutexLock lock(mutex);
  dead = true;
}

}  // namespace ratchet::io::sim
