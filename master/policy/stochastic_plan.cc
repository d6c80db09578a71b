#include "master/policy/stochastic_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/base/prng.h"

namespace ratchet::master {
namespace {

using Index = std::uint32_t;
constexpr Index kNone = std::numeric_limits<Index>::max();

// Unevenness of the parts of a sum: 0 for the most even distribution, 1 if one part has everything.
class Skew {
 public:
  Skew() = default;
  // `whole`: the parts are integers, so the most even distribution may differ by one.
  Skew(double sum, std::size_t parts, bool whole) {
    const auto n = static_cast<double>(parts);
    const double rest = whole ? std::fmod(sum, n) : 0;
    least_ = rest * (n - rest) / n;
    most_ = sum * sum * (1 - 1 / n);
  }
  // `squares`: the sum of the squares of each part's distance from the mean.
  void Add(const Skew& other) { least_ += other.least_, most_ += other.most_; }
  [[nodiscard]] double Of(double squares) const {
    const double range = std::sqrt(most_) - std::sqrt(least_);
    if (range <= 0) return 0;
    return std::clamp((std::sqrt(std::max(squares, 0.0)) - std::sqrt(least_)) / range, 0.0, 1.0);
  }

 private:
  double least_ = 0;
  double most_ = 0;
};

// Returns the change of the sum of squared distances from a fixed mean when `amount` moves from a part of size `from`
// to a part of size `to`.
double Shift(double from, double to, double amount) { return 2 * amount * (to - from + amount); }

struct Piece {
  const WeighedRegion* given = nullptr;
  Index table = 0;
  Index origin = 0;
  Index server = 0;
  Index at = kNone;  // position in the list of the server's movable regions
};

struct Side {
  double regions = 0;
  double requests = 0;
  double bytes = 0;
  std::vector<Index> movable;
};

struct Squares {
  double regions = 0;
  double tables = 0;
  double requests = 0;
  double bytes = 0;
  double moved = 0;
};

class Board {
 public:
  Board(const std::vector<ServerName>& servers, const std::vector<WeighedRegion>& regions,
        const BalanceWeights& weights)
      : weights_(weights), sides_(servers.size()) {
    std::map<ServerName, Index> numbers;
    for (const ServerName& server : servers) numbers.emplace(server, static_cast<Index>(numbers.size()));
    std::map<std::string, Index> tables;
    std::vector<double> of_table;
    for (const WeighedRegion& each : regions) {
      const auto server = numbers.find(each.region.server);
      if (server == numbers.end()) continue;
      const auto [table, fresh] = tables.emplace(each.region.table, static_cast<Index>(tables.size()));
      if (fresh) of_table.push_back(0);
      ++of_table[table->second];
      Piece piece{&each, table->second, server->second, server->second, kNone};
      Side& side = sides_[server->second];
      side.regions += 1;
      side.requests += each.requests;
      side.bytes += each.bytes;
      ++Count(piece.server, piece.table);
      if (each.region.movable) {
        piece.at = static_cast<Index>(side.movable.size());
        side.movable.push_back(static_cast<Index>(pieces_.size()));
      }
      pieces_.push_back(piece);
    }
    Measure(of_table);
  }

  [[nodiscard]] std::size_t size() const { return pieces_.size(); }
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  [[nodiscard]] const Side& side(Index server) const { return sides_[server]; }
  [[nodiscard]] std::size_t servers() const { return sides_.size(); }

  void Move(Index piece, Index to) {
    Add(piece, to, squares_);
    Place(piece, to);
  }

  // Returns the cost after the move, with `back` moved in exchange.
  [[nodiscard]] double CostOf(Index piece, Index to, Index back) {
    Squares squares = squares_;
    Add(piece, to, squares);
    if (back == kNone) return TotalOf(squares);
    const Index from = pieces_[piece].server;
    Place(piece, to);  // the second move applies to the result of the first
    Add(back, from, squares);
    Place(piece, from);
    return TotalOf(squares);
  }

