// A write to hbase:meta as a master sends it, with a claimed epoch: only members of the cluster may send it (S77:
// members only).
#pragma once

#include "common/model/cell.h"
#include "common/model/codec.h"
#include "common/model/meta_row.h"
#include "common/model/proto/client.pb.h"

namespace ratchet {

[[nodiscard]] inline hbase::pb::MutateRequest PutIntoMeta() {
  namespace pb = hbase::pb;
  pb::MutateRequest put;
  SpecifyRegion(MetaRegionInfo(), *put.mutable_region());
  put.mutable_mutation()->set_row("t,,1.x.");
  put.mutable_mutation()->set_mutate_type(pb::MutationProto::PUT);
  auto* column = put.mutable_mutation()->add_column_value();
  column->set_family("info");
  column->add_qualifier_value()->set_qualifier("server");
  column->mutable_qualifier_value(0)->set_value("h:1");
  auto* attribute = put.mutable_mutation()->add_attribute();
  attribute->set_name(std::string(meta::kEpochAttribute));
  attribute->set_value(EncodeInt64(1));
  return put;
}

}  // namespace ratchet
