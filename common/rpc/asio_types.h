// The parts of Asio that common/rpc uses, in one place. Internal: included by .cc files and internal headers of this
// folder only, because it is expensive to compile.
#pragma once

#include <asio/buffer.hpp>
#include <asio/connect.hpp>
#include <asio/dispatch.hpp>
#include <asio/error.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>

namespace ratchet::rpc {
using ErrorCode = asio::error_code;
using Tcp = asio::ip::tcp;
}  // namespace ratchet::rpc
