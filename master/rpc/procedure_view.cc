#include "master/rpc/procedure_view.h"

#include <cstdint>

#include "common/rpc/exceptions.h"

namespace ratchet::master {

void FillHbaseProcedure(const procedure::ProcedureInfo& info, hbase::pb::Procedure& out) {
  out.set_class_name(info.type);
  out.set_proc_id(info.pid.value());
  if (info.parent.valid()) out.set_parent_id(info.parent.value());
  out.set_submitted_time(static_cast<std::uint64_t>(info.submitted_ms));
  out.set_last_update(static_cast<std::uint64_t>(info.updated_ms));
  if (!info.owner.empty()) out.set_owner(info.owner);
  out.set_state(static_cast<hbase::pb::ProcedureState>(info.state));
  out.set_nonce_group(info.nonce_group);
  out.set_nonce(info.nonce);
  out.set_locked(!info.locks.empty());
  if (info.error.has_value()) rpc::FillForeign(*info.error, info.type, *out.mutable_exception());
}

}  // namespace ratchet::master
