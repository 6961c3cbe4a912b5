"""The figures of the page, a file each: from material to a value that page/*.js draws."""
