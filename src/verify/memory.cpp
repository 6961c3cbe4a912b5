#include "verify/memory.hpp"

#include <algorithm>

namespace kumihimo::verify {

void SymbolicMemory::alias(std::int64_t shift) {
  aliased_ = true;
  input_shift_ = std::max<std::int64_t>(shift, 0);
  output_shift_ = std::max<std::int64_t>(-shift, 0);
}

SymbolicMemory::Key SymbolicMemory::address(std::int32_t buffer, std::int64_t first) const {
  if (!aliased_ || buffer > 1) return {buffer, first};
  return {1, first + (buffer == 0 ? input_shift_ : output_shift_)};
}

void SymbolicMemory::put(std::int32_t buffer, std::int64_t first, ValueId value, ValueStore& store) {
  const std::int64_t count = store.count(value);
  if (count == 0) return;
  Sequence one{value};
  std::size_t at = 0;
  write(buffer, {first, count}, one, at, store);
}

void SymbolicMemory::cut(Key at, ValueStore& store) {
  auto it = pieces_.upper_bound(at);
  if (it == pieces_.begin()) return;
  --it;
  Piece& piece = it->second;
  if (it->first.buffer != at.buffer || it->first.first == at.first || it->first.first + piece.count <= at.first) return;
  const std::int64_t left = at.first - it->first.first, right = piece.count - left;
  Piece second = piece;
  second.count = right;
  piece.count = left;
  if (piece.value != nothing) {
    second.value = store.part(piece.value, left, right);
    piece.value = store.part(piece.value, 0, left);
  }
  pieces_.emplace_hint(std::next(it), at, std::move(second));
}

void SymbolicMemory::cover(Key first, std::int64_t count, ValueStore& store) {
  const Key end{first.buffer, first.first + count};
  cut(first, store);
  cut(end, store);
  std::int64_t at = first.first;
  auto it = pieces_.lower_bound(first);
  while (at < end.first) {
    const bool here = it != pieces_.end() && it->first.buffer == first.buffer && it->first.first < end.first;
    const std::int64_t next = here ? it->first.first : end.first;
    if (at < next) {
      Piece gap;
      gap.count = next - at;
      pieces_.emplace_hint(it, Key{first.buffer, at}, std::move(gap));
    }
    if (!here) return;
    at = it->first.first + it->second.count;
    ++it;
  }
}

std::optional<SymbolicMemory::Conflict> SymbolicMemory::use(std::int32_t buffer, ElementRun run, bool writes,
                                                            const User& user, const Ordered& ordered,
                                                            ValueStore& store) {
  const Key first = address(buffer, run.first);
  cover(first, run.count, store);
  std::optional<Conflict> conflict;
  const auto against = [&](const User& other, bool wrote, std::int64_t element) {
    if (conflict || other == user || ordered(other, user)) return;
    conflict = Conflict{other, wrote, element - first.first + run.first};
  };
  for (auto it = pieces_.lower_bound(first);
       it != pieces_.end() && it->first.buffer == first.buffer && it->first.first < first.first + run.count; ++it) {
    Piece& piece = it->second;
    if (piece.writer.lane >= 0) against(piece.writer, true, it->first.first);
    if (writes) {
      for (const User& reader : piece.readers) against(reader, false, it->first.first);
      piece.readers.clear();
      piece.writer = user;
      continue;
    }
    // A reader that is over when this one starts stands behind it: who comes after this one comes after both.
    std::erase_if(piece.readers, [&](const User& reader) { return reader == user || ordered(reader, user); });
    piece.readers.push_back(user);
  }
  return conflict;
}

std::optional<SymbolicMemory::Conflict> SymbolicMemory::overwritten_input(ElementRun run) const {
  if (!aliased_) return std::nullopt;
  const Key first = address(0, run.first);
  auto it = pieces_.upper_bound(first);
  if (it != pieces_.begin()) --it;
  for (; it != pieces_.end() && it->first < Key{first.buffer, first.first + run.count}; ++it) {
    if (it->first.buffer != first.buffer || it->first.first + it->second.count <= first.first) continue;
    if (it->second.writer.lane >= 0)
      return Conflict{it->second.writer, true, std::max(it->first.first, first.first) - first.first + run.first};
  }
  return std::nullopt;
}

std::optional<User> SymbolicMemory::writer(std::int32_t buffer, std::int64_t element) const {
  const Key at = address(buffer, element);
  auto it = pieces_.upper_bound(at);
  if (it == pieces_.begin()) return std::nullopt;
  --it;
  const bool inside = it->first.buffer == at.buffer && at.first < it->first.first + it->second.count;
  if (!inside || it->second.writer.lane < 0) return std::nullopt;
  return it->second.writer;
}

std::optional<std::int64_t> SymbolicMemory::read(std::int32_t buffer, ElementRun run, Sequence& out,
                                                 ValueStore& store) const {
  const Key first = address(buffer, run.first);
  const std::int64_t end = first.first + run.count;
  auto it = pieces_.upper_bound(first);
  if (it != pieces_.begin()) --it;
  std::int64_t at = first.first;
  for (; it != pieces_.end() && at < end; ++it) {
    if (it->first.buffer != first.buffer || it->first.first + it->second.count <= at) {
      if (it->first < Key{first.buffer, at}) continue;
      break;
    }
    if (it->first.first > at || it->second.value == nothing) break;
    const std::int64_t skip = at - it->first.first, take = std::min(it->second.count - skip, end - at);
    out.push_back(store.part(it->second.value, skip, take));
    at += take;
  }
  if (at < end) return at - first.first + run.first;
  return std::nullopt;
}

void SymbolicMemory::write(std::int32_t buffer, ElementRun run, Sequence& in, std::size_t& at, ValueStore& store) {
  Key here = address(buffer, run.first);
  cover(here, run.count, store);
  const std::int64_t end = here.first + run.count;
  while (here.first < end) {
    // Cut the value, or the piece, whichever is longer.
    auto it = pieces_.find(here);
    const std::int64_t have = store.count(in[at]);
    if (have > it->second.count) {
      in.insert(in.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                store.part(in[at], it->second.count, have - it->second.count));
      in[at] = store.part(in[at], 0, it->second.count);
    } else if (have < it->second.count) {
      cut({here.buffer, here.first + have}, store);
    }
    it->second.value = in[at++];
    here.first += it->second.count;
  }
}

void align(Sequence& a, Sequence& b, ValueStore& store) {
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    Sequence& longer = store.count(a[i]) > store.count(b[i]) ? a : b;
    const std::int64_t n = std::min(store.count(a[i]), store.count(b[i])), all = store.count(longer[i]);
    if (n == all) continue;
    longer.insert(longer.begin() + static_cast<std::ptrdiff_t>(i) + 1, store.part(longer[i], n, all - n));
    longer[i] = store.part(longer[i], 0, n);
  }
}

} // namespace kumihimo::verify
