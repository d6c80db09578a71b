// A cluster without processes: RPC servers that answer from memory as masters and region servers do, and can be set to
// misbehave.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "common/model/cell.h"
#include "common/model/proto/client.pb.h"
#include "common/model/proto/master.pb.h"
#include "common/model/region_info.h"
#include "common/model/region_state.h"
#include "common/model/server_name.h"
#include "common/rpc/server.h"

namespace ratchet::client {

// Thread-safe. Tables hold one column f:q. Server 0 has hbase:meta.
class FakeCluster {
 public:
  explicit FakeCluster(int servers);
  ~FakeCluster();

  // Splits the table at the keys; region i goes to server i modulo their number.
  void AddTable(const TableName& table, const std::vector<std::string>& split_keys);
  void SetState(const TableName& table, TableState state);
  // The region moves to another server; meta knows that at once (clients do not).
  void Move(const TableName& table, const std::string& row, std::size_t server);
  // From then on no process listens at the address of this server.
  void Stop(std::size_t server) { servers_[server]->Stop(); }
  // Splits a region: the parent stays in meta, offline and split, and both daughters open on `server`.
  void Split(const TableName& table, const std::string& row, std::size_t server);

  // Called before a call runs ("Scan", "CreateTable", ...); an error is answered instead. `server`: -1 for masters.
  using Fault = std::function<std::optional<Error>(const std::string& method, int server)>;
  void SetFault(Fault fault);
  // Runs the next `count` calls of the method, then cuts the connection instead of answering.
  void LoseAnswers(const std::string& method, int count);
  // Maximum number of cells in each result of a scan; 0: rows are not cut.
  std::atomic<std::uint32_t> cells_per_result{0};
  // A scanner of replies below this size is gone after each reply that ends within a row; larger replies cut no row.
  std::atomic<std::uint64_t> loses_places_below{0};
  std::atomic<std::uint32_t> columns{1};    // f:q, f:q1, ... of every row in scans
  std::atomic<bool> announce_moves{false};  // RegionMovedException instead of NotServingRegionException

  [[nodiscard]] std::string master() const;  // "host:port"
  [[nodiscard]] std::uint16_t unused_port() const { return unused_port_; }
  [[nodiscard]] std::size_t OpenScanners();
  [[nodiscard]] std::string Value(const TableName& table, const std::string& row);
  [[nodiscard]] int Calls(const std::string& method);       // that ran
  [[nodiscard]] std::vector<std::uint64_t> CreateNonces();  // of each CreateTable that ran
  void FinishProcedure(std::optional<Error> error);

 private:
  struct Region {
    RegionInfo info;
    std::size_t server = 0;
  };
  struct OpenScanner {
    std::string region;
    std::deque<std::vector<Cell>> rows;
    std::uint64_t next_call = 1;
    std::uint64_t reply_bytes = 0;
  };
  using Row = std::map<std::string, std::string>;

  std::shared_ptr<rpc::Service> MakeClientService(int server);
  std::shared_ptr<rpc::Service> MakeMasterService();
  std::shared_ptr<rpc::Service> MakeRegistry();
  template <class Response, class Work>
  void Run(const std::string& method, int server, const rpc::Responder<Response>& responder, Work work);
  Result<hbase::pb::GetResponse> Get(int server, const hbase::pb::GetRequest& request) REQUIRES(mutex_);
  Result<hbase::pb::MutateResponse> Mutate(int server, const hbase::pb::MutateRequest& request) REQUIRES(mutex_);
  Result<hbase::pb::MultiResponse> Multi(int server, const hbase::pb::MultiRequest& request) REQUIRES(mutex_);
  Result<hbase::pb::ScanResponse> Scan(int server, const hbase::pb::ScanRequest& request) REQUIRES(mutex_);
  Result<hbase::pb::ScanResponse> Continue(std::uint64_t id, const hbase::pb::ScanRequest& request) REQUIRES(mutex_);
  Result<Region> Serving(int server, const hbase::pb::RegionSpecifier& specifier) REQUIRES(mutex_);
  Result<std::string> Apply(const TableName& table, const hbase::pb::MutationProto& mutation) REQUIRES(mutex_);
  std::vector<std::vector<Cell>> RowsOf(const Region& region) REQUIRES(mutex_);
  Region& Find(const TableName& table, const std::string& row) REQUIRES(mutex_);
  [[nodiscard]] ServerName NameOf(std::size_t server) const;

  std::uint16_t unused_port_ = 0;
  std::vector<std::unique_ptr<rpc::RpcServer>> servers_;
  std::unique_ptr<rpc::RpcServer> master_;
  Mutex mutex_;
  Fault fault_ GUARDED_BY(mutex_);
  std::map<std::string, int> lose_ GUARDED_BY(mutex_);
  std::map<std::string, int> calls_ GUARDED_BY(mutex_);
  std::vector<Region> regions_ GUARDED_BY(mutex_);
  std::map<TableName, TableState> states_ GUARDED_BY(mutex_);
  std::map<TableName, Row> data_ GUARDED_BY(mutex_);
  std::map<std::uint64_t, std::string> nonces_ GUARDED_BY(mutex_);  // of mutations, with the answers that they got
  std::map<std::uint64_t, OpenScanner> scanners_ GUARDED_BY(mutex_);
  std::uint64_t last_id_ GUARDED_BY(mutex_) = 100;
  std::vector<std::uint64_t> create_nonces_ GUARDED_BY(mutex_);
  bool finished_ GUARDED_BY(mutex_) = false;
  std::optional<Error> procedure_error_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::client
