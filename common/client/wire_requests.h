// Turns operations into messages of HBase's ClientService. Pure.
#pragma once

#include <cstdint>

#include "common/client/operations.h"

namespace hbase::pb {
class Condition;
class Get;
class MutationProto;
class Scan;
}  // namespace hbase::pb

namespace ratchet::client {

void ToProto(const Get& get, hbase::pb::Get& out);
// `nonce` 0: none.
void ToProto(const Mutation& mutation, std::uint64_t nonce, hbase::pb::MutationProto& out);
void ToProto(const std::string& row, const Condition& condition, hbase::pb::Condition& out);
void ToProto(const Scan& scan, hbase::pb::Scan& out);

}  // namespace ratchet::client
