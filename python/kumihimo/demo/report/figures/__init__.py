"""The figures of the page, a file each: from material to a part of the page."""
