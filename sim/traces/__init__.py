"""What was executed, and Accel-Sim's text traces in and out. See README.md beside this file."""
