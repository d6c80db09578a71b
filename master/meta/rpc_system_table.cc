#include "master/meta/rpc_system_table.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/model/cell_codec.h"
#include "common/model/codec.h"
#include "common/model/proto/filter.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/client_service.h"

namespace ratchet::master {
namespace {

constexpr std::uint32_t kRowsAtOnce = 1000;
constexpr std::uint64_t kBytesAtOnce = 4u << 20;

rpc::CallOptions QuotaCall(Millis timeout) {
  rpc::CallOptions call;
  call.timeout = timeout;
  return call;
}

// Reads all cells, region by region; each request opens and closes a scan, so that no scanner stays open on a server.
class QuotaScan : public std::enable_shared_from_this<QuotaScan> {
 public:
  using Place = RpcSystemTable::Place;
  using Done = std::function<void(Result<std::vector<SystemCell>>)>;
  QuotaScan(rpc::ChannelPool& channels, Millis timeout, std::string family, std::function<Status()> check,
            std::vector<Place> places, std::size_t most, Done done)
      : channels_(channels),
        timeout_(timeout),
        family_(std::move(family)),
        check_(std::move(check)),
        places_(std::move(places)),
        most_(most),
        done_(std::move(done)) {}

  void Next() {
    if (place_ == places_.size() || cells_.size() >= most_) return Finish();
    const Place& place = places_[place_];
    if (!place.server)
      return done_(Error(Code::kUnavailable, fmt::format("a region of {} is not open", place.region.table.ToString())));
    if (const Status owner = check_(); !owner.ok()) return done_(owner.error());
    auto channel = channels_.Get(methods::kClientService, {place.server->host, place.server->port});
    hbase::pb::ScanRequest request;
    SpecifyRegion(place.region, *request.mutable_region());
    hbase::pb::Scan& scan = *request.mutable_scan();
    if (!last_row_.empty()) scan.set_start_row(last_row_ + '\0');
    scan.add_column()->set_family(family_);
    scan.set_max_versions(1);
    scan.set_max_result_size(kBytesAtOnce);
    request.set_number_of_rows(kRowsAtOnce);
    request.set_close_scanner(true);
    request.set_client_handles_partials(false);
    request.set_client_handles_heartbeats(false);
    channel->Call(methods::kScan, request, QuotaCall(timeout_), [self = shared_from_this()](auto reply) {
      if (!reply.ok()) return self->done_(reply.error());
      const Status taken = self->Take(reply->message, reply->cells);
      if (!taken.ok()) return self->done_(taken.error());
      self->Next();
    });
  }

 private:
  Status Take(const hbase::pb::ScanResponse& response, const std::string& bytes) {
    CellBlockReader block(bytes);
    bool any = false;
    const auto keep = [&](std::vector<Cell> row) {
      for (Cell& cell : row) {
        any = true;
        last_row_ = cell.row;
        cells_.push_back({std::move(cell.row), std::move(cell.qualifier), std::move(cell.value)});
      }
    };
    for (const std::uint32_t count : response.cells_per_result()) {
      RATCHET_ASSIGN(std::vector<Cell> row, block.Take(count));
      keep(std::move(row));
    }
    if (response.cells_per_result_size() == 0) {
      for (const auto& result : response.results()) {
        RATCHET_ASSIGN(std::vector<Cell> row, ReadResult(result, block));
        keep(std::move(row));
      }
    }
    const bool more = response.has_more_results_in_region() ? response.more_results_in_region() : any;
    if (more && any) return Ok();
    ++place_;
    last_row_.clear();
    return Ok();
  }

  // S33 (check before state replies): the result is used only while this master is the owner.
  void Finish() {
    if (const Status owner = check_(); !owner.ok()) return done_(owner.error());
    if (cells_.size() > most_) cells_.resize(most_);
    done_(std::move(cells_));
  }

