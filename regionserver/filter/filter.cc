#include "regionserver/filter/filter.h"

namespace ratchet::regionserver::filters {
namespace {

int Compare(std::string_view row, std::string_view family, std::string_view qualifier, std::int64_t timestamp,
            const Place& place, bool reversed) {
  if (const int rows = row.compare(place.row); rows != 0) return reversed ? -rows : rows;
  if (const int families = family.compare(place.family); families != 0) return families;
  if (const int qualifiers = qualifier.compare(place.qualifier); qualifiers != 0) return qualifiers;
  return timestamp > place.timestamp ? -1 : timestamp < place.timestamp ? 1 : 0;
}

}  // namespace

int ComparePlaces(const Place& a, const Place& b, bool reversed) {
  return Compare(a.row, a.family, a.qualifier, a.timestamp, b, reversed);
}

int CompareWithPlace(const CellView& cell, const Place& place, bool reversed) {
  return Compare(cell.row, cell.family, cell.qualifier, cell.timestamp, place, reversed);
}

}  // namespace ratchet::regionserver::filters
