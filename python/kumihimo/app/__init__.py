"""Applications: what there is, their launches, the choice of a variant by measurement, and the page of a run."""
