// Which refusals of a master are final: the rule of the nonces and the flag on the wire must agree.
#include <vector>

#include <gtest/gtest.h>

#include "common/rpc/exceptions.h"
#include "master/cluster/errors.h"
#include "master/requests/submit_asked.h"

namespace ratchet::master {
namespace {

TEST(RefusalsTest, ARefusalIsFinalWhereClientsDoNotRetry) {
  const TableName table("default", "t");
  std::vector<Error> all = {TableExists(table),      TableNotFound(table),     TableNotEnabled(table),
                            TableNotDisabled(table), UnknownRegion("r"),       RegionInTransition("r", "pid=1"),
                            CleanerIsAsked(),        CatalogStays("why"),      IllegalRequest("why"),
                            InvalidFamily("why"),    NoSuchFamily(table, "f"), MetaStays("why"),
                            Constraint("why"),       NamespaceNotFound("n"),   NamespaceExistsAlready("n"),
                            PeerNotFound("p"),       QuotaExceeded("why"),     YouAreDead(ServerName{"h", 1, 2}, "why"),
                            PleaseHold("why")};
  for (int code = 1; code <= 15; ++code) all.emplace_back(static_cast<Code>(code), "why");
  for (const Error& error : all)
    EXPECT_EQ(IsFinalForClients(error), rpc::IsDoNotRetry(rpc::ClassOf(error))) << error.ToString();
}

}  // namespace
}  // namespace ratchet::master
