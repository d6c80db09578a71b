#include "chaos/disk/loop_disk.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "chaos/cluster/child_process.h"
#include "common/io/file_descriptor.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kPatience{30'000};
constexpr const char* kFiller = "filler";
// From the kernel's ext4.h, which is not available to user programs. The journal is not flushed first.
const unsigned long kShutdown = _IOR('X', 125, std::uint32_t);
constexpr std::uint32_t kWithoutLogFlush = 2;

Error System(const std::string& what) { return {Code::kIo, fmt::format("{}: {}", what, std::strerror(errno))}; }

Status RunTool(std::vector<std::string> arguments) {
  const std::string name = arguments.front();
  LaunchSpec spec;
  spec.arguments = std::move(arguments);
  RATCHET_ASSIGN(const auto id, Launch(spec));
  std::optional<Ended> ended;
  RATCHET_TRY(WaitUntil(name + " ends", kPatience, [&] { return (ended = CheckEnded(id)).has_value(); }));
  if (ended->code == 0) return Ok();
  return Error(Code::kUnsupported, fmt::format("{} ended with exit code {}", name, ended->code.value_or(-1)));
}

}  // namespace

Result<std::unique_ptr<LoopDisk>> LoopDisk::Create(std::filesystem::path image, std::uint64_t bytes,
                                                   std::filesystem::path mount_point) {
  if (::geteuid() != 0) return Error(Code::kUnsupported, "a separate disk needs root");
  std::error_code failed;
  std::filesystem::create_directories(mount_point, failed);
  {
    const io::FileDescriptor fd(::open(image.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (fd.get() < 0 || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
      return System("cannot make " + image.string());
    }
  }
  RATCHET_TRY(RunTool({"mkfs.ext4", "-q", "-F", "-m", "0", image.string()}));
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return Error(Code::kUnsupported, fmt::format("cannot make a mount namespace: {}", std::strerror(errno)));
  }
  std::unique_ptr<LoopDisk> disk(new LoopDisk(std::move(image), std::move(mount_point)));
  RATCHET_TRY(disk->Mount());
  std::filesystem::remove(disk->mount_point_ / "lost+found", failed);  // mkfs makes it
  return disk;
}

LoopDisk::~LoopDisk() { ::umount2(mount_point_.c_str(), MNT_DETACH); }

Status LoopDisk::Mount() { return RunTool({"mount", "-o", "loop", image_.string(), mount_point_.string()}); }

Result<std::uint64_t> LoopDisk::Left() const {
  struct statvfs space {};
  if (::statvfs(mount_point_.c_str(), &space) != 0) return System("reading the free space of " + mount_point_.string());
  return static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
}

Status LoopDisk::Fill(std::uint64_t leave) {
  const std::string path = mount_point_ / kFiller;
  const io::FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (fd.get() < 0) return System("cannot make " + path);
  // Reserve space first, which does not grow the image; fill the rest by writing.
  off_t end = 0;
  for (off_t piece = 1 << 28; piece >= 4096;) {
    if (::fallocate(fd.get(), 0, end, piece) == 0) {
      end += piece;
    } else if (errno == ENOSPC) {
      piece /= 2;
    } else {
      return System("filling " + path);
    }
  }
  if (::lseek(fd.get(), end, SEEK_SET) != end) return System("filling " + path);
  std::vector<char> block(1u << 20, 'x');
  for (;;) {
    if (::write(fd.get(), block.data(), block.size()) >= 0) continue;
    if (errno != ENOSPC) return System("filling " + path);
    if (block.size() == 1) break;
    block.resize(block.size() / 2);
  }
  return leave == 0 ? Ok() : GiveBack(leave);
}

Status LoopDisk::GiveBack(std::uint64_t bytes) {
  const std::string path = mount_point_ / kFiller;
  const io::FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  const off_t size = fd.get() < 0 ? -1 : ::lseek(fd.get(), 0, SEEK_END);
  if (size < 0 || ::ftruncate(fd.get(), std::max<off_t>(0, size - static_cast<off_t>(bytes))) != 0)
    return System("giving back of " + path);
  return ::fsync(fd.get()) == 0 ? Ok() : Status(System("sync of " + path));
}

Status LoopDisk::Free() {
  std::error_code failed;
  std::filesystem::remove(mount_point_ / kFiller, failed);
  if (failed) return Error(Code::kIo, "cannot remove the filler: " + failed.message());
  // Syncs, because otherwise the next power failure would restore the filler.
  const io::FileDescriptor fd(::open(mount_point_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0 || ::fsync(fd.get()) != 0) return System("sync of " + mount_point_.string());
  return Ok();
}

Status LoopDisk::FailPower() {
  const io::FileDescriptor fd(::open(mount_point_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0) return System("cannot open " + mount_point_.string());
  if (::ioctl(fd.get(), kShutdown, &kWithoutLogFlush) != 0) return System("ext4's shutdown");
  const int refused = ::open((mount_point_ / "probe").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (refused < 0 && errno == EIO) return Ok();
  if (refused >= 0) ::close(refused);
  return Error(Code::kInternal, "the file system still accepts files after its shutdown");
}

Status LoopDisk::TurnReadOnly() {
  RATCHET_TRY(RunTool({"mount", "-o", "remount,abort", mount_point_.string()}));
  const int refused = ::open((mount_point_ / "probe").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (refused < 0 && errno == EROFS) return Ok();
  if (refused >= 0) ::close(refused);
  return Error(Code::kInternal, "the file system still accepts files");
}

Status LoopDisk::MountAgain() {
  RATCHET_TRY(WaitUntil("no process uses the disk", kPatience, [&] { return ::umount(mount_point_.c_str()) == 0; }));
  return Mount();
}

}  // namespace ratchet::chaos
