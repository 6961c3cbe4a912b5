"""What all result pages share: the look, charts and maps in JavaScript, and the one file that a page is."""
