#include "common/client/connection.h"

#include "common/base/prng.h"
#include "common/base/process_object.h"
#include "common/client/member_of_process.h"
#include "common/rpc/member_identity.h"
#include "common/tls/process_tls.h"

namespace ratchet::client {
namespace {

// Null unless the connection leads to the cluster of this process.
std::shared_ptr<const rpc::MemberIdentity> MemberOf(const ConnectionOptions& options) {
  const auto own = ProcessObject<const OwnCluster>::Get();
  if (own == nullptr || own->member == nullptr) return nullptr;
  const bool by_name = options.masters.size() == 1 && options.masters.front() == own->member->name().Address();
  const bool by_place =
      options.masters.empty() && options.zookeeper == own->zookeeper && options.znode_parent == own->znode_parent;
  return by_name || by_place ? own->member : nullptr;
}

rpc::ChannelPoolOptions PoolOptions(const ConnectionOptions& options) {
  rpc::ChannelPoolOptions pool;
  pool.name = "client";
  pool.user = options.user;
  pool.member = MemberOf(options);
  pool.tls = tls::ProcessTls::OfProcess();
  return pool;
}

}  // namespace

void SetMemberOfProcess(OwnCluster own) {
  ProcessObject<const OwnCluster>::Set(std::make_shared<const OwnCluster>(std::move(own)));
}

Connection::Connection(ConnectionOptions options, std::unique_ptr<MasterFinder> finder)
    : options_(std::move(options)),
      seed_(RandomSeed()),
      nonce_group_(options_.first_nonce ? options_.first_nonce->group : RandomSeed() | 1),
      pool_(PoolOptions(options_)),
      finder_(std::move(finder)),
      master_(pool_, *finder_, options_.rpc_timeout),
      locator_(pool_, master_, options_.rpc_timeout) {}

Result<std::unique_ptr<Connection>> Connection::Open(ConnectionOptions options) {
  std::unique_ptr<MasterFinder> finder;
  if (!options.masters.empty()) {
    RATCHET_ASSIGN(finder, MakeListFinder(options.masters));
  } else if (!options.zookeeper.empty()) {
    finder = MakeZooKeeperFinder(options.zookeeper, options.znode_parent, options.zookeeper_timeout);
  } else {
    return Error(Code::kInvalidArgument, "name the cluster by its ZooKeeper (host:port) or by a master (host:port)");
  }
  return std::unique_ptr<Connection>(new Connection(std::move(options), std::move(finder)));
}

Connection::~Connection() { Close(); }

void Connection::Close() {
  stop_.Stop();
  pool_.Stop();
}

std::uint64_t Connection::NewNonce() {
  const std::uint64_t number = ++nonces_;
  if (number == 1 && options_.first_nonce) return options_.first_nonce->nonce;
  // Spread, so that connections that share a group by chance do not share nonces.
  return Prng(seed_ ^ (number * 0x9e3779b97f4a7c15ULL)).Next() | 1;
}

}  // namespace ratchet::client
