"""Applications: what there is, their launches, the choice of a variant by measurement, the page of a run, and
predictions of iterations on described machines."""
