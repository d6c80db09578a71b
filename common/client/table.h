// The rows of one table.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/client/connection.h"
#include "common/client/operations.h"
#include "common/client/scanner.h"

namespace ratchet::client {

// Cheap to make; thread-safe. Every call blocks until it is answered or its deadline passes (kTimeout; the error states
// whether the operation may have been executed). Errors of the server keep their exception class.
class Table {
 public:
  Table(Connection& connection, TableName name)
      : Table(connection, std::move(name), connection.options().operation_timeout) {}
  // `timeout`: for one operation, all its retries included.
  Table(Connection& connection, TableName name, Millis timeout)
      : connection_(connection), name_(std::move(name)), timeout_(timeout) {}

  [[nodiscard]] const TableName& name() const { return name_; }
  // An empty row when there is none.
  [[nodiscard]] Result<Row> Get(const client::Get& get);
  // Append and increment return the new values; put and delete an empty row.
  [[nodiscard]] Result<Row> Mutate(const Mutation& mutation);
  // True when the condition held and the mutation was applied. After a lost answer a retry may find its own effect;
  // because of the nonce the server repeats its first answer. `repeated`: an earlier attempt may have been executed; an
  // answer "the condition did not hold" is then that of the last attempt only.
  [[nodiscard]] Result<bool> CheckAndMutate(const Condition& condition, const Mutation& mutation,
                                            bool* repeated = nullptr);
  // Independent mutations, sent grouped by server and retried one by one. The result has one status for each, in the
  // order given: the mutation's own last error, and kTimeout with rpc::kCallTimeout only if its own outcome is unknown.
  [[nodiscard]] std::vector<Status> MutateMany(const std::vector<Mutation>& mutations);
  [[nodiscard]] Scanner Scan(client::Scan scan) { return Scanner(connection_, name_, std::move(scan), timeout_); }

 private:
  struct Attempt;
  // Locates `row` and calls `method` there until it is answered.
  template <class Request, class Response>
  [[nodiscard]] Result<rpc::Reply<Response>> CallRegion(RetryLoop& loop, const std::string& row,
                                                        const rpc::Method<Request, Response>& method, Request& request,
                                                        const std::function<void(const RegionLocation&)>& address);
  [[nodiscard]] Result<Row> MutateIf(const Condition* condition, const Mutation& mutation, bool* processed);

  Connection& connection_;
  TableName name_;
  Millis timeout_;
};

}  // namespace ratchet::client
