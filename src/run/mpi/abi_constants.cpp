// Values as the mpi.h of each family defines them (interface facts): Open MPI 4.1 and 5.0, MPICH 3.1 to 5.
#include "mpi/abi_constants.hpp"

#include <dlfcn.h>

#include <string>

namespace kumihimo::mpi {
namespace {

// Looks up the objects whose addresses are Open MPI's handles, and remembers the first that is missing. By copy
// relocation a program may contain the objects itself. The library then uses the program's objects, and so must we.
class Exports {
 public:
  explicit Exports(void* image) : image_(image) {}
  Handle operator()(const char* name) {
    void* address = dlsym(RTLD_DEFAULT, name);
    if (!address) address = dlsym(image_, name); // loaded with RTLD_LOCAL, as Python does
    if (!address && missing_.empty()) missing_ = name;
    return reinterpret_cast<Handle>(address);
  }
  // Zero if this build of the library lacks it.
  Handle if_there(const char* name) const {
    void* address = dlsym(RTLD_DEFAULT, name);
    return reinterpret_cast<Handle>(address ? address : dlsym(image_, name));
  }
  const std::string& missing() const { return missing_; }

 private:
  void* image_;
  std::string missing_;
};

} // namespace

bool NamedType::may(Operation op) const {
  if (!is_applicable(type, op)) return false;
  switch (reducible) {
  case Reducible::by_bits: return is_bitwise(op);
  case Reducible::by_truth: return is_logical(op);
  case Reducible::by_sum: return op == Operation::sum;
  default: // of pairs no other operations are applicable
    return true;
  }
}

Result<Constants> open_mpi_constants(void* image) {
  Exports at(image);
  Constants c{};
  c.comm_world = at("ompi_mpi_comm_world");
  c.comm_self = at("ompi_mpi_comm_self");
  c.comm_null = at("ompi_mpi_comm_null");
  c.info_null = at("ompi_mpi_info_null");
  c.request_null = at("ompi_request_null");
  c.win_null = at("ompi_mpi_win_null");
  c.op_null = at("ompi_mpi_op_null");
  c.datatype_null = at("ompi_mpi_datatype_null");
  c.errors_return = at("ompi_mpi_errors_return");
  c.errors_are_fatal = at("ompi_mpi_errors_are_fatal");
  c.byte = at("ompi_mpi_byte");
  c.datatypes = {at("ompi_mpi_int8_t"),  at("ompi_mpi_uint8_t"),  at("ompi_mpi_int16_t"), at("ompi_mpi_uint16_t"),
                 at("ompi_mpi_int32_t"), at("ompi_mpi_uint32_t"), at("ompi_mpi_int64_t"), at("ompi_mpi_uint64_t"),
                 at("ompi_mpi_float"),   at("ompi_mpi_double"),   c.datatype_null};
  c.operations = {at("ompi_mpi_op_sum"),
                  at("ompi_mpi_op_prod"),
                  at("ompi_mpi_op_min"),
                  at("ompi_mpi_op_max"),
                  at("ompi_mpi_op_land"),
                  at("ompi_mpi_op_lor"),
                  at("ompi_mpi_op_lxor"),
                  at("ompi_mpi_op_band"),
                  at("ompi_mpi_op_bor"),
                  at("ompi_mpi_op_bxor"),
                  c.op_null,
                  at("ompi_mpi_op_minloc"),
                  at("ompi_mpi_op_maxloc")};
  c.operations_on_windows = {at.if_there("ompi_mpi_op_replace"), at.if_there("ompi_mpi_op_no_op")};
  c.named = {{at.if_there("ompi_mpi_signed_char"), DataType::int8},
             {at.if_there("ompi_mpi_unsigned_char"), DataType::uint8},
             {at.if_there("ompi_mpi_short"), DataType::int16},
             {at.if_there("ompi_mpi_unsigned_short"), DataType::uint16},
             {at.if_there("ompi_mpi_int"), DataType::int32},
             {at.if_there("ompi_mpi_unsigned"), DataType::uint32},
             {at.if_there("ompi_mpi_long"), DataType::int64},
             {at.if_there("ompi_mpi_unsigned_long"), DataType::uint64},
             {at.if_there("ompi_mpi_long_long_int"), DataType::int64},
             {at.if_there("ompi_mpi_unsigned_long_long"), DataType::uint64},
             {at.if_there("ompi_mpi_aint"), DataType::int64},
             {at.if_there("ompi_mpi_offset"), DataType::int64},
             {at.if_there("ompi_mpi_count"), DataType::int64},
             {at.if_there("ompi_mpi_integer"), DataType::int32},
             {at.if_there("ompi_mpi_integer1"), DataType::int8},
             {at.if_there("ompi_mpi_integer2"), DataType::int16},
             {at.if_there("ompi_mpi_integer4"), DataType::int32},
             {at.if_there("ompi_mpi_integer8"), DataType::int64},
             {at.if_there("ompi_mpi_real"), DataType::float32},
             {at.if_there("ompi_mpi_real4"), DataType::float32},
             {at.if_there("ompi_mpi_real8"), DataType::float64},
             {at.if_there("ompi_mpi_dblprec"), DataType::float64},
             {at.if_there("ompi_mpi_byte"), DataType::uint8, Reducible::by_bits},
             {at.if_there("ompi_mpi_c_bool"), DataType::uint8, Reducible::by_truth},
             {at.if_there("ompi_mpi_cxx_bool"), DataType::uint8, Reducible::by_truth},
             {at.if_there("ompi_mpi_logical"), DataType::int32, Reducible::by_truth},
             {at.if_there("ompi_mpi_cplex"), DataType::float32, Reducible::by_sum, 2},
             {at.if_there("ompi_mpi_complex8"), DataType::float32, Reducible::by_sum, 2},
             {at.if_there("ompi_mpi_c_float_complex"), DataType::float32, Reducible::by_sum, 2},
             {at.if_there("ompi_mpi_cxx_cplex"), DataType::float32, Reducible::by_sum, 2},
             {at.if_there("ompi_mpi_dblcplex"), DataType::float64, Reducible::by_sum, 2},
             {at.if_there("ompi_mpi_complex16"), DataType::float64, Reducible::by_sum, 2},
             {at.if_there("ompi_mpi_c_double_complex"), DataType::float64, Reducible::by_sum, 2},
             {at.if_there("ompi_mpi_cxx_dblcplex"), DataType::float64, Reducible::by_sum, 2},
             {at.if_there("ompi_mpi_short_int"), DataType::int16_int32, Reducible::by_index},
             {at.if_there("ompi_mpi_2int"), DataType::int32_int32, Reducible::by_index},
             {at.if_there("ompi_mpi_2integer"), DataType::int32_int32, Reducible::by_index},
             {at.if_there("ompi_mpi_long_int"), DataType::int64_int32, Reducible::by_index},
             {at.if_there("ompi_mpi_float_int"), DataType::float32_int32, Reducible::by_index},
             {at.if_there("ompi_mpi_double_int"), DataType::float64_int32, Reducible::by_index},
             {at.if_there("ompi_mpi_2real"), DataType::float32_float32, Reducible::by_index},
             {at.if_there("ompi_mpi_2dblprec"), DataType::float64_float64, Reducible::by_index}};
  c.in_place = reinterpret_cast<void*>(1);
  c.unweighted = reinterpret_cast<int*>(2);
  c.combiner_named = 0;
  c.error_truncate = 15;
  c.error_other = 16;
  c.status_ignore = nullptr;
  c.tag_ub = 0;
  c.comm_type_shared = 0;
  c.any_source = -1;
  c.any_tag = -1;
  c.proc_null = -2;
  c.undefined = -32766;
  c.thread_single = 0;
  c.thread_funneled = 1;
  c.thread_serialized = 2;
  c.thread_multiple = 3;
  c.status_source = 0;
  c.status_tag = 1;
  c.status_error = 2;
  if (!at.missing().empty())
    return failed("the Open MPI library does not export its predefined handles", "no symbol " + at.missing(),
                  "use Open MPI 4 or 5");
  return c;
}

Constants mpich_constants(void* image) {
  Constants c{};
  c.comm_world = 0x44000000;
  c.comm_self = 0x44000001;
  c.comm_null = 0x04000000;
  c.info_null = 0x1c000000;
  c.request_null = 0x2c000000;
  c.win_null = 0x20000000;
  c.op_null = 0x18000000;
  c.datatype_null = 0x0c000000;
  c.errors_return = 0x54000001;
  c.errors_are_fatal = 0x54000000;
  c.byte = 0x4c00010d;
  c.datatypes = {0x4c000137, 0x4c00013b, 0x4c000238, 0x4c00023c, 0x4c000439,     0x4c00043d,
                 0x4c00083a, 0x4c00083e, 0x4c00040a, 0x4c00080b, c.datatype_null};
  c.operations = {0x58000003, 0x58000004, 0x58000002, 0x58000001, 0x58000005, 0x58000007, 0x58000009,
                  0x58000006, 0x58000008, 0x5800000a, c.op_null,  0x5800000b, 0x5800000c};
  c.operations_on_windows = {0x5800000d, 0x5800000e};
  c.named = {{0x4c000118, DataType::int8},
             {0x4c000102, DataType::uint8},
             {0x4c000203, DataType::int16},
             {0x4c000204, DataType::uint16},
             {0x4c000405, DataType::int32},
             {0x4c000406, DataType::uint32},
             {0x4c000807, DataType::int64},
             {0x4c000808, DataType::uint64},
             {0x4c000809, DataType::int64},
             {0x4c000819, DataType::uint64},
             {0x4c000843, DataType::int64},
             {0x4c000844, DataType::int64},
             {0x4c000845, DataType::int64},
             {0x4c00041b, DataType::int32},
             {0x4c00012d, DataType::int8},
             {0x4c00022f, DataType::int16},
             {0x4c000430, DataType::int32},
             {0x4c000831, DataType::int64},
             {0x4c00041c, DataType::float32},
             {0x4c000427, DataType::float32},
             {0x4c000829, DataType::float64},
             {0x4c00081f, DataType::float64},
             {0x4c00010d, DataType::uint8, Reducible::by_bits},                   // MPI_BYTE
             {0x4c00013f, DataType::uint8, Reducible::by_truth},                  // MPI_C_BOOL
             {0x4c000133, DataType::uint8, Reducible::by_truth},                  // MPI_CXX_BOOL
             {0x4c00041d, DataType::int32, Reducible::by_truth},                  // MPI_LOGICAL
             {0x4c00081e, DataType::float32, Reducible::by_sum, 2},               // MPI_COMPLEX
             {0x4c000828, DataType::float32, Reducible::by_sum, 2},               // MPI_COMPLEX8
             {0x4c000840, DataType::float32, Reducible::by_sum, 2},               // MPI_C_FLOAT_COMPLEX
             {0x4c000834, DataType::float32, Reducible::by_sum, 2},               // MPI_CXX_FLOAT_COMPLEX
             {0x4c001022, DataType::float64, Reducible::by_sum, 2},               // MPI_DOUBLE_COMPLEX
             {0x4c00102a, DataType::float64, Reducible::by_sum, 2},               // MPI_COMPLEX16
             {0x4c001041, DataType::float64, Reducible::by_sum, 2},               // MPI_C_DOUBLE_COMPLEX
             {0x4c001035, DataType::float64, Reducible::by_sum, 2},               // MPI_CXX_DOUBLE_COMPLEX
             {Handle{-0x73fffffd}, DataType::int16_int32, Reducible::by_index},   // MPI_SHORT_INT
             {0x4c000816, DataType::int32_int32, Reducible::by_index},            // MPI_2INT
             {0x4c000820, DataType::int32_int32, Reducible::by_index},            // MPI_2INTEGER
             {Handle{-0x73fffffe}, DataType::int64_int32, Reducible::by_index},   // MPI_LONG_INT
             {Handle{-0x74000000}, DataType::float32_int32, Reducible::by_index}, // MPI_FLOAT_INT
             {Handle{-0x73ffffff}, DataType::float64_int32, Reducible::by_index}, // MPI_DOUBLE_INT
             {0x4c000821, DataType::float32_float32, Reducible::by_index},        // MPI_2REAL
             {0x4c001023, DataType::float64_float64, Reducible::by_index}};       // MPI_2DOUBLE_PRECISION
  c.in_place = reinterpret_cast<void*>(-1);
  if (const Handle unweighted = Exports(image).if_there("MPI_UNWEIGHTED"); unweighted != 0)
    c.unweighted = *reinterpret_cast<int* const*>(unweighted);
  c.combiner_named = 1;
  c.error_truncate = 14;
  c.error_other = 15;
  c.status_ignore = reinterpret_cast<StatusWords*>(1);
  c.tag_ub = 0x64400001;
  c.comm_type_shared = 1;
  c.any_source = -2;
  c.any_tag = -1;
  c.proc_null = -1;
  c.undefined = -32766;
  c.thread_single = 0;
  c.thread_funneled = 1;
  c.thread_serialized = 2;
  c.thread_multiple = 3;
  c.status_source = 2;
  c.status_tag = 3;
  c.status_error = 4;
  return c;
}

} // namespace kumihimo::mpi
