#include "procedure/store/quarantine.h"

namespace ratchet::procedure {

Result<std::string> QuarantineCopy(io::Directory& from, const std::string& name, io::Directory& quarantine) {
  RATCHET_ASSIGN(const std::string bytes, from.ReadAll(name));
  std::string copy = name;
  for (int i = 1;; ++i) {
    RATCHET_ASSIGN(const bool taken, quarantine.Exists(copy));
    if (!taken) break;
    RATCHET_ASSIGN(const std::string earlier, quarantine.ReadAll(copy));
    if (earlier == bytes) return quarantine.path() + "/" + copy;  // of an earlier start
    copy = fmt::format("{}.{}", name, i);
  }
  RATCHET_TRY(io::WriteFileAtomically(quarantine, copy, bytes));
  return quarantine.path() + "/" + copy;
}

}  // namespace ratchet::procedure
