"""L1 on and off for global loads, as -dlcm=ca and -dlcm=cg do: what lines of 128 bytes fetch beside what is asked for."""
