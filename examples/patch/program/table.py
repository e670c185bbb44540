"""Prints the squares of the numbers up to the one that is given."""
import sys


def squares(n):
    return [i * i for i in range(n)]


if __name__ == "__main__":
    for square in squares(int(sys.argv[1])):
        print(square)
