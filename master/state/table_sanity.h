// What a table's descriptor may ask for, beyond being one (TableDescriptor::Check). Pure.
//
// Two kinds of refusals, all with HBase's DoNotRetryIOException:
//  - what HBase's sanity checks refuse (sizes, times, versions, classes that cannot be loaded), unless they are
//  switched off by the
//    master's --table-sanity-checks or by `hbase.table.sanity.checks` = false in the descriptor: then they are logged;
//  - always: what has an effect in HBase that is not offered here, so that nothing is taken silently that protects or
//  changes data.
#pragma once

#include "common/base/result.h"
#include "common/model/table_descriptor.h"

namespace ratchet::master {

[[nodiscard]] Status CheckTableSettings(const TableDescriptor& table, bool sanity_checks);

}  // namespace ratchet::master