  [[nodiscard]] BalanceCost Cost() const {
    BalanceCost cost{regions_.Of(squares_.regions),
                     tables_.Of(squares_.tables),
                     requests_.Of(squares_.requests),
                     bytes_.Of(squares_.bytes),
                     pieces_.empty() ? 0 : squares_.moved / static_cast<double>(pieces_.size()),
                     0};
    cost.total = TotalOf(squares_);
    return cost;
  }

 private:
  std::int32_t& Count(Index server, Index table) { return counts_[static_cast<std::uint64_t>(server) << 32U | table]; }

  void Measure(const std::vector<double>& of_table) {
    const auto n = static_cast<double>(sides_.size());
    Side all;
    for (const Side& side : sides_) {
      all.regions += side.regions, all.requests += side.requests, all.bytes += side.bytes;
      squares_.regions += side.regions * side.regions;
      squares_.requests += side.requests * side.requests;
      squares_.bytes += side.bytes * side.bytes;
    }
    squares_.regions -= all.regions * all.regions / n;
    squares_.requests -= all.requests * all.requests / n;
    squares_.bytes -= all.bytes * all.bytes / n;
    for (const auto& [key, count] : counts_) squares_.tables += static_cast<double>(count) * count;
    for (const double count : of_table) {
      squares_.tables -= count * count / n;
      tables_.Add(Skew(count, sides_.size(), true));
    }
    regions_ = Skew(all.regions, sides_.size(), true);
    requests_ = Skew(all.requests, sides_.size(), false);
    bytes_ = Skew(all.bytes, sides_.size(), false);
  }

  // Adds the change by the move to `squares`.
  void Add(Index number, Index to, Squares& squares) {
    const Piece& piece = pieces_[number];
    const Side& from = sides_[piece.server];
    const Side& there = sides_[to];
    squares.regions += Shift(from.regions, there.regions, 1);
    squares.requests += Shift(from.requests, there.requests, piece.given->requests);
    squares.bytes += Shift(from.bytes, there.bytes, piece.given->bytes);
    squares.tables += Shift(Count(piece.server, piece.table), Count(to, piece.table), 1);
    squares.moved += (to != piece.origin ? 1 : 0) - (piece.server != piece.origin ? 1 : 0);
  }

  void Place(Index number, Index to) {
    Piece& piece = pieces_[number];
    Side& from = sides_[piece.server];
    Side& there = sides_[to];
    from.regions -= 1, there.regions += 1;
    from.requests -= piece.given->requests, there.requests += piece.given->requests;
    from.bytes -= piece.given->bytes, there.bytes += piece.given->bytes;
    --Count(piece.server, piece.table);
    ++Count(to, piece.table);
    const Index last = from.movable.back();
    from.movable[piece.at] = last;
    pieces_[last].at = piece.at;
    from.movable.pop_back();
    piece.at = static_cast<Index>(there.movable.size());
    there.movable.push_back(number);
    piece.server = to;
  }

  [[nodiscard]] double TotalOf(const Squares& squares) const {
    double weights = weights_.regions + weights_.table_skew + weights_.requests + weights_.bytes + weights_.moves;
    if (weights <= 0) return regions_.Of(squares.regions);
    double cost = weights_.regions * regions_.Of(squares.regions) + weights_.table_skew * tables_.Of(squares.tables) +
                  weights_.requests * requests_.Of(squares.requests) + weights_.bytes * bytes_.Of(squares.bytes);
    if (!pieces_.empty()) cost += weights_.moves * squares.moved / static_cast<double>(pieces_.size());
    return cost / weights;
  }

