// The preloaded library. Its functions must not throw, allocate, or depend on libraries that are not loaded yet.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
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

// Null until the library's constructor has run, while the process has one thread.
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

// Sleeps in short pieces, so that a stall ends when the driver cancels it.
void Stall(const std::atomic<std::int32_t>& order, std::int32_t delay_ms) {
  for (std::int32_t slept = 0; slept < delay_ms && order > 0; slept += 10) {
    const timespec piece{0, 10'000'000};
    nanosleep(&piece, nullptr);
  }
}

// The exit code of a process that dies here, as at a fault point: no destructor runs, nothing is flushed.
constexpr int kNthExitCode = 85;

// True when this is the n-th call, and it shall fail; errno is set then.
bool NthFails() {
  ShimControl* control = control_block;
  if (control == nullptr || control->nth_call <= 0 || control->nth_call.fetch_sub(1) != 1) return false;
  control->nth_acted.fetch_add(1);
  const std::int32_t error = control->nth_errno;
  if (error == 0) _exit(kNthExitCode);
  errno = error;
  return true;
}

int Sync(SyncCall real, int fd) {
  ShimControl* control = control_block;
  if (control == nullptr) return real(fd);
  if (NthFails()) return -1;
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

// Returns true when this call must fail; errno is set then.
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

bool AlwaysFails(std::atomic<std::int32_t> ShimControl::*order, std::atomic<std::uint64_t> ShimControl::*failed) {
  ShimControl* control = control_block;
  if (control == nullptr || control->*order == 0) return false;
  (control->*failed).fetch_add(1);
  errno = control->*order;
  return true;
}

bool ChangeFails() { return NthFails() || AlwaysFails(&ShimControl::write_errno, &ShimControl::writes_refused); }

bool CreationFails() {
  return ChangeFails() || AlwaysFails(&ShimControl::create_errno, &ShimControl::creations_refused);
}

bool IsRegular(int fd) {
  struct stat what {};
  return fstat(fd, &what) == 0 && S_ISREG(what.st_mode);
}

bool HasOrders() {
  ShimControl* control = control_block;
  return control != nullptr && (control->write_errno != 0 || control->nth_call > 0);
}

// Addresses as numbers need nobody's answer.
bool IsName(const char* node) {
  if (node == nullptr) return false;
  for (const char* at = node; *at != 0; ++at) {
    if ((*at >= 'g' && *at <= 'z') || (*at >= 'G' && *at <= 'Z')) return true;
  }
  return false;
}

bool ReadFails(int fd) {
  ShimControl* control = control_block;
  if (control == nullptr || (control->read_errno == 0 && control->nth_call <= 0) || !IsRegular(fd)) return false;
  if (NthFails()) return true;
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

__attribute__((visibility("default"))) int syncfs(int fd) {
  static const auto real = reinterpret_cast<SyncCall>(dlsym(RTLD_NEXT, "syncfs"));
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

// Affects files that are opened for reading; other faults affect new and written files (full-disk, few-descriptors).
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
  if ((flags & O_CREAT) != 0 ? CreationFails() : (flags & O_ACCMODE) != O_RDONLY && ChangeFails()) return -1;
  return real(directory, path, flags, mode);
}

// These calls change files and folders below an open one. The programs use no other calls for their root.
__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void* from, size_t count, off_t offset) {
  static const auto real = Real<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  return HasOrders() && IsRegular(fd) && ChangeFails() ? -1 : real(fd, from, count, offset);
}

__attribute__((visibility("default"))) ssize_t pwrite64(int fd, const void* from, size_t count, off64_t offset) {
  static const auto real = Real<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
  return HasOrders() && IsRegular(fd) && ChangeFails() ? -1 : real(fd, from, count, offset);
}

__attribute__((visibility("default"))) int ftruncate(int fd, off_t size) noexcept {
  static const auto real = Real<int (*)(int, off_t)>("ftruncate");
  return ChangeFails() ? -1 : real(fd, size);
}

// Answers the error itself.
__attribute__((visibility("default"))) int posix_fallocate(int fd, off_t from, off_t size) {
  static const auto real = Real<int (*)(int, off_t, off_t)>("posix_fallocate");
  return ChangeFails() ? errno : real(fd, from, size);
}

__attribute__((visibility("default"))) int mkdirat(int directory, const char* path, mode_t mode) noexcept {
  static const auto real = Real<int (*)(int, const char*, mode_t)>("mkdirat");
  return CreationFails() ? -1 : real(directory, path, mode);
}

__attribute__((visibility("default"))) int renameat(int from, const char* old, int to, const char* name) noexcept {
  static const auto real = Real<int (*)(int, const char*, int, const char*)>("renameat");
  return ChangeFails() ? -1 : real(from, old, to, name);
}

__attribute__((visibility("default"))) int linkat(int from, const char* old, int to, const char* name,
                                                  int flags) noexcept {
  static const auto real = Real<int (*)(int, const char*, int, const char*, int)>("linkat");
  return ChangeFails() ? -1 : real(from, old, to, name, flags);
}

__attribute__((visibility("default"))) int unlinkat(int directory, const char* path, int flags) noexcept {
  static const auto real = Real<int (*)(int, const char*, int)>("unlinkat");
  return ChangeFails() ? -1 : real(directory, path, flags);
}

__attribute__((visibility("default"))) int getaddrinfo(const char* __restrict node, const char* __restrict service,
                                                       const addrinfo* __restrict hints, addrinfo** __restrict found) {
  static const auto real = Real<int (*)(const char*, const char*, const addrinfo*, addrinfo**)>("getaddrinfo");
  ShimControl* control = control_block;
  if (control != nullptr && control->lookup_error != 0 && IsName(node)) {
    control->lookups_failed.fetch_add(1);
    return control->lookup_error;
  }
  return real(node, service, hints, found);
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

// A connection that is not accepted waits in the kernel, as it does without a free descriptor.
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
