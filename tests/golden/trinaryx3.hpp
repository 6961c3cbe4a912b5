// The golden copy of trinaryx3 (K computer): reductions over n (or 2n) spanning trees of an n-dimensional torus, in the
// published order, from the published formula for parents:
//
//   with d = v - root per axis modulo the length, the parent of v in tree t is v - e_t if d_t = 0, otherwise v - e_a, a
//   the last axis in the cyclic order t, t+1, ... with d_a != 0; a node combines its own value first, then its children
//   in ascending order of their height, ties by axis, then direction.
//
// Trees n .. 2n-1 are the mirror images. Everything is found by looking at all nodes; no code under test is used.
#pragma once

#include "golden/elements.hpp"

namespace golden {

class Trinary {
 public:
  // Lengths of the torus, ranks in row-major order; axes of length 1 count for nothing.
  Trinary(const std::vector<int>& lengths, int root) {
    for (const int n : lengths)
      if (n > 1) lengths_.push_back(n);
    for (const int n : lengths_) nodes_ *= n;
    root_ = coordinates(root);
  }

  int dimensions() const { return static_cast<int>(lengths_.size()); }
  int nodes() const { return nodes_; }

  // -1: the root.
  int parent(int tree, int v) const {
    const int axis = parent_axis(tree, v);
    return axis < 0 ? -1 : moved(v, axis, tree < dimensions() ? -1 : +1);
  }

  // In the order of reduction.
  std::vector<int> children(int tree, int v) const {
    struct Child {
      int height, axis, direction, node;
      auto operator<=>(const Child&) const = default;
    };
    std::vector<Child> found;
    for (int w = 0; w < nodes_; ++w)
      if (parent(tree, w) == v)
        found.push_back({height(tree, w), parent_axis(tree, w), tree < dimensions() ? 0 : 1, w});
    std::sort(found.begin(), found.end());
    std::vector<int> nodes;
    for (const Child& c : found) nodes.push_back(c.node);
    return nodes;
  }

  // Distance to the farthest leaf.
  int height(int tree, int v) const {
    int most = 0;
    for (int w = 0; w < nodes_; ++w) {
      int steps = 0;
      for (int u = w; u >= 0; u = parent(tree, u), ++steps)
        if (u == v) most = std::max(most, steps);
    }
    return most;
  }

 private:
  // The axis of the link to the parent; -1 at the root.
  int parent_axis(int tree, int v) const {
    const int n = dimensions(), first = tree % n;
    const std::vector<int> at = coordinates(v);
    const auto d = [&](int axis) {
      const int forward = tree < n ? at[static_cast<std::size_t>(axis)] - root_[static_cast<std::size_t>(axis)]
                                   : root_[static_cast<std::size_t>(axis)] - at[static_cast<std::size_t>(axis)];
      const int length = lengths_[static_cast<std::size_t>(axis)];
      return (forward + length) % length;
    };
    bool is_root = true;
    for (int axis = 0; axis < n; ++axis) is_root &= d(axis) == 0;
    if (is_root) return -1;
    if (d(first) == 0) return first;
    int last = first;
    for (int k = 0; k < n; ++k)
      if (d((first + k) % n) != 0) last = (first + k) % n;
    return last;
  }

  std::vector<int> coordinates(int v) const {
    std::vector<int> c(lengths_.size());
    for (std::size_t a = lengths_.size(); a-- > 0; v /= lengths_[a]) c[a] = v % lengths_[a];
    return c;
  }
  int moved(int v, int axis, int by) const {
    std::vector<int> c = coordinates(v);
    const auto a = static_cast<std::size_t>(axis);
    c[a] = (c[a] + by + lengths_[a]) % lengths_[a];
    int w = 0;
    for (std::size_t k = 0; k < c.size(); ++k) w = w * lengths_[k] + c[k];
    return w;
  }

  std::vector<int> lengths_, root_;
  int nodes_ = 1;
};

// How the vector is cut: in segments, each in one part a tree; part i of m over n elements begins at floor(i n / m).
struct TrinaryCut {
  int trees = 0;
  std::int64_t segments = 1;
};

// The reduction of inputs[v] over all nodes v, in a row-major torus. O(nodes^3): for small ones.
inline Buffer trinary_reduction(const std::vector<int>& lengths, int root, TrinaryCut cut, DataType type, Operation op,
                                const std::vector<Buffer>& inputs) {
  const Trinary torus(lengths, root);
  return with_type(type, [&]<class T>(T) {
    const auto count = static_cast<std::int64_t>(inputs[0].size() / sizeof(T));
    Buffer result(inputs[0].size());
    if (torus.nodes() == 1) return inputs[0];
    for (int tree = 0; tree < cut.trees; ++tree) {
      std::vector<std::vector<int>> children;
      for (int v = 0; v < torus.nodes(); ++v) children.push_back(torus.children(tree, v));
      const auto value = [&](auto& self, int v, std::int64_t i) -> T {
        T x = at<T>(inputs[static_cast<std::size_t>(v)], i);
        for (const int child : children[static_cast<std::size_t>(v)]) x = combine<T>(op, x, self(self, child, i));
        return x;
      };
      for (std::int64_t s = 0; s < cut.segments; ++s) {
        const std::int64_t m = cut.segments * cut.trees, part = s * cut.trees + tree;
        for (std::int64_t i = part * count / m; i < (part + 1) * count / m; ++i)
          set<T>(result, i, value(value, root, i));
      }
    }
    return result;
  });
}

} // namespace golden