  const BalanceWeights weights_;
  std::vector<Piece> pieces_;
  std::vector<Side> sides_;
  std::unordered_map<std::uint64_t, std::int32_t> counts_;  // regions by server and table
  Squares squares_;
  Skew regions_;
  Skew tables_;
  Skew requests_;
  Skew bytes_;
};

// Draws a few servers at random and returns the one with the most or the least load.
Index Draw(const Board& board, Prng& prng, bool most) {
  constexpr int kDrawn = 3;
  const int by = static_cast<int>(prng.Below(3));
  const auto carries = [&](Index server) {
    const Side& side = board.side(server);
    return by == 0 ? side.regions : by == 1 ? side.requests : side.bytes;
  };
  auto best = static_cast<Index>(prng.Below(board.servers()));
  for (int i = 1; i < kDrawn; ++i) {
    const auto other = static_cast<Index>(prng.Below(board.servers()));
    if (most ? carries(other) > carries(best) : carries(other) < carries(best)) best = other;
  }
  return best;
}

Index AnyOf(const std::vector<Index>& pieces, Prng& prng) {
  return pieces.empty() ? kNone : pieces[prng.Below(pieces.size())];
}

std::size_t Search(Board& board, const StochasticOptions& options) {
  constexpr double kLeastGain = 1e-9;  // a smaller gain may be a rounding error
  Prng prng(options.seed);
  const std::size_t steps = std::min(options.most_steps, options.steps_per_region * board.size());
  double cost = board.Cost().total;
  for (std::size_t step = 0; step < steps; ++step) {
    const Index from = Draw(board, prng, true);
    const Index to = Draw(board, prng, false);
    const Index piece = AnyOf(board.side(from).movable, prng);
    if (from == to || piece == kNone) continue;
    const Index back = prng.Chance(1, 2) ? AnyOf(board.side(to).movable, prng) : kNone;
    const double then = board.CostOf(piece, to, back);
    if (then >= cost - kLeastGain) continue;
    board.Move(piece, to);
    if (back != kNone) board.Move(back, from);
    cost = then;
  }
  return steps;
}

}  // namespace

StochasticPlan PlanStochastically(const std::vector<ServerName>& given, std::vector<WeighedRegion> regions,
                                  const StochasticOptions& options) {
  std::vector<ServerName> servers = given;
  std::sort(servers.begin(), servers.end());
  servers.erase(std::unique(servers.begin(), servers.end()), servers.end());
  StochasticPlan plan;
  if (servers.size() < 2) return plan;
  std::sort(regions.begin(), regions.end(),
            [](const auto& a, const auto& b) { return a.region.encoded < b.region.encoded; });
  Board board(servers, regions, options.weights);
  plan.before = board.Cost();

  std::vector<BalancedRegion> counted;
  counted.reserve(regions.size());
  for (const WeighedRegion& each : regions) counted.push_back(each.region);
  std::unordered_map<std::string, Index> pieces;
  for (Index i = 0; i < board.size(); ++i) pieces.emplace(board.pieces()[i].given->region.encoded, i);
  for (const BalanceMove& move : PlanBalance(servers, std::move(counted))) {
    const auto to = std::lower_bound(servers.begin(), servers.end(), move.to) - servers.begin();
    board.Move(pieces.at(move.encoded), static_cast<Index>(to));
  }
  plan.steps = Search(board, options);
  plan.after = board.Cost();

  std::vector<std::pair<double, Index>> order;  // by the excess load of the source server
  std::map<Index, double> had;
  for (const Piece& piece : board.pieces()) had[piece.origin] += 1;
  for (Index i = 0; i < board.size(); ++i) {
    const Piece& piece = board.pieces()[i];
    if (piece.server != piece.origin) order.emplace_back(had[piece.server] - had[piece.origin], i);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [surplus, number] : order) {
    const Piece& piece = board.pieces()[number];
    const BalancedRegion& region = piece.given->region;
    plan.moves.push_back({region.encoded, region.table, servers[piece.origin], servers[piece.server]});
  }
  return plan;
}

}  // namespace ratchet::master
