#include "common/rpc/channel_pool.h"

#include <future>
#include <map>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "common/rpc/client_channel.h"
#include "common/rpc/protobuf_log.h"

namespace ratchet::rpc {

Result<std::string> Channel::CallRawSync(std::string_view method, const google::protobuf::MessageLite& request,
                                         std::shared_ptr<google::protobuf::MessageLite> response, CallOptions options) {
  // Shared, because the callback may still be returning when this thread continues.
  const auto answer = std::make_shared<std::promise<Result<std::string>>>();
  auto future = answer->get_future();
  CallRaw(method, request, std::move(response), std::move(options),
          [answer](Result<std::string> cells) { answer->set_value(std::move(cells)); });
  return future.get();
}

struct ChannelPool::Impl {
  explicit Impl(ChannelPoolOptions pool_options)
      : options(std::move(pool_options)), io(std::make_shared<IoThreads>(options.name, options.io_threads)) {}

  const ChannelPoolOptions options;
  const std::shared_ptr<IoThreads> io;
  Mutex mutex;
  std::map<std::pair<std::string, Endpoint>, std::shared_ptr<ClientChannel>> channels GUARDED_BY(mutex);
  bool stopped GUARDED_BY(mutex) = false;
};

ChannelPool::ChannelPool(ChannelPoolOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {
  QuietProtobuf();
}

ChannelPool::~ChannelPool() { Stop(); }

std::shared_ptr<Channel> ChannelPool::Get(std::string_view service, const Endpoint& endpoint) {
  MutexLock lock(impl_->mutex);
  auto& channel = impl_->channels[{std::string(service), endpoint}];
  if (channel == nullptr) {
    channel = std::make_shared<ClientChannel>(impl_->io, impl_->options, std::string(service), endpoint);
    if (impl_->stopped) channel->Stop();
  }
  return channel;
}

void ChannelPool::Forget(const Endpoint& endpoint) {
  MutexLock lock(impl_->mutex);
  if (impl_->stopped) return;
  for (const auto& [key, channel] : impl_->channels) {
    if (key.second == endpoint) channel->Disconnect();
  }
}

void ChannelPool::Stop() {
  std::vector<std::shared_ptr<ClientChannel>> channels;
  {
    MutexLock lock(impl_->mutex);
    if (std::exchange(impl_->stopped, true)) return;
    for (const auto& [key, channel] : impl_->channels) channels.push_back(channel);
  }
  for (const auto& channel : channels) channel->Stop();
  impl_->io->Flush();
  impl_->io->Stop();
}

}  // namespace ratchet::rpc
