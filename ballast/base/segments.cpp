#include "ballast/base/segments.h"

#include <algorithm>

namespace ballast {

Segments Segments::packed(std::span<const int64_t> lengths, std::span<const int64_t> first_places) {
  Segments made;
  for (const int64_t length : lengths) made.add(made.tokens_, length);
  if (std::ranges::all_of(first_places, [](int64_t place) { return place == 0; })) return made;
  made.first_places_.assign(first_places.begin(), first_places.end());
  for (std::size_t i = 0; i < first_places.size(); ++i) {
    made.places_ = std::max(made.places_, first_places[i] + lengths[i]);
  }
  return made;
}

Segments Segments::strided(int64_t count, int64_t stride, int64_t length) {
  Segments made;
  for (int64_t i = 0; i < count; ++i) made.add(i * stride, length);
  return made;
}

bool Segments::is_packed() const {
  int64_t expected = 0;
  for (int64_t i = 0; i < count(); ++i) {
    if (begins_[i] != expected) return false;
    expected += lengths_[i];
  }
  return true;
}

void Segments::add(int64_t begin, int64_t length) {
  begins_.push_back(begin);
  lengths_.push_back(length);
  tokens_ += length;
  longest_ = std::max(longest_, length);
  places_ = std::max(places_, length);
}

}  // namespace ballast
