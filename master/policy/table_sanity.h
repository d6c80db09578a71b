// Checks the settings of a valid descriptor (TableDescriptor::Check). Pure.
//
// Two kinds of errors, all with HBase's DoNotRetryIOException:
//  - Errors of HBase's sanity checks (sizes, times, versions, classes that cannot be loaded). They are only logged if
//    the master's --table-sanity-checks is off, or the descriptor sets `hbase.table.sanity.checks` = false.
//  - Settings with an effect in HBase that is not implemented here. They are always refused, so that no setting that
//    protects or changes data is silently ignored.
#pragma once

#include "common/base/result.h"
#include "common/model/table_descriptor.h"

namespace ratchet::master {

[[nodiscard]] Status CheckTableSettings(const TableDescriptor& table, bool sanity_checks);

}  // namespace ratchet::master
