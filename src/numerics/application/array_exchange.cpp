#include "application/array_exchange.hpp"

#include <utility>

namespace kumihimo::application {

Result<std::unique_ptr<ArrayExchange>> LibraryArrays::make(const mpi::Library& library, mpi::Handle communicator,
                                                           const std::vector<ArrayBox>& to,
                                                           const std::vector<ArrayBox>& from) {
  std::unique_ptr<LibraryArrays> made(new LibraryArrays(library, communicator));
  made->all_to_all_ = reinterpret_cast<AllToAll>(mpi::loaded_symbol("PMPI_Alltoallw"));
  if (!made->all_to_all_) return failed("the MPI library has no MPI_Alltoallw", {}, "use another variant");
  for (const ArrayBox& box : to)
    if (Status s = made->add(box, made->sent_); !s) return s.error();
  for (const ArrayBox& box : from)
    if (Status s = made->add(box, made->received_); !s) return s.error();
  made->displacements_.assign(to.size(), 0);
  return std::unique_ptr<ArrayExchange>(std::move(made));
}

LibraryArrays::~LibraryArrays() {
  for (Side* const side : {&sent_, &received_})
    for (mpi::Handle& type : side->made) library_.call.Type_free(&type);
}

// Axis by axis from the last one, then moved to where the box begins: MPI_Type_create_subarray in parts, whose
// constants differ between MPI libraries.
Status LibraryArrays::add(const ArrayBox& box, Side& side) const {
  side.counts.push_back(box.is_empty() ? 0 : 1);
  if (box.is_empty()) return side.types.add(library_.constants.byte), Nothing{};
  const mpi::Functions& call = library_.call;
  const auto each = static_cast<std::int64_t>(sizeof(double));
  mpi::Handle type = 0;
  Status status =
      library_.check(call.Type_contiguous(static_cast<int>(box.length[3]), library_.datatype(DataType::float64), &type),
                     "MPI_Type_contiguous");
  std::int64_t stride = each, place = box.begin[3];
  for (int axis = 2; status && axis >= 0; --axis) {
    const auto a = static_cast<std::size_t>(axis);
    stride *= box.array[a + 1];
    place += box.begin[a] * (stride / each);
    mpi::Handle inner = std::exchange(type, 0);
    status = library_.check(
        call.Type_create_hvector(static_cast<int>(box.length[a]), 1, static_cast<mpi::Address>(stride), inner, &type),
        "MPI_Type_create_hvector");
    call.Type_free(&inner);
  }
  if (!status) return status;
  const int one = 1;
  const mpi::Address bytes = place * each;
  mpi::Handle unmoved = std::exchange(type, 0);
  status = library_.check(call.Type_create_hindexed(1, &one, &bytes, unmoved, &type), "MPI_Type_create_hindexed");
  call.Type_free(&unmoved);
  if (status) status = library_.check(call.Type_commit(&type), "MPI_Type_commit");
  if (!status) return status;
  side.made.push_back(type);
  side.types.add(type);
  return Nothing{};
}

Status LibraryArrays::run(const double* from, double* to) {
  return library_.check(all_to_all_(from, sent_.counts.data(), displacements_.data(), sent_.types.data(), to,
                                    received_.counts.data(), displacements_.data(), received_.types.data(),
                                    communicator_),
                        "MPI_Alltoallw");
}

} // namespace kumihimo::application
