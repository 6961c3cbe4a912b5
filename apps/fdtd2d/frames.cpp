#include "fdtd2d/frames.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <span>

namespace kumihimo::fdtd2d {
namespace {

constexpr std::int64_t longest_side = 96; // of a picture

std::string base64(const std::vector<std::uint8_t>& bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t b = 0; b < 3; ++b) group = group << 8 | (b < left ? bytes[i + b] : 0U);
    for (std::size_t d = 0; d < 4; ++d) text += d <= left ? digits[group >> (18 - 6 * d) & 63U] : '=';
  }
  return text;
}

} // namespace

Frames::Frames(const Pair& points) : points_(points) {
  const std::int64_t longest = std::max(points[0], points[1]);
  for (std::size_t a = 0; a < 2; ++a)
    size_[a] = longest <= longest_side ? points[a] : std::max<std::int64_t>(1, points[a] * longest_side / longest);
}

template <class T>
void Frames::add(const Fields<T>& f, std::int64_t step, application::Runtime& runtime) {
  const FieldShape& s = f.shape();
  std::vector<double> mine(static_cast<std::size_t>(size_[0] * size_[1]));
  for (std::int64_t v = 0; v < size_[1]; ++v)
    for (std::int64_t u = 0; u < size_[0]; ++u) {
      const std::int64_t x = u * points_[0] / size_[0] - s.first[0], y = v * points_[1] / size_[1] - s.first[1];
      if (x >= 0 && x < s.cells[0] && y >= 0 && y < s.cells[1])
        mine[static_cast<std::size_t>(v * size_[0] + u)] = static_cast<double>(f.ez[f.at(x, y)]);
    }
  const std::vector<double> all = runtime.processes().total(mine);
  samples_.insert(samples_.end(), all.begin(), all.end());
  steps_.push_back(step);
}

nlohmann::json Frames::json() const {
  double largest = 0;
  for (const double each : samples_) largest = std::max(largest, std::abs(each));
  nlohmann::json frames = nlohmann::json::array();
  const auto length = static_cast<std::size_t>(size_[0] * size_[1]);
  for (std::size_t frame = 0; frame < steps_.size(); ++frame) {
    std::vector<std::uint8_t> bytes;
    for (const double each : std::span(samples_).subspan(frame * length, length))
      bytes.push_back(static_cast<std::uint8_t>(
          std::lround(largest > 0 ? std::copysign(127 * std::sqrt(std::abs(each) / largest), each) : 0)));
    frames.push_back(base64(bytes));
  }
  return {{"width", size_[0]}, {"height", size_[1]}, {"points", points_},
          {"steps", steps_},   {"largest", largest}, {"frames", std::move(frames)}};
}

template void Frames::add(const Fields<float>&, std::int64_t, application::Runtime&);
template void Frames::add(const Fields<double>&, std::int64_t, application::Runtime&);

} // namespace kumihimo::fdtd2d
