# Writes what it reads in capitals.
tr a-z A-Z
