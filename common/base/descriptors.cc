#include "common/base/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace ratchet {
namespace {

constexpr std::uint64_t kFewForAServer = 4'096;

Error TooFew(std::uint64_t limit, std::string_view what) {
  return {Code::kResourceExhausted, fmt::format("no descriptor is left for {}: {} of {} are reserved for logs, orders "
                                                "and manifests. Raise the limit (ulimit -n, "
                                                "LimitNOFILE), or add servers",
                                                what, ReservedDescriptors(limit), limit)};
}

}  // namespace

DescriptorLimits RaiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  DescriptorLimits limits{limit.rlim_cur, limit.rlim_cur, limit.rlim_max};
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) limits.now = limits.hard;
  return limits;
}

std::string DescribeDescriptors(const DescriptorLimits& limits) {
  return fmt::format("may have {} files and connections open (the limit was {}){}", limits.now, limits.before,
                     limits.now < kFewForAServer
                         ? fmt::format("; few for a server, which should have {} (ulimit -Hn)", kFewForAServer)
                         : "");
}

std::uint64_t DescriptorLimit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

DescriptorUse DescriptorsInUse() {
  const std::uint64_t limit = DescriptorLimit();
  const int probe = ::open("/", O_PATH | O_CLOEXEC);
  if (probe < 0) return {limit, limit};
  ::close(probe);
  return {static_cast<std::uint64_t>(probe), limit};
}

std::optional<std::string> DescriptorProblem(const DescriptorUse& use) {
  const std::uint64_t kept = ReservedDescriptors(use.limit);
  if (use.limit == 0 || use.used <= (use.limit - kept) / 5 * 4) return std::nullopt;
  return fmt::format(
      "{} of {} descriptors are in use, and the last {} are reserved: when no other is free, connections are closed "
      "and no region is opened. Raise the limit (ulimit -n, LimitNOFILE), or add servers",
      use.used, use.limit, kept);
}

Status CheckDescriptor(int newest, std::string_view what) {
  const std::uint64_t limit = DescriptorLimit();
  if (newest >= 0 && static_cast<std::uint64_t>(newest) + ReservedDescriptors(limit) < limit) return Ok();
  return TooFew(limit, what);
}

Status CheckNextDescriptor(std::string_view what) {
  const int probe = ::open("/", O_PATH | O_CLOEXEC);
  if (probe < 0) return TooFew(DescriptorLimit(), what);
  ::close(probe);
  return CheckDescriptor(probe, what);
}

}  // namespace ratchet
