! A communicator of a session, by the names of mpi_f08, beside MPI_Init: ten sums on it and ten on MPI_COMM_WORLD. Stops
! with 1 if one is wrong.
program sessions
  use mpi_f08
  implicit none
  type(MPI_Session) :: session
  type(MPI_Group) :: group
  type(MPI_Comm) :: comm
  integer :: i, ranks, sums(2)
  logical :: right
  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session)
  call MPI_Group_from_session_pset(session, "mpi://WORLD", group)
  call MPI_Comm_create_from_group(group, "sums", MPI_INFO_NULL, MPI_ERRORS_RETURN, comm)
  call MPI_Init()
  call MPI_Comm_size(comm, ranks)
  right = .true.
  do i = 1, 10
    call MPI_Allreduce(i, sums(1), 1, MPI_INTEGER, MPI_SUM, comm)
    call MPI_Allreduce(i, sums(2), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    right = right .and. all(sums == ranks * i)
  end do
  call MPI_Group_free(group)
  call MPI_Comm_free(comm)
  call MPI_Finalize()
  call MPI_Session_finalize(session)
  if (.not. right) stop 1
end program sessions
