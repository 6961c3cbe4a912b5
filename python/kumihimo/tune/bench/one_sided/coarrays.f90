! Coarrays for `kumihimo bench pgas`: the user's compiler makes a shared library of this module, whose procedures
! src/run/one_sided/backends/coarrays.cpp calls. Images count from 0 there. An assignment to a coarray is what is measured.
module kumihimo_coarrays
  use, intrinsic :: iso_c_binding, only: c_int8_t, c_int32_t, c_int64_t, c_ptr, c_loc, c_f_pointer
  use, intrinsic :: iso_fortran_env, only: atomic_int_kind
  implicit none
  private
  integer(c_int8_t), allocatable :: memory(:)[:]
  integer(atomic_int_kind), allocatable :: counter(:)[:]
contains

  integer(c_int32_t) function kumihimo_image() bind(c)
    kumihimo_image = int(this_image() - 1, c_int32_t)
  end function

  integer(c_int32_t) function kumihimo_images() bind(c)
    kumihimo_images = int(num_images(), c_int32_t)
  end function

  subroutine kumihimo_allocate(bytes, memory_at, counter_at) bind(c)
    integer(c_int64_t), value :: bytes
    type(c_ptr), intent(out) :: memory_at, counter_at
    allocate (memory(bytes)[*])
    allocate (counter(1)[*])
    counter(1) = 0
    memory_at = place_of_bytes(memory)
    counter_at = place_of_counter(counter)
    sync all
  end subroutine

  function place_of_bytes(array) result(place)
    integer(c_int8_t), target, intent(in) :: array(*)
    type(c_ptr) :: place
    place = c_loc(array)
  end function

  function place_of_counter(array) result(place)
    integer(atomic_int_kind), target, intent(in) :: array(*)
    type(c_ptr) :: place
    place = c_loc(array)
  end function

  subroutine kumihimo_release() bind(c)
    sync all
    deallocate (memory)
    deallocate (counter)
  end subroutine

  subroutine kumihimo_put(image, offset, bytes, from) bind(c)
    integer(c_int32_t), value :: image
    integer(c_int64_t), value :: offset, bytes
    integer(c_int8_t), intent(in) :: from(bytes)
    memory(offset + 1:offset + bytes)[image + 1] = from
  end subroutine

  subroutine kumihimo_get(image, offset, bytes, to) bind(c)
    integer(c_int32_t), value :: image
    integer(c_int64_t), value :: offset, bytes
    integer(c_int8_t), intent(out) :: to(bytes)
    to = memory(offset + 1:offset + bytes)[image + 1]
  end subroutine

  subroutine kumihimo_sync_memory() bind(c)
    sync memory
  end subroutine

  subroutine kumihimo_sync_all() bind(c)
    sync all
  end subroutine

  subroutine kumihimo_fetch_add(image, value, old) bind(c)
    integer(c_int32_t), value :: image, value
    integer(c_int32_t), intent(out) :: old
    integer(atomic_int_kind) :: before
    call atomic_fetch_add(counter(1)[image + 1], int(value, atomic_int_kind), before)
    old = int(before, c_int32_t)
  end subroutine

  subroutine kumihimo_compare_and_swap(image, expected, value, old) bind(c)
    integer(c_int32_t), value :: image, expected, value
    integer(c_int32_t), intent(out) :: old
    integer(atomic_int_kind) :: before
    call atomic_cas(counter(1)[image + 1], before, int(expected, atomic_int_kind), int(value, atomic_int_kind))
    old = int(before, c_int32_t)
  end subroutine

  subroutine kumihimo_broadcast(bytes, image, data) bind(c)
    integer(c_int64_t), value :: bytes
    integer(c_int32_t), value :: image
    integer(c_int8_t), intent(inout) :: data(bytes)
    call co_broadcast(data, source_image=image + 1)
  end subroutine

  subroutine kumihimo_sum(count, place) bind(c)
    integer(c_int64_t), value :: count
    type(c_ptr), value :: place
    integer(c_int32_t), pointer :: data(:)
    call c_f_pointer(place, data, [count])
    call co_sum(data)
  end subroutine

end module
