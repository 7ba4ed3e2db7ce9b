"""One rule, one file, one page. Rules are independent of each other."""