  rpc::ChannelPool& channels_;
  const Millis timeout_;
  const std::string family_;
  const std::function<Status()> check_;
  const std::vector<Place> places_;
  const std::size_t most_;
  const Done done_;
  std::size_t place_ = 0;
  std::string last_row_;
  std::vector<SystemCell> cells_;
};

}  // namespace

hbase::pb::MutateRequest EncodeSwap(const SystemCell& cell, const SystemTable::Value& before,
                                    const SystemTable::Value& after, const std::string& family) {
  hbase::pb::MutateRequest request;
  hbase::pb::MutationProto& mutation = *request.mutable_mutation();
  mutation.set_row(cell.row);
  mutation.set_durability(hbase::pb::MutationProto::SYNC_WAL);
  mutation.set_mutate_type(after ? hbase::pb::MutationProto::PUT : hbase::pb::MutationProto::DELETE);
  auto* column = mutation.add_column_value();
  column->set_family(family);
  auto* value = column->add_qualifier_value();
  value->set_qualifier(cell.qualifier);
  if (after) value->set_value(*after);
  if (!after) value->set_delete_type(hbase::pb::MutationProto::DELETE_MULTIPLE_VERSIONS);
  hbase::pb::Condition& condition = *request.mutable_condition();
  condition.set_row(cell.row);
  condition.set_family(family);
  condition.set_qualifier(cell.qualifier);
  condition.set_compare_type(hbase::pb::EQUAL);
  hbase::pb::BinaryComparator comparator;  // an empty value means that the cell must not exist
  comparator.mutable_comparable()->set_value(before.value_or(""));
  condition.mutable_comparator()->set_name("org.apache.hadoop.hbase.filter.BinaryComparator");
  condition.mutable_comparator()->set_serialized_comparator(comparator.SerializeAsString());
  return request;
}

void RpcSystemTable::Begin(std::function<Status()> check, std::function<std::vector<Place>()> places) {
  MutexLock lock(mutex_);
  setup_ = std::make_shared<const Setup>(Setup{std::move(check), std::move(places)});
}

std::shared_ptr<const RpcSystemTable::Setup> RpcSystemTable::setup() const {
  MutexLock lock(mutex_);
  RATCHET_CHECK(setup_ != nullptr, "a system table is used before this master is the owner");
  return setup_;
}

Result<std::shared_ptr<rpc::Channel>> RpcSystemTable::ChannelTo(const Setup& setup, std::string_view row,
                                                                hbase::pb::RegionSpecifier& region) const {
  RATCHET_TRY(setup.check());
  for (const Place& place : setup.places()) {
    if (!place.region.Contains(row) || !place.server) continue;
    SpecifyRegion(place.region, region);
    return channels_.Get(methods::kClientService, {place.server->host, place.server->port});
  }
  return Error(Code::kUnavailable, "the region of the row is not open");
}

void RpcSystemTable::Read(const SystemCell& cell, std::function<void(Result<Value>)> done) {
  hbase::pb::GetRequest request;
  const auto channel = ChannelTo(*setup(), cell.row, *request.mutable_region());
  if (!channel.ok()) return done(channel.error());
  request.mutable_get()->set_row(cell.row);
  auto* column = request.mutable_get()->add_column();
  column->set_family(family_);
  column->add_qualifier(cell.qualifier);
  (*channel)->Call(methods::kGet, request, QuotaCall(timeout_), [done = std::move(done)](auto reply) {
    if (!reply.ok()) return done(reply.error());
    CellBlockReader block(reply->cells);
    const auto cells = ReadResult(reply->message.result(), block);
    if (!cells.ok()) return done(cells.error());
    done(cells->empty() ? Value() : Value(cells->front().value));
  });
}

void RpcSystemTable::Swap(const SystemCell& cell, Value before, Value after, std::function<void(Result<bool>)> done) {
  hbase::pb::MutateRequest request = EncodeSwap(cell, before, after, family_);
  const auto channel = ChannelTo(*setup(), cell.row, *request.mutable_region());
  if (!channel.ok()) return done(channel.error());
  (*channel)->Call(methods::kMutate, request, QuotaCall(timeout_), [done = std::move(done)](auto reply) {
    if (!reply.ok()) return done(reply.error());
    done(reply->message.processed());
  });
}

void RpcSystemTable::ReadAll(std::size_t most, std::function<void(Result<std::vector<SystemCell>>)> done) {
  const auto use = setup();
  std::make_shared<QuotaScan>(channels_, timeout_, family_, use->check, use->places(), most, std::move(done))->Next();
}

}  // namespace ratchet::master
