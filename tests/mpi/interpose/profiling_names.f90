! Non-blocking sums of a Fortran program that completes them by the profiling names, as tools that are linked with it do.
program profiling_names
  implicit none
  include 'mpif.h'
  external :: pmpi_wait, pmpi_waitall, pmpi_test, pmpi_allreduce
  integer, parameter :: turns = 20
  integer :: rank, ranks, code, turn, request(1), statuses(MPI_STATUS_SIZE, 1), failures
  logical :: done
  double precision :: sent, found
  call mpi_init(code)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, code)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, code)
  failures = 0
  do turn = 1, turns
    sent = rank + turn
    found = -1
    call mpi_iallreduce(sent, found, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request(1), code)
    select case (mod(turn, 3))
    case (0)
      call pmpi_wait(request(1), MPI_STATUS_IGNORE, code)
    case (1)
      call pmpi_waitall(1, request, statuses, code)
    case default
      done = .false.
      do while (.not. done)
        call pmpi_test(request(1), done, MPI_STATUS_IGNORE, code)
      end do
    end select
    if (found /= ranks * (ranks - 1) / 2 + dble(ranks) * turn) failures = failures + 1
    found = -1
    if (rank == mod(turn, ranks)) then
      call pmpi_allreduce(sent, found, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, code)
    else
      call mpi_allreduce(sent, found, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, code)
    end if
    if (found /= ranks * (ranks - 1) / 2 + dble(ranks) * turn) failures = failures + 1
  end do
  call mpi_finalize(code)
  if (failures > 0) stop 1
end program profiling_names
