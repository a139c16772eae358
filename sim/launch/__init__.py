"""What a user gives: a launch, its arrays and numbers, the file that describes it. See README.md beside this file."""
