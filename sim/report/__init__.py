"""Views: pure functions from a `Result` (or a `Gpu`) to text, tables and figures. Nothing here simulates or prints."""
