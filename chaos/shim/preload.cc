// The preloaded library. It must not throw, allocate on the way, or depend on anything that is not loaded yet.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "chaos/shim/control.h"

namespace {

using ratchet::chaos::ShimControl;

constexpr std::int64_t kNanos = 1'000'000'000;

ShimControl* MapControl() {
  const char* path = std::getenv(ratchet::chaos::kShimVariable);
  if (path == nullptr) return nullptr;
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return nullptr;
  void* mapped = mmap(nullptr, sizeof(ShimControl), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (mapped == MAP_FAILED) return nullptr;
  auto* control = static_cast<ShimControl*>(mapped);
  return control->magic == ratchet::chaos::kShimMagic ? control : nullptr;
}

// Null until the library's constructor has run; the process has one thread then.
std::atomic<ShimControl*> control_block{nullptr};
using SyncCall = int (*)(int);
using ClockCall = int (*)(clockid_t, timespec*);
std::atomic<ClockCall> real_clock{nullptr};

__attribute__((constructor)) void Load() {
  real_clock = reinterpret_cast<ClockCall>(dlsym(RTLD_NEXT, "clock_gettime"));
  control_block = MapControl();
}

int RealClock(clockid_t clock, timespec* now) {
  const ClockCall call = real_clock;
  return call != nullptr ? call(clock, now) : static_cast<int>(syscall(SYS_clock_gettime, clock, now));
}

std::int64_t Nanos(const timespec& time) { return time.tv_sec * kNanos + time.tv_nsec; }

// In short pieces: a stall ends when the driver says so.
void Stall(const std::atomic<std::int32_t>& order, std::int32_t delay_ms) {
  for (std::int32_t slept = 0; slept < delay_ms && order > 0; slept += 10) {
    const timespec piece{0, 10'000'000};
    nanosleep(&piece, nullptr);
  }
}

int Sync(SyncCall real, int fd) {
  ShimControl* control = control_block;
  if (control == nullptr) return real(fd);
  control->syncs.fetch_add(1);
  if (const std::int32_t delay = control->sync_delay_ms; delay > 0) {
    control->syncs_delayed.fetch_add(1);
    Stall(control->sync_delay_ms, delay);
  }
  if (const std::int32_t error = control->sync_errno; error != 0) {
    control->syncs_failed.fetch_add(1);
    errno = error;
    return -1;
  }
  return real(fd);
}

// True when this call is one that shall fail; errno is set then.
bool Fails(std::atomic<std::int32_t> ShimControl::*order, std::atomic<std::uint64_t> ShimControl::*failed) {
  ShimControl* control = control_block;
  if (control == nullptr) return false;
  const std::int32_t error = control->*order;
  if (error == 0) return false;
  const std::int32_t one_in = control->one_in;
  if (one_in > 1 && control->calls.fetch_add(1) % static_cast<std::uint64_t>(one_in) != 0) return false;
  (control->*failed).fetch_add(1);
  errno = error;
  return true;
}

bool ReadFails(int fd) {
  ShimControl* control = control_block;
  if (control == nullptr || control->read_errno == 0) return false;
  struct stat what {};
  if (fstat(fd, &what) != 0 || !S_ISREG(what.st_mode)) return false;
  return Fails(&ShimControl::read_errno, &ShimControl::reads_failed);
}

bool NoDescriptor() { return Fails(&ShimControl::descriptor_errno, &ShimControl::descriptors_refused); }

bool ListFails() {
  if (ShimControl* control = control_block; control != nullptr) Stall(control->list_delay_ms, control->list_delay_ms);
  return Fails(&ShimControl::list_errno, &ShimControl::lists_failed);
}

template <class Call>
Call Real(const char* name) {
  return reinterpret_cast<Call>(dlsym(RTLD_NEXT, name));
}

void ChangeWallClock(timespec* now) {
  ShimControl* control = control_block;
  if (control == nullptr) return;
  const std::int64_t offset = control->clock_offset_ns;
  const std::int64_t drift = control->drift_ppm;
  if (offset == 0 && drift == 0) return;
  std::int64_t wall = Nanos(*now) + offset;
  if (drift != 0) {
    timespec monotonic{};
    RealClock(CLOCK_MONOTONIC, &monotonic);
    wall += (Nanos(monotonic) - control->drift_since_ns) / 1'000'000 * drift;
  }
  now->tv_sec = wall / kNanos;
  now->tv_nsec = wall % kNanos;
  control->clock_reads_changed.fetch_add(1);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int fdatasync(int fd) {
  static const auto real = reinterpret_cast<SyncCall>(dlsym(RTLD_NEXT, "fdatasync"));
  return Sync(real, fd);
}

__attribute__((visibility("default"))) int fsync(int fd) {
  static const auto real = reinterpret_cast<SyncCall>(dlsym(RTLD_NEXT, "fsync"));
  return Sync(real, fd);
}

__attribute__((visibility("default"))) ssize_t pread(int fd, void* to, size_t count, off_t offset) {
  static const auto real = Real<ssize_t (*)(int, void*, size_t, off_t)>("pread");
  return ReadFails(fd) ? -1 : real(fd, to, count, offset);
}

__attribute__((visibility("default"))) ssize_t pread64(int fd, void* to, size_t count, off64_t offset) {
  static const auto real = Real<ssize_t (*)(int, void*, size_t, off64_t)>("pread64");
  return ReadFails(fd) ? -1 : real(fd, to, count, offset);
}

// Files that are opened to be read; what is made or written is another fault's matter (full-disk, few-descriptors).
__attribute__((visibility("default"))) int openat(int directory, const char* path, int flags, ...) {
  static const auto real = Real<int (*)(int, const char*, int, ...)>("openat");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  const bool reads = (flags & (O_ACCMODE | O_CREAT)) == O_RDONLY;
  if (reads && (flags & O_DIRECTORY) != 0 && ListFails()) return -1;
  if (reads && (flags & O_DIRECTORY) == 0 && Fails(&ShimControl::read_errno, &ShimControl::reads_failed)) return -1;
  if (NoDescriptor()) return -1;
  return real(directory, path, flags, mode);
}

__attribute__((visibility("default"))) int open(const char* path, int flags, ...) {
  static const auto real = Real<int (*)(const char*, int, ...)>("open");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return NoDescriptor() ? -1 : real(path, flags, mode);
}

__attribute__((visibility("default"))) int open64(const char* path, int flags, ...) {
  static const auto real = Real<int (*)(const char*, int, ...)>("open64");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return NoDescriptor() ? -1 : real(path, flags, mode);
}

__attribute__((visibility("default"))) FILE* fopen(const char* path, const char* mode) {
  static const auto real = Real<FILE* (*)(const char*, const char*)>("fopen");
  return NoDescriptor() ? nullptr : real(path, mode);
}

__attribute__((visibility("default"))) int socket(int domain, int type, int protocol) noexcept {
  static const auto real = Real<int (*)(int, int, int)>("socket");
  return NoDescriptor() ? -1 : real(domain, type, protocol);
}

__attribute__((visibility("default"))) int socketpair(int domain, int type, int protocol, int ends[2]) noexcept {
  static const auto real = Real<int (*)(int, int, int, int*)>("socketpair");
  return NoDescriptor() ? -1 : real(domain, type, protocol, ends);
}

// A connection that is not taken waits in the kernel, as it does when there is no descriptor for it.
__attribute__((visibility("default"))) int accept(int listening, sockaddr* from, socklen_t* size) {
  static const auto real = Real<int (*)(int, sockaddr*, socklen_t*)>("accept");
  return NoDescriptor() ? -1 : real(listening, from, size);
}

__attribute__((visibility("default"))) int accept4(int listening, sockaddr* from, socklen_t* size, int flags) {
  static const auto real = Real<int (*)(int, sockaddr*, socklen_t*, int)>("accept4");
  return NoDescriptor() ? -1 : real(listening, from, size, flags);
}

__attribute__((visibility("default"))) int epoll_create1(int flags) noexcept {
  static const auto real = Real<int (*)(int)>("epoll_create1");
  return NoDescriptor() ? -1 : real(flags);
}

__attribute__((visibility("default"))) int eventfd(unsigned int value, int flags) noexcept {
  static const auto real = Real<int (*)(unsigned int, int)>("eventfd");
  return NoDescriptor() ? -1 : real(value, flags);
}

__attribute__((visibility("default"))) int timerfd_create(clockid_t clock, int flags) noexcept {
  static const auto real = Real<int (*)(clockid_t, int)>("timerfd_create");
  return NoDescriptor() ? -1 : real(clock, flags);
}

__attribute__((visibility("default"))) int pipe(int ends[2]) noexcept {
  static const auto real = Real<int (*)(int*)>("pipe");
  return NoDescriptor() ? -1 : real(ends);
}

__attribute__((visibility("default"))) int faccessat(int directory, const char* path, int mode, int flags) noexcept {
  static const auto real = Real<int (*)(int, const char*, int, int)>("faccessat");
  return ListFails() ? -1 : real(directory, path, mode, flags);
}

__attribute__((visibility("default"))) dirent* readdir(DIR* stream) {
  static const auto real = Real<dirent* (*)(DIR*)>("readdir");
  return ListFails() ? nullptr : real(stream);
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const int result = RealClock(clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) ChangeWallClock(now);
  return result;
}

__attribute__((visibility("default"))) int gettimeofday(timeval* __restrict now, void* __restrict) noexcept {
  timespec precise{};
  const int result = clock_gettime(CLOCK_REALTIME, &precise);
  *now = {precise.tv_sec, precise.tv_nsec / 1'000};
  return result;
}

__attribute__((visibility("default"))) time_t time(time_t* out) noexcept {
  timespec precise{};
  clock_gettime(CLOCK_REALTIME, &precise);
  if (out != nullptr) *out = precise.tv_sec;
  return precise.tv_sec;
}

}  // extern "C"
