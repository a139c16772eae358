"""A recorded timeline as files that other programs read: Perfetto and Chrome traces, Konata logs, CSV and Parquet tables."""
