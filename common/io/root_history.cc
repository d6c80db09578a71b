#include "common/io/root_history.h"

namespace ratchet::io {

Result<bool> HasHistory(Directory& root) {
  auto procedures = root.OpenDir(kProceduresFolder);
  if (!procedures.ok() && procedures.error().code() == Code::kNotFound) return false;
  if (!procedures.ok()) return std::move(procedures).error();
  RATCHET_ASSIGN(const auto names, (*procedures)->List());
  return !names.empty();
}

}  // namespace ratchet::io
