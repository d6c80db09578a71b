#include "common/tools/storage_check/kinds.h"

#include <sys/vfs.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "common/io/posix_readable_file.h"

namespace ratchet::io {
namespace {

struct Kind {
  std::uint32_t magic;
  const char* name;
  bool by_machines;
  bool refused;
};

constexpr std::array kKinds{
    Kind{0xef53, "ext2/3/4", false, false},         Kind{0x58465342, "xfs", false, false},
    Kind{0x01021994, "tmpfs", false, false},        Kind{0x9123683e, "btrfs", false, false},
    Kind{0x794c7630, "overlayfs", false, false},    Kind{0x65735546, "fuse (ceph-fuse or another)", true, false},
    Kind{0x00c36400, "ceph (kernel)", true, false}, Kind{0x6969, "nfs", true, true},
};

}  // namespace

void FillKind(const std::string& path, StorageFindings& findings) {
  struct statfs info {};
  findings.names_cached = CachesNames(path);
  if (::statfs(path.c_str(), &info) != 0) {
    findings.kind = "unknown";
    return;
  }
  const auto magic = static_cast<std::uint32_t>(info.f_type);
  const auto* const kind =
      std::find_if(kKinds.begin(), kKinds.end(), [magic](const Kind& each) { return each.magic == magic; });
  findings.kind = kind == kKinds.end() ? fmt::format("of kind {:#x}", magic) : kind->name;
  findings.by_machines = kind != kKinds.end() && kind->by_machines;
  findings.refused_kind = kind != kKinds.end() && kind->refused;
}

}  // namespace ratchet::io
