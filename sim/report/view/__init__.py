"""The page of `simtlab view`: one HTML file that explains a run, or two runs beside each other."""
