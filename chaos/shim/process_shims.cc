#include "chaos/shim/process_shims.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/io/file_descriptor.h"

namespace ratchet::chaos {

Result<std::unique_ptr<ProcessShims>> ProcessShims::Create(std::filesystem::path library,
                                                           std::filesystem::path folder) {
  std::error_code failed;
  if (!std::filesystem::exists(library, failed)) {
    return Error(Code::kNotFound,
                 fmt::format("library {} does not exist (builds with a sanitizer do not make it)", library.string()));
  }
  std::filesystem::create_directories(folder, failed);
  if (failed) return Error(Code::kIo, fmt::format("cannot make {}: {}", folder.string(), failed.message()));
  return std::unique_ptr<ProcessShims>(new ProcessShims(std::move(library), std::move(folder)));
}

ProcessShims::~ProcessShims() {
  for (const auto& [process, block] : blocks_) ::munmap(block, sizeof(ShimControl));
}

Result<ShimControl*> ProcessShims::Of(const std::string& process) {
  const MutexLock lock(mutex_);
  const auto known = blocks_.find(process);
  if (known != blocks_.end()) return known->second;
  const std::string path = (folder_ / process).string();
  const io::FileDescriptor fd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  void* mapped = MAP_FAILED;
  if (fd.get() >= 0 && ::ftruncate(fd.get(), sizeof(ShimControl)) == 0) {
    mapped = ::mmap(nullptr, sizeof(ShimControl), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  }
  if (mapped == MAP_FAILED) return Error(Code::kIo, fmt::format("cannot map {}: {}", path, std::strerror(errno)));
  auto* block = static_cast<ShimControl*>(mapped);
  block->magic = kShimMagic;
  blocks_[process] = block;
  return block;
}

Result<std::map<std::string, std::string>> ProcessShims::EnvironmentOf(const std::string& process) {
  RATCHET_TRY(Of(process));
  return std::map<std::string, std::string>{{"LD_PRELOAD", library_.string()},
                                            {kShimVariable, (folder_ / process).string()}};
}

std::uint64_t ProcessShims::ClockReadsChanged() const {
  const MutexLock lock(mutex_);
  std::uint64_t all = 0;
  for (const auto& [process, block] : blocks_) all += block->clock_reads_changed;
  return all;
}

void Behave(ShimControl& control) {
  control.sync_errno = 0;
  control.sync_delay_ms = 0;
  control.read_errno = 0;
  control.list_errno = 0;
  control.list_delay_ms = 0;
  control.descriptor_errno = 0;
  control.write_errno = 0;
  control.create_errno = 0;
  control.lookup_error = 0;
  control.nth_call = 0;
  control.nth_errno = 0;
  control.clock_offset_ns = 0;
  control.drift_ppm = 0;
}

}  // namespace ratchet::chaos
