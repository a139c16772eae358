"""What binds a run, and why its warps waited. See README.md beside this file."""
